import Metrics
import OutboundHTTP
import ServiceSupport
import Synchronization
import NotificationModel

/// What `/metrics` shows about enrichment.
struct EnrichmentMetrics: Sendable {
    private let registry: PrometheusRegistry
    private let duration: Timer
    /// Created at the first occurrence: reason codes come from several parts, and their number is bounded.
    private let counters: Counters

    private final class Counters: Sendable {
        /// More reasons are counted as `other`.
        static let bound = 200
        let all = Mutex<[String: Counter]>([:])
    }

    private let collection: MetricsCollection

    /// - Parameters:
    ///   - registry: receives counters and gauges.
    ///   - fetcher: its connections are shown.
    ///   - store: its size is shown.
    ///   - transfers: their number is shown.
    init(_ registry: PrometheusRegistry, fetcher: MediaFetcher, store: MediaStore, transfers: MediaTransfers) {
        self.registry = registry
        collection = registry.collect { [weak fetcher] page in
            Self.describe(store, in: &page)
            if let fetcher { Self.describe(fetcher.statistics, in: &page) }
            page.gauge("media.transfers", help: "Media being sent to clients.", value: Double(transfers.count))
        }
        registry.describe("enrichments", "Enrichments, by the content that is delivered.")
        registry.describe("enrichment.duration", "Time of an enrichment.")
        registry.describe("enrichment.attachments", "Attachments, by outcome: attached, or why they are missing.")
        registry.describe("enrichment.enrichers", "Runs of enrichers, by enricher and outcome.")
        duration = Timer(label: "enrichment.duration", factory: registry)
        counters = Counters()
        for content in ["enriched", "best-attempt", "original", "withheld"] {
            counter("enrichments", [("content", content)]).increment(by: 0)
        }
        counter("enrichment.attachments", [("outcome", "attached")]).increment(by: 0)
    }

    private static func describe(_ store: MediaStore, in page: inout MetricsPage) {
        let usage = store.usage
        page.gauge("media.store.files", help: "Media in the store.", value: Double(usage.files))
        page.gauge("media.store.bytes", help: "Bytes of the media in the store.", value: Double(usage.bytes))
        page.counter(
            "media.store.evicted",
            help: "Media that the store of this process has evicted.",
            value: Double(store.evictions)
        )
    }

    private static func describe(_ fetches: FetchStatistics, in page: inout MetricsPage) {
        page.gauge("media.fetches.active", help: "Fetches of media under way.", value: Double(fetches.fetching))
        page.gauge(
            "media.connections",
            help: "Connections to hosts of media that are open or being opened.",
            value: Double(fetches.connections)
        )
        page.gauge(
            "media.fetches.waiting",
            help: "Downloads that wait for a connection.",
            value: Double(fetches.waiting)
        )
        page.counter(
            "media.downloaded.bytes",
            help: "Bytes of media that this process has downloaded and stored.",
            value: Double(fetches.downloadedBytes)
        )
    }

    func count(_ result: EnrichmentResult) {
        duration.recordNanoseconds(result.summary.duration.nanoseconds)
        counter("enrichments", [("content", result.summary.content?.rawValue ?? "withheld")]).increment()
        for attachment in result.summary.attachments {
            let outcome =
                switch attachment.outcome {
                case .attached: "attached"
                case .missing(let reason): reason
                }
            counter("enrichment.attachments", [("outcome", outcome)]).increment()
        }
        for enricher in result.summary.enrichers {
            let labels = [("enricher", enricher.name), ("outcome", enricher.outcomeName)]
            counter("enrichment.enrichers", labels).increment()
        }
    }

    private func counter(_ label: String, _ dimensions: [(String, String)]) -> Counter {
        let name = "\(label) \(dimensions.map { "\($0.0)=\($0.1)" }.joined(separator: " "))"
        return counters.all.withLock { all in
            if let known = all[name] { return known }
            let isFull = all.count >= Counters.bound
            let labels = isFull ? dimensions.map { ($0.0, "other") } : dimensions
            let counter = Counter(label: label, dimensions: labels, factory: registry)
            if !isFull { all[name] = counter }
            return counter
        }
    }
}

extension EnricherReport {
    /// The outcome as reports and metrics name it.
    var outcomeName: String {
        switch outcome {
        case .applied: "applied"
        case .failed: "failed"
        case .timedOut: "timed-out"
        case .skipped: "skipped"
        }
    }
}
