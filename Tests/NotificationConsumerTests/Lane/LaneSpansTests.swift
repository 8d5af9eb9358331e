import NotificationDelivery
import NotificationModel
import NotificationState
import ServiceSupport
import ServiceTracing
import Testing

@testable import NotificationConsumer

/// The spans of a lane: what a turn says of them, and what the lane makes of it.
@Suite("The spans of a lane")
struct LaneSpansTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    private static let trace = CarriedTrace(traceparent: Array(parent.utf8), tracestate: Array("vendor=1".utf8))

    private static func tracer() -> Tracer { Tracer(ratio: 0, clock: { 1_900_000_000_000_000_000 }) }

    private static func spans(_ tracer: Tracer) -> LaneSpans {
        LaneSpans(tracer, ConsumerServiceConfiguration(bootstrapServers: []))
    }

    private static func bench(isTraced: Bool = true) -> Bench {
        var rules = LifecycleRules(retention: 86_400_000)
        rules.isTraced = isTraced
        return Bench(rules)
    }

    private static func record(
        _ trace: CarriedTrace,
        _ input: InputTopic = .requests,
        offset: Int64 = 7
    ) -> Intake.Record {
        .init(input, partition: 3, offset: offset, timestamp: at(0).rawValue, key: nil, value: nil, trace: trace)
    }

    private static func request(_ trace: CarriedTrace, _ plan: CenterInput.Plan) -> CenterInput {
        .request(
            .init(
                id: id("a"),
                key: key("order"),
                position: .init(.requests, offset: 0),
                content: content,
                plan: plan,
                trace: trace,
                timestamp: at(0)
            )
        )
    }

    /// The trace of a request after its intake.
    private static func taken() -> CarriedTrace {
        var record = record(trace)
        record.nameIntake()
        return record.trace
    }

    // MARK: - Records

    @Test("a sampled record has a span, which it names from then on; each reading of it names the same")
    func intake() throws {
        let tracer = Self.tracer()
        let spans = Self.spans(tracer)
        var (first, again) = (Self.record(Self.trace), Self.record(Self.trace))
        var next = Self.record(Self.trace, offset: 8)
        spans.begin(&first)
        spans.end(nil)
        again.nameIntake()
        next.nameIntake()
        #expect(first.trace == again.trace && first.trace != next.trace && first.trace != Self.trace)
        #expect(first.trace.tracestate == Self.trace.tracestate)
        let span = try #require(tracer.take().first)
        #expect(span.name == "process carillon.requests" && span.kind == .consumer && span.error == nil)
        #expect(span.context == first.trace.sampled && span.parent == Self.trace.sampled?.span)
        #expect(span.attributes.contains { $0.key == "messaging.kafka.offset" && $0.value == .number(7) })
        spans.begin(&next)
        spans.end(ModelError(.misrouted, "test"))
        #expect(tracer.take().first?.error == "misrouted")
    }

    @Test("a record without a trace, or of one that is not sampled, has none and is passed on as it is")
    func unsampled() throws {
        let unsampled = CarriedTrace(traceparent: Array((Self.parent.dropLast(2) + "00").utf8))
        let tracer = Self.tracer()
        let spans = Self.spans(tracer)
        for trace in [.none, unsampled] as [CarriedTrace] {
            var record = Self.record(trace)
            spans.begin(&record)
            let event = DeliveryEvent(name: .delivered, requestID: id("a"), key: key("order"), closes: true)
            #expect(spans.send(event.eventID, event.name.type, to: .deliveries, trace) == trace)
            spans.end(nil)
            #expect(record.trace == trace && tracer.take().isEmpty)
        }
    }

    @Test("an event is published by a span of its own, with an id that a repeat has, too")
    func published() throws {
        let tracer = Self.tracer()
        let spans = Self.spans(tracer)
        let event = DeliveryEvent(name: .delivered, requestID: id("a"), key: key("order"), closes: true)
        let trace = spans.send(event.eventID, event.name.type, to: .deliveries, Self.trace)
        #expect(trace == spans.send(event.eventID, event.name.type, to: .deliveries, Self.trace))
        let span = try #require(tracer.take().first)
        #expect(span.name == "send carillon.deliveries" && span.kind == .producer && trace.sampled == span.context)
        #expect(span.parent == Self.trace.sampled?.span)
    }

    // MARK: - Triggers

    @Test("a trigger that fires within an hour continues the trace of the request")
    func firesSoon() throws {
        var bench = Self.bench()
        let taken = Self.taken()
        bench.apply(Self.request(taken, interval(60)))
        #expect(bench.firings.isEmpty)
        bench.fire(60_000)
        let firing = try #require(bench.firings.first)
        #expect(bench.firings.count == 1 && firing.due == at(60_000) && firing.request == taken.sampled)
        #expect(firing.span.trace == taken.sampled?.trace)
        let tracer = Self.tracer()
        Self.spans(tracer).fire(firing)
        let span = try #require(tracer.take().first)
        #expect(span.parent == firing.request.span && span.links == [] && span.kind == .internal)
        // From when it was due until it fired.
        #expect(span.start == UInt64(at(60_000).rawValue) * 1_000_000 && span.end > span.start)
        // What responses answer is the event that was published.
        let delivered = try #require(bench.events.last { $0.name == .delivered })
        let kept = bench.entry(key("order"))?.delivered?.details?.span
        #expect(kept == firing.span.child(SpanHash.sending(delivered.eventID)))
    }

    @Test("after days it begins a trace with a link to the request; each occurrence has its own, and a repeat the same")
    func firesLate() throws {
        let taken = Self.taken()
        var firings: [[Firing]] = []
        for _ in 0..<2 {
            var bench = Self.bench()
            bench.apply(Self.request(taken, interval(86_400, repeats: true)))
            bench.fire(86_400_000)
            bench.fire(2 * 86_400_000)
            firings.append(bench.firings)
        }
        #expect(firings[0].map(\.span) == firings[1].map(\.span) && firings[0].count == 2)
        #expect(Set(firings[0].map(\.span.trace) + [try #require(taken.sampled).trace]).count == 3)
        let tracer = Self.tracer()
        Self.spans(tracer).fire(firings[0][0])
        let span = try #require(tracer.take().first)
        #expect(span.parent == nil && span.links == [taken.sampled])
    }

    @Test("where nothing is traced, neither effects nor the state say anything of spans")
    func off() throws {
        var bench = Self.bench(isTraced: false)
        bench.apply(Self.request(Self.trace, interval(60)))
        bench.fire(60_000)
        #expect(bench.firings.isEmpty && bench.entry(key("order"))?.delivered?.details?.span == nil)
        var traced = Self.bench()
        traced.apply(Self.request(.none, interval(60)))
        traced.fire(60_000)
        #expect(traced.firings.isEmpty && traced.entry(key("order")) == bench.entry(key("order")))
    }

    // MARK: - Responses

    @Test("a response has a link to what it answers, and begins a trace when it has none")
    func answers() throws {
        var bench = Self.bench()
        bench.apply(Self.request(Self.taken(), .immediate(collapseWindow: 0)))
        let delivery = try #require(bench.entry(key("order"))?.delivered?.details?.span)
        // It survives a restart.
        let entry = try #require(bench.entry(key("order")))
        #expect(try StateEntry(json: entry.json, zones: nil).delivered?.details?.span == delivery)
        let response = ResponseSignal(
            identifier: "order",
            requestID: id("a"),
            responseID: id("r"),
            actionIdentifier: "default"
        )
        bench.apply(DeviceTests.signal(.response(response)))
        #expect(bench.answered == [delivery])
        let event = try #require(bench.responses.first)

        let tracer = Self.tracer()
        let spans = Self.spans(tracer)
        for trace in [.none, Self.trace] as [CarriedTrace] {
            var record = Self.record(trace, .signals)
            spans.begin(&record)
            spans.answer(delivery)
            let published = spans.send(event, record.trace)
            spans.end(nil)
            let (sent, intake) = try #require(tracer.take().splitPair)
            #expect(intake.name == "process carillon.signals" && intake.links == [delivery])
            #expect(intake.parent == trace.sampled?.span)
            #expect(intake.context.trace == trace.sampled?.trace || intake.context.trace != delivery.trace)
            #expect(sent.name == "send carillon.responses" && sent.parent == intake.context.span)
            #expect(published.sampled == sent.context && sent.context.trace == intake.context.trace)
        }
    }

    // MARK: - Side work

    @Test("each attempt has a span that names the channel, and its outcome; what was not tried has none")
    func attempts() throws {
        let tracer = Self.tracer()
        let attempts = Self.spans(tracer).attempts
        func send(_ attempt: Int) -> Issued<ChannelSend> {
            Issued(
                ChannelSend(
                    id: UUIDValue(high: 1, low: 2),
                    key: key("order"),
                    kind: .deliver(content: content),
                    channel: .webhook,
                    requestID: id("a"),
                    attempt: attempt,
                    trace: Self.trace
                ),
                of: 0,
                in: 1
            )
        }
        let named = attempts.begin(send(1))
        #expect(named.work.trace == Self.trace && named.work.span?.trace == Self.trace.sampled?.trace)
        attempts.end(send(1), .failed(retryAfter: nil), isTimedOut: false)
        let again = attempts.begin(send(2))
        attempts.end(send(2), .accepted, isTimedOut: false)
        #expect(again.work.span != named.work.span)
        _ = attempts.begin(send(3))
        attempts.end(send(3), .deferred(retryAfter: nil), isTimedOut: false)
        _ = attempts.begin(send(4))
        attempts.forget { _ in true }
        attempts.end(send(4), .accepted, isTimedOut: false)
        let spans = tracer.take()
        #expect(spans.map(\.name) == ["deliver webhook", "deliver webhook"] && spans.allSatisfy { $0.kind == .client })
        #expect(spans.map(\.error) == ["failed", nil])
        #expect(spans.map(\.context) == [named, again].compactMap(\.work.span))
        #expect(spans[1].attributes.contains { $0.key == "http.request.resend_count" && $0.value == .number(1) })
    }
}

extension [Span] {
    /// The two that there are.
    fileprivate var splitPair: (Span, Span)? { count == 2 ? (self[0], self[1]) : nil }
}
