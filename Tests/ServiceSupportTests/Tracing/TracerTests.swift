import NotificationModel
import ServiceTracing
import Synchronization
import Testing

@testable import ServiceSupport

/// Which traces have spans, and what becomes of spans until they are exported.
@Suite("The tracer")
struct TracerTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    /// Random numbers that a test can know.
    private final class Numbers: Sendable {
        private let state: Mutex<UInt64>
        init(_ seed: UInt64) { state = Mutex(seed) }
        func next() -> UInt64 {
            var hash = SpanHash("test")
            hash.add(
                state.withLock {
                    $0 &+= 1; return $0
                }
            )
            return hash.value
        }
    }

    private static func tracer(_ ratio: Double, capacity: Int = 100, batch: Int = 10, seed: UInt64 = 0) -> Tracer {
        let numbers = Numbers(seed)
        return Tracer(ratio: ratio, capacity: capacity, batch: batch, clock: { 1_000 }, random: { numbers.next() })
    }

    private static func span(_ number: UInt64) -> Span {
        let trace = SpanContext.TraceID(high: 1, low: 2)
        return Span("test", .internal, SpanContext(trace, number), parent: nil, start: 5)
    }

    @Test("follows the flag of the caller, whatever the ratio is")
    func followsCaller() throws {
        let sampled = try #require(TraceContext(traceparent: Self.parent))
        let other = try #require(TraceContext(traceparent: String(Self.parent.dropLast(2)) + "00"))
        for ratio in [0, 0.5, 1] {
            let tracer = Self.tracer(ratio)
            let span = try #require(tracer.begin(after: sampled))
            #expect(span.trace == sampled.sampled?.trace && span.span != sampled.sampled?.span)
            #expect(tracer.begin(after: other) == nil)
        }
    }

    @Test("samples the share of new traces, by their ids: every instance decides alike")
    func ratio() {
        func sampled(_ ratio: Double, _ seed: UInt64) -> Set<UInt64> {
            let tracer = Self.tracer(ratio, seed: seed)
            return Set(
                (0..<20_000).filter { number in
                    var operation = SpanHash("event")
                    operation.add(number)
                    return tracer.begin(with: operation) != nil
                }
            )
        }
        #expect(sampled(0, 0).isEmpty && sampled(1, 0).count == 20_000)
        let tenth = sampled(0.1, 0)
        #expect((1_800...2_200).contains(tenth.count) && tenth == sampled(0.1, 1_000))
        #expect(tenth.isSubset(of: sampled(0.3, 0)))
        let calls = Self.tracer(0.25)
        let count = (0..<20_000).count { _ in calls.begin(after: nil) != nil }
        #expect((4_700...5_300).contains(count))
        // As "Probability sampling" of OpenTelemetry: at a quarter, the 56 bits on the right reach from 0xc0… on.
        #expect(calls.isSampled(.init(high: 0, low: 0xFFC0_0000_0000_0000)))
        #expect(!calls.isSampled(.init(high: 0, low: 0xFFBF_FFFF_FFFF_FFFF)))
    }

    @Test("keeps as many spans as it may, gives them in batches, and counts the others")
    func bounds() {
        let tracer = Self.tracer(1, capacity: 25, batch: 10)
        for number in 1...30 as ClosedRange<UInt64> { tracer.record(Self.span(number)) }
        #expect(tracer.dropped == 5 && tracer.waiting == 25)
        #expect(tracer.take().map(\.context.span) == Array(1...10))
        #expect(tracer.take().count == 10 && tracer.take().count == 5 && tracer.take().isEmpty)
        tracer.record(Self.span(31))
        #expect(tracer.waiting == 1 && tracer.dropped == 5)
        tracer.end()
        tracer.record(Self.span(32))
        #expect(tracer.waiting == 1 && tracer.dropped == 6)
    }

    @Test("wakes the exporter for a full batch, when it is told to, and at the end", .timeLimit(.minutes(1)))
    func wakes() async {
        let tracer = Self.tracer(1)
        for number in 1...10 as ClosedRange<UInt64> { tracer.record(Self.span(number)) }
        await tracer.waitForBatch()
        _ = tracer.take()
        let wakes: [@Sendable () -> Void] = [
            { tracer.wake() }, { for number in 1...10 as ClosedRange<UInt64> { tracer.record(Self.span(number)) } },
        ]
        for wake in wakes {
            let task = Task { await tracer.waitForBatch() }
            // Until the wait has begun, a wake has no effect.
            let woken = Flag()
            let waker = Task {
                while !woken.isSet {
                    wake()
                    await Task.yield()
                }
            }
            await task.value
            woken.set()
            await waker.value
            while !tracer.take().isEmpty {}
        }
        tracer.end()
        await tracer.waitForBatch()
    }

    @Test("writes what OTLP asks for: hexadecimal ids, 64-bit numbers as text, kinds and status as numbers")
    func json() throws {
        var span = Self.span(0x2A)
        span.parent = 7
        span.links = [SpanContext(.init(high: 3, low: 4), 5)]
        (span.kind, span.end, span.error) = (.producer, 9, "gave-up")
        span.set("messaging.kafka.offset", 12)
        span.set("quoted", "a \"b\"")
        let json = SpanJSON(resource: [("service.name", "test")], version: "1.2.3").body([span, Self.span(1)])
        let value = try JSONValue.parse(json)
        let expected = #"""
            {"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"test"}}]},"scopeSpans":[{"scope":
            {"name":"carillon","version":"1.2.3"},"spans":[{"traceId":"00000000000000010000000000000002","spanId":"000000000000002a",
            "parentSpanId":"0000000000000007","name":"test","kind":4,"startTimeUnixNano":"5","endTimeUnixNano":"9","attributes":[
            {"key":"messaging.kafka.offset","value":{"intValue":"12"}},{"key":"quoted","value":{"stringValue":"a \"b\""}},
            {"key":"error.type","value":{"stringValue":"gave-up"}}],"links":[{"traceId":"00000000000000030000000000000004",
            "spanId":"0000000000000005"}],"status":{"code":2}},{"traceId":"00000000000000010000000000000002","spanId":"0000000000000001",
            "name":"test","kind":1,"startTimeUnixNano":"5","endTimeUnixNano":"5"}]}]}]}
            """#
        #expect(value == (try JSONValue.parse(Array(expected.replacing("\n", with: "").utf8))))
    }
}
