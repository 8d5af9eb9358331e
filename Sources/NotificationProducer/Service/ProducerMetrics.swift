import Metrics
import NotificationModel
import ServiceHTTP

/// The counters of the producer service. Made once: making one takes a lock.
struct ProducerMetrics: Sendable {
    /// Business events by what became of them, counted when they were handled.
    enum Outcome: String, CaseIterable {
        case published, skipped
        case deadLettered = "dead-lettered"
    }

    /// Records on `requests` that the broker acknowledged, from rules and from HTTP.
    private let requestsPublished = Counter(label: "carillon_requests_published_total")
    /// Committing, producing or polling failed in a way that made the clients be made anew.
    private let ingestRestarts = Counter(label: "carillon_ingest_restarts_total")
    /// Business events that were read and whose records, or those of an event before them, are not all acknowledged.
    private let ingestWaiting = Gauge(label: "carillon_ingest_waiting_events")
    private let events: [Outcome: Counter]
    private let deadLetters: [ReasonCode: Counter]
    /// The API's connections and answers.
    let http = ConnectionMetrics(
        name: "http",
        statuses: [200, 202, 400, 401, 403, 404, 405, 408, 413, 414, 415, 417, 422, 431, 500, 501, 503],
        reasons: ReasonCode.allCases
    )

    init() {
        events = Self.counters("carillon_business_events_total", "outcome", Outcome.allCases) { $0.rawValue }
        deadLetters = Self.counters("carillon_dead_letters_total", "reason", ReasonCode.allCases) { $0.rawValue }
    }

    private static func counters<Value: Hashable>(
        _ label: String,
        _ dimension: String,
        _ values: [Value],
        _ text: (Value) -> String
    ) -> [Value: Counter] {
        Dictionary(
            uniqueKeysWithValues: values.map { ($0, Counter(label: label, dimensions: [(dimension, text($0))])) }
        )
    }

    func countRequest() {
        requestsPublished.increment()
    }

    func record(ingestWaiting count: Int) {
        ingestWaiting.record(count)
    }

    func countIngestRestart() {
        ingestRestarts.increment()
    }

    func count(_ outcome: Outcome) {
        events[outcome]?.increment()
    }

    /// Counted when the broker acknowledged the dead letter.
    func countDeadLetter(_ reason: ReasonCode) {
        deadLetters[reason]?.increment()
    }
}
