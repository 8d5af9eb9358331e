import NotificationModel
import Testing

@Suite("Trace context")
struct TraceContextTests {
    @Test(
        "A valid traceparent is kept unchanged",
        arguments: [
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-00",
        ]
    )
    func valid(text: String) {
        #expect(TraceContext(traceparent: text, tracestate: "a=1,b=2")?.traceparent == text)
        #expect(TraceContext(traceparent: text, tracestate: "a=1,b=2")?.tracestate == "a=1,b=2")
    }

    @Test(
        "Anything else is not a trace context",
        arguments: [
            nil, "", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
        ]
    )
    func invalid(text: String?) {
        #expect(TraceContext(traceparent: text) == nil)
    }

    @Test(
        "A tracestate that cannot be a header is dropped",
        arguments: ["", "a=é", "a\nb", String(repeating: "x", count: 513)]
    )
    func tracestate(text: String) {
        let context = TraceContext(
            traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            tracestate: text
        )
        #expect(context != nil)
        #expect(context?.tracestate == nil)
    }
}
