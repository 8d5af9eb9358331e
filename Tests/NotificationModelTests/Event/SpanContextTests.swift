import NotificationModel
import Testing

/// Spans as the W3C trace context names them, and their derived ids.
@Suite("Span contexts")
struct SpanContextTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    private static func at(_ minutes: Int64) -> Timestamp { Timestamp(rawValue: 1_800_000_000_000 + minutes * 60_000) }

    @Test("are those of sampled traces; a context keeps the tracestate when it names another span")
    func sampled() throws {
        let trace = try #require(TraceContext(traceparent: Self.parent, tracestate: "vendor=1"))
        let span = try #require(trace.sampled)
        #expect(span.traceparent == Self.parent)
        #expect(TraceContext(traceparent: String(Self.parent.dropLast(2)) + "00")?.sampled == nil)
        // Only the lowest flag says so; a later version may have more fields.
        #expect(TraceContext(traceparent: String(Self.parent.dropLast(2)) + "02")?.sampled == nil)
        #expect(TraceContext(traceparent: "cc" + Self.parent.dropFirst(2) + "-ab")?.sampled == span)
        let child = span.child(0xABC)
        #expect(child.traceparent == "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000abc-01")
        #expect(TraceContext(child, after: trace)?.tracestate == "vendor=1")
        let carried = CarriedTrace(traceparent: Array(Self.parent.utf8), tracestate: Array("vendor=1".utf8))
        #expect(carried.sampled == span && carried.naming(child).sampled == child)
        #expect(carried.naming(child).tracestate == Array("vendor=1".utf8))
        #expect(CarriedTrace.none.sampled == nil)
    }

    @Test("have ids that the operation decides; no two operations of 100,000 share one")
    func derived() throws {
        func id(_ name: StaticString, _ number: UInt64) -> UInt64 {
            var hash = SpanHash(name)
            hash.add(number)
            return hash.value
        }
        #expect(id("process", 7) == id("process", 7) && id("process", 7) != id("send", 7))
        let ids = Set((0..<100_000).map { id("process", $0) })
        #expect(ids.count == 100_000 && !ids.contains(0))
        // Texts are apart: the end of one is not the begin of the next.
        var (one, other) = (SpanHash("event"), SpanHash("event"))
        one.add("ab".utf8)
        one.add("c".utf8)
        other.add("a".utf8)
        other.add("bc".utf8)
        #expect(one.value != other.value)
    }

    @Test("know after a wait how long it was: a trigger continues the trace for an hour, and links to it later")
    func waits() throws {
        let trace = try #require(TraceContext(traceparent: Self.parent)?.sampled)
        var hash = SpanHash("process")
        hash.add(UInt64(4711))
        let intake = trace.child(SpanContext.intake(hash, writtenAt: Self.at(7)))
        let request = RequestID.derive(caller: "test", idempotencyKey: "1")
        for minutes in [0, 1, 59, 60] as [Int64] {
            let due = Self.at(7 + minutes)
            #expect(!intake.isLongBefore(due))
            #expect(intake.firing(request, due, due: due).trace == trace.trace)
        }
        for minutes in [76, 24 * 60, 30 * 24 * 60, 5 * 365 * 24 * 60] as [Int64] {
            let due = Self.at(7 + minutes)
            #expect(intake.isLongBefore(due), "\(minutes)")
            let firing = intake.firing(request, due, due: due)
            #expect(firing.trace != trace.trace && firing == intake.firing(request, due, due: due))
            #expect(firing.trace != intake.firing(request, Self.at(minutes), due: due).trace)
        }
        // A clock that went back.
        #expect(!intake.isLongBefore(Self.at(-60)))
        // The time leaves enough of the hash: records of the same quarter have their own ids.
        let ids = Set(
            (0..<10_000).map { number in
                var hash = SpanHash("process")
                hash.add(UInt64(number))
                return SpanContext.intake(hash, writtenAt: Self.at(0))
            }
        )
        #expect(ids.count == 10_000)
    }
}
