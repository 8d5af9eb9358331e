import DequeModule
package import NotificationModel
import Synchronization

/// Where the spans of a process wait for their export, and what decides which traces have spans. Where tracing is off there is
/// none.
///
/// The flag of the caller decides; for a trace that begins here, its id and the ratio: every instance decides alike.
package final class Tracer: Sendable {
    private struct Contents {
        var spans: Deque<Span> = []
        var dropped = 0
        var isEnded = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    /// The most spans that wait; further ones are dropped.
    private let capacity: Int
    /// So many wake whoever exports them.
    private let batch: Int
    /// Traces whose randomness is below it are not sampled.
    private let threshold: UInt64
    private let clock: @Sendable () -> UInt64
    private let random: @Sendable () -> UInt64
    private let contents = Mutex(Contents())

    /// - Parameters:
    ///   - ratio: of the traces that begin here, from 0 to 1.
    ///   - capacity: the most spans that wait.
    ///   - batch: the spans of one export.
    ///   - clock: nanoseconds since 1970.
    ///   - random: for the ids of traces of calls.
    package init(
        ratio: Double,
        capacity: Int = 16_384,
        batch: Int = 512,
        clock: @escaping @Sendable () -> UInt64,
        random: @escaping @Sendable () -> UInt64 = { .random(in: 0 ... .max) }
    ) {
        (self.capacity, self.batch, self.clock, self.random) = (capacity, batch, clock, random)
        // As "Probability sampling" of OpenTelemetry says: the rejection threshold in 56 bits.
        threshold = UInt64((1 - min(1, max(0, ratio))) * 0x1p56)
    }

    /// Nanoseconds since 1970.
    package var now: UInt64 { clock() }

    // MARK: - Sampling

    /// Whether a trace that begins here has spans.
    package func isSampled(_ trace: SpanContext.TraceID) -> Bool { trace.randomness >= threshold }

    /// The first span of a trace that an operation begins; nil when it is not sampled.
    package func begin(with operation: SpanHash) -> SpanContext? {
        let trace = SpanContext.TraceID(of: operation)
        return isSampled(trace) ? SpanContext(trace, operation.value) : nil
    }

    /// A random span of a trace, or of a new one; nil when it is not sampled.
    ///
    /// - Parameter caller: the trace of the caller, if it has one.
    package func begin(after caller: TraceContext?) -> SpanContext? {
        if let caller { return caller.sampled?.child(random()) }
        let trace = SpanContext.TraceID(high: random(), low: random())
        return isSampled(trace) ? SpanContext(trace, random()) : nil
    }

    // MARK: - Spans

    /// Keeps a span for the export; drops and counts it when too many wait.
    package func record(_ span: Span) {
        let waiting = contents.withLock { contents -> CheckedContinuation<Void, Never>? in
            guard contents.spans.count < capacity, !contents.isEnded else {
                contents.dropped += 1
                return nil
            }
            contents.spans.append(span)
            guard contents.spans.count >= batch else { return nil }
            return contents.waiting.take()
        }
        waiting?.resume()
    }

    /// Ends a span now, and keeps it.
    ///
    /// - Parameter error: a code; nil when it succeeded.
    package func end(_ span: Span, error: String? = nil) {
        var span = span
        span.end = max(span.start, now)
        span.error = error ?? span.error
        record(span)
    }

    // MARK: - Export

    /// The oldest spans, at most as many as one export has.
    package func take() -> [Span] {
        contents.withLock { contents in
            let count = min(batch, contents.spans.count)
            defer { contents.spans.removeFirst(count) }
            return Array(contents.spans.prefix(count))
        }
    }

    /// Spans that were dropped so far.
    package var dropped: Int { contents.withLock { $0.dropped } }

    /// Spans that wait.
    package var waiting: Int { contents.withLock { $0.spans.count } }

    /// Waits until there are as many spans as one export has, or until ``wake()`` is called. One may wait at one time.
    package func waitForBatch() async {
        await withCheckedContinuation { continuation in
            let isReady = contents.withLock { contents in
                guard contents.spans.count < batch, !contents.isEnded else { return true }
                contents.waiting = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    /// Ends the wait, whatever there is.
    package func wake() { contents.withLock { $0.waiting.take() }?.resume() }

    /// No span is taken any more: later ones count as dropped.
    package func end() {
        contents.withLock { contents in
            contents.isEnded = true
            return contents.waiting.take()
        }?.resume()
    }
}
