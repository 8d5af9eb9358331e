import Logging
import NIOCore
import NotificationModel
import OutboundHTTP
import ServiceHTTP
import ServiceLifecycle
import ServiceTracing
import Synchronization

/// Sends the spans of a ``Tracer`` to a collector in the background: in batches, one request at a time. What the collector does
/// not take in time is dropped and counted; nothing ever waits for it.
///
/// It starts before the other services and stops after them, so that it gets their last spans.
struct TraceExporter: Service {
    /// Spans wait at most so long for a full batch.
    static let interval = Duration.seconds(1)
    /// Of one request, with its connection.
    static let timeout = Duration.seconds(10)
    /// For all that waits when the service ends.
    static let lastTimeout = Duration.seconds(5)

    private struct Counts {
        var exported = 0
        var failed = 0
        var logged: ContinuousClock.Instant?
    }

    private final class State: Sendable {
        let counts = Mutex(Counts())
        /// When the last export must be over; nil while the service runs.
        let end: Mutex<ContinuousClock.Instant?> = Mutex(nil)
    }

    private let tracer: Tracer
    private let collector: TracingConfiguration.Collector
    private let client: CollectorClient
    private let json: SpanJSON
    private let state = State()
    private let logger: Logger

    /// - Parameters:
    ///   - resource: the attributes of the process.
    ///   - registry: shows what became of spans.
    /// - Throws: As ``CollectorClient/init(_:)`` does.
    init(
        _ tracer: Tracer,
        to collector: TracingConfiguration.Collector,
        resource: [(key: String, value: String)],
        registry: PrometheusRegistry,
        logger: Logger
    ) throws {
        (self.tracer, self.collector, self.logger) = (tracer, collector, logger)
        json = SpanJSON(resource: resource, version: CarillonVersion.current)
        client = try CollectorClient(collector)
        registry.collect { [state, tracer] page in
            let counts = state.counts.withLock { $0 }
            for (outcome, count) in [
                ("exported", counts.exported), ("failed", counts.failed), ("dropped", tracer.dropped),
            ] {
                page.counter(
                    "spans",
                    help: "Spans, by outcome: the collector has them, did not take them, or too many waited for it.",
                    value: Double(count),
                    labels: [("outcome", outcome)]
                )
            }
            page.gauge("spans.waiting", help: "Spans that wait for the collector.", value: Double(tracer.waiting))
        }
        if let file = collector.headersFile { warnIfExposed(file) }
    }

    /// Reads the file of header fields again, as SIGHUP does; nil where there is none. A file that cannot be used changes
    /// nothing, and is logged.
    var reload: (@Sendable () async -> Void)? {
        guard let file = collector.headersFile else { return nil }
        return {
            do {
                try await client.readFields()
                logger.notice(
                    "the header fields for the collector of spans are read again",
                    metadata: [LogMetadata.file: "\(file)"]
                )
                warnIfExposed(file)
            } catch {
                let why = (error as? SecretFile.Problem)?.text ?? "\(error)"
                logger.error(
                    "the header fields for the collector of spans are not read again: the previous ones stay in force",
                    metadata: [LogMetadata.file: "\(file)", LogMetadata.error: "\(why)"]
                )
            }
        }
    }

    private func warnIfExposed(_ file: String) {
        guard SecretFile.isExposed(file) else { return }
        logger.warning(
            "every user of this machine can read the header fields for the collector of spans",
            metadata: [LogMetadata.file: "\(file)"]
        )
    }

    /// Exports until the graceful shutdown, then what waits, for at most ``lastTimeout``.
    func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            while state.end.withLock({ $0 }) == nil {
                let timer = Task {
                    try? await Task.sleep(for: Self.interval)
                    tracer.wake()
                }
                await tracer.waitForBatch()
                timer.cancel()
                await exportWaiting()
            }
            await exportWaiting()
            tracer.end()
        } onCancelOrGracefulShutdown: {
            state.end.withLock { $0 = .now + Self.lastTimeout }
            tracer.wake()
        }
        client.close()
    }

    private func exportWaiting() async {
        while true {
            let spans = tracer.take()
            guard !spans.isEmpty else { return }
            let failure = await export(spans)
            state.counts.withLock { counts in
                if failure == nil { counts.exported += spans.count } else { counts.failed += spans.count }
            }
            if let failure { log(failure) }
        }
    }

    /// - Returns: why the spans were given up; nil when the collector has them.
    private func export(_ spans: [Span]) async -> String? {
        let body = ByteBuffer(bytes: json.body(spans))
        let start = ContinuousClock.now
        var plan = ExportPlan()
        while true {
            let end = state.end.withLock { $0 }
            let time = end.map { min(Self.timeout, $0 - .now) } ?? Self.timeout
            guard time > .zero, !Task.isCancelled else { return "the service ends" }
            let answer = await client.post(body, within: time)
            switch plan.step(after: answer, elapsed: .now - start, jitter: .random(in: 0..<1)) {
            case .done: return nil
            case .giveUp(let why): return why
            case .retry(let pause): await wait(pause)
            }
        }
    }

    /// Waits, but not beyond the end of the service.
    private func wait(_ pause: Duration) async {
        let next = ContinuousClock.now + pause
        while .now < next, state.end.withLock({ $0.map { ContinuousClock.now < $0 } }) ?? true {
            // Short, because the end may come meanwhile.
            try? await Task.sleep(for: min(.milliseconds(100), next - .now))
            if Task.isCancelled { return }
        }
    }

    /// At most once a minute.
    private func log(_ failure: String) {
        let isDue = state.counts.withLock { counts in
            if let logged = counts.logged, .now - logged < .seconds(60) { return false }
            counts.logged = .now
            return true
        }
        guard isDue else { return }
        logger.warning(
            "the collector of spans does not take them: they are dropped",
            metadata: ["endpoint": "\(collector.url.origin)", LogMetadata.error: "\(failure)"]
        )
    }
}
