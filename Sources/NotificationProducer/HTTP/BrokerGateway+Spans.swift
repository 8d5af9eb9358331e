import Kafka
import NotificationModel
import ServiceTracing

/// The spans of what calls publish, from the call to the acknowledgement.
extension BrokerGateway {
    /// The span of a record of a call; nil when the call is not sampled.
    func span(to topic: String, _ trace: TraceContext?, _ describe: (inout SpanHash) -> Void) -> Span? {
        guard let tracer, let parent = trace?.sampled else { return nil }
        var hash = SpanHash("send")
        describe(&hash)
        return .sending(to: topic, hash.value, parent: parent, start: tracer.now)
    }

    /// Runs the publication, and ends its spans.
    func traced<Result>(_ spans: [Span], _ body: () async throws -> Result) async throws -> Result {
        guard let tracer, !spans.isEmpty else { return try await body() }
        do {
            let result = try await body()
            for span in spans { tracer.end(span) }
            return result
        } catch {
            let code = (error as? ModelError)?.reason ?? .unavailable
            for span in spans { tracer.end(span, error: code.rawValue) }
            throw error
        }
    }

    /// Lets events name the spans of their publication. An event that is not sampled because its call begins a trace that is not
    /// says so: whoever reads it must not decide again.
    ///
    /// - Returns: the spans, in the order of the sampled events.
    func trace(_ events: inout [BusinessEvent]) -> [Span] {
        guard tracer != nil else { return [] }
        var spans: [Span] = []
        for index in events.indices {
            let event = events[index]
            guard let trace = event.trace else {
                events[index].name(TraceContext.unsampled(event))
                continue
            }
            guard let span = span(to: businessEvents, trace, { $0.add(event) }) else { continue }
            spans.append(span)
            events[index].name(TraceContext(span.context, after: trace))
        }
        return spans
    }
}

extension SpanHash {
    /// An event is known by its source and id.
    mutating func add(_ event: BusinessEvent) {
        add(event.source.utf8)
        add(event.id.utf8)
    }
}

extension BusinessEvent {
    /// The trace that it names.
    var trace: TraceContext? {
        TraceContext(traceparent: extensions["traceparent"], tracestate: extensions["tracestate"])
    }

    fileprivate mutating func name(_ trace: TraceContext?) {
        (extensions["traceparent"], extensions["tracestate"]) = (trace?.traceparent, trace?.tracestate)
    }
}

extension TraceContext {
    private static let notSampledHere = "carillon=unsampled"

    /// The trace of an event of a call that begins a trace which is not sampled.
    static func unsampled(_ event: BusinessEvent) -> TraceContext? {
        var hash = SpanHash("unsampled")
        hash.add(event)
        let span = SpanContext(.init(of: hash), hash.value)
        return TraceContext(
            traceparent: String(span.traceparent.dropLast(2)) + "00",
            tracestate: notSampledHere
        )
    }

    /// Whether Carillon itself decided so: what follows needs no trace.
    var isUnsampledHere: Bool { tracestate == Self.notSampledHere }
}
