import NotificationModel
import Testing

@testable import NotificationProducer

/// What an event says whose call begins a trace that is not sampled.
@Suite("Events that are not sampled")
struct UnsampledEventTests {
    private static let event = BusinessEvent(id: "1", source: "/shop", type: "com.example.order")

    @Test("say so in a trace context that only Carillon's own decision has")
    func mark() throws {
        let trace = try #require(TraceContext.unsampled(Self.event))
        #expect(trace.sampled == nil && trace.isUnsampledHere && trace.traceparent.hasSuffix("-00"))
        #expect(trace == TraceContext.unsampled(Self.event))
        let other = TraceContext(traceparent: trace.traceparent, tracestate: "vendor=unsampled")
        #expect(other?.isUnsampledHere == false)
    }
}
