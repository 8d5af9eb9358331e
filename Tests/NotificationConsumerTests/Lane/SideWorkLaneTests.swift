import Foundation
import Kafka
import NotificationDelivery
import NotificationModel
import ServiceSupport
import Testing

@testable import NotificationConsumer

/// A lane and its sends, with the link's clock.
struct SideWorkLaneTests {
    private let broker = MemoryBroker(partitions: 1)
    private let channel = HeldChannel()
    private let health = Health()
    private let registry = PrometheusRegistry()

    // Sends need not wait for the first marker of the lane.
    init() { broker.marker(in: 0, of: 1, firedThrough: at(1_000_000)) }

    private func ask(_ names: String...) {
        for name in names {
            let value = Array(#"{"requestId":"\#(name)","content":{"title":"T"}}"#.utf8)
            broker.requests[0].records.append((key(name).encoded, value))
        }
    }

    private func remove(_ name: String) {
        let value = Array(#"{"requestId":"remove-\#(name)","remove":"pending"}"#.utf8)
        broker.requests[0].records.append((key(name).encoded, value))
    }

    private func ask(for name: String, level: String? = nil, expiration: Timestamp? = nil) {
        let member = level.map { #","interruptionLevel":"\#($0)""# } ?? ""
        let end = expiration.map { #","expiration":"\#($0.rfc3339)""# } ?? ""
        let value = Array(#"{"requestId":"\#(name)","content":{"title":"T"\#(member)}\#(end)}"#.utf8)
        broker.requests[0].records.append((key(name).encoded, value))
    }

    private func lane(
        over link: MemoryLink,
        concurrent: Int = 100,
        outstanding: Int = 100,
        rate: Int = 0
    ) throws -> Lane<MemoryLink> {
        var configuration = ConsumerServiceConfiguration(bootstrapServers: [])
        configuration.lanes = 1
        (configuration.lane.sendRate, configuration.lane.sendBurst) = (rate, 1)
        (configuration.lane.concurrentSends, configuration.lane.outstandingSends) = (concurrent, outstanding)
        let lane = Lane.over(
            link,
            .atLeastOnce,
            configuration: configuration,
            channel: channel,
            health: health,
            registry: registry
        )
        try lane.start()
        // Later requests are not part of the backlog, for which sends would wait.
        try lane.turn()
        return lane
    }

    /// Works until there is nothing to read, acknowledge or commit.
    private func settle(_ lane: Lane<MemoryLink>) throws {
        for _ in 0..<200 {
            if try settled(lane) { return }
        }
        Issue.record("the lane does not come to rest")
    }

    /// Works for one turn.
    private func settled(_ lane: Lane<MemoryLink>) throws -> Bool {
        try lane.turn()
        return broker.requests[0].high == lane.link.position(of: 0) && lane.link.outstanding == 0
            && !lane.ledger.checkpoint.isUnderWay && lane.owned.dirtyCount == 0
    }

    private func events() throws -> [String] {
        try broker.deliveries.map { bytes in
            let event = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
            return "\(event["requestId"] ?? "") \(event["channel"] ?? event["reason"] ?? "")"
        }
    }

    private func metric(_ name: String) -> String? {
        registry.exposition().split(separator: "\n").first { $0.hasPrefix("\(name) ") }
            .map { String($0.dropFirst(name.count + 1)) }
    }

    @Test func `a lane that waits in its poll gets an outcome immediately, and does not poll before`() throws {
        let link = MemoryLink(broker)
        let lane = try lane(over: link)
        ask("a")
        try settle(lane)
        #expect(channel.sends.count == 1 && broker.deliveries.isEmpty)
        let before = link.waits.count
        try lane.turn()
        #expect(Array(link.waits[before...]) == [.milliseconds(100)], "it waits as if there were no channel")
        let began = link.now
        link.whileWaiting = { channel.accept() }
        try lane.turn()
        link.whileWaiting = {}
        #expect(link.waits.count == before + 2 && link.now == began, "no time has passed")
        #expect(link.outstanding == 1, "the event is on its way")
        try settle(lane)
        #expect(try events() == ["a test"])
        lane.close()
    }

    @Test func `what a turn has begun is flushed at its end, and before when it is much`() throws {
        let lane = try lane(over: MemoryLink(broker))
        for number in 0..<70 { ask(for: "\(number)") }
        try lane.turn()
        #expect(channel.begun == 70 && channel.flushes == [32, 32, 6])
        channel.accept()
        try settle(lane)
        #expect(channel.flushes.count == 3, "nothing was begun since")

        let value =
            #"{"requestId":"later","content":{"title":"T"},"trigger":{"type":"timeInterval","timeInterval":60}}"#
        broker.requests[0].records.append((key("later").encoded, Array(value.utf8)))
        try settle(lane)
        for _ in 0..<1_000 where channel.begun == 70 { try lane.turn() }
        #expect(channel.begun == 71 && channel.flushes.last == 1, "by a timer")
        channel.answer(.failed(retryAfter: nil))
        for _ in 0..<10_000 where channel.begun == 71 { try lane.turn() }
        #expect(channel.begun == 72 && channel.flushes.count == 5, "again")
        lane.close()
    }

    @Test func `a poll does not wait if an outcome has arrived before`() throws {
        let link = MemoryLink(broker)
        let lane = try lane(over: link)
        ask("a")
        try settle(lane)
        channel.accept()
        let began = link.now
        try lane.turn()
        #expect(link.now == began && link.outstanding == 1)
        lane.close()
    }

    @Test func `a send without an answer fails at its deadline, and is retried`() throws {
        let link = MemoryLink(broker)
        let lane = try lane(over: link)
        ask("a")
        try settle(lane)
        let began = link.now
        let first = try #require(channel.sends.first)
        for _ in 0..<1000 where channel.cancelled == 0 { try lane.turn() }
        #expect(channel.cancelled == 1 && link.now - began <= .seconds(30), "the wait ends at the deadline")
        #expect(link.now - began > .seconds(29))
        for _ in 0..<1000 where channel.begun == 1 { try lane.turn() }
        #expect(channel.sends.map(\.attempt) == [2] && channel.sends[0].id == first.id)
        #expect(metric("carillon_sends_timed_out_total") == "1")
        channel.accept()
        try settle(lane)
        #expect(try events() == ["a test"])
        lane.close()
    }

    @Test func `the latency of a channel is the time from the request to its acceptance, of notifications only`() throws
    {
        let link = MemoryLink(broker)
        let lane = try lane(over: link)
        ask("a")
        try settle(lane)
        for _ in 0..<1000 where channel.begun == 1 { try lane.turn() }
        channel.accept()
        try settle(lane)
        broker.requests[0].records.append((key("a").encoded, Array(#"{"requestId":"r","remove":"all"}"#.utf8)))
        try settle(lane)
        #expect(channel.sends.map(\.kind) == [.remove])
        channel.accept()
        try settle(lane)
        let name = "carillon_delivery_latency_seconds"
        #expect(metric(name + #"_count{channel="test"}"#) == "1")
        // The first attempt had no answer within 30 s.
        #expect(metric(name + #"_bucket{channel="test",le="30"}"#) == "0")
        #expect(metric(name + #"_bucket{channel="test",le="60"}"#) == "1")
        lane.close()
    }

    @Test func `what a channel tells of itself is published with the answer by which it found out, once`() throws {
        let link = MemoryLink(broker)
        let lane = try lane(over: link)
        ask("a")
        try settle(lane)
        channel.changes?.add(.init(name: .stopped, channel: .test, application: "shop", at: at(5), reason: "no key"))
        try settle(lane)
        #expect(broker.deliveries.isEmpty, "nothing else would commit it")
        channel.accept()
        try settle(lane)
        let values = broker.deliveries.map { String(decoding: $0, as: UTF8.self) }
        #expect(values.filter { $0.contains(#""reason":"no key""#) && $0.contains(#""instance":""#) }.count == 1)
        #expect(values.count == 2 && channel.changes?.take().isEmpty == true)
        lane.close()
    }

    @Test func `what a lane has not committed is published by the next one under the same id`() throws {
        let link = MemoryLink(broker)
        let lane = try lane(over: link)
        ask("a")
        try settle(lane)
        let event = ChannelEvent(name: .resumed, channel: .test, application: "shop", at: at(5))
        channel.changes?.add(event)
        channel.accept()
        try lane.takeOutcomes()
        #expect(channel.changes?.take().isEmpty == true)
        lane.close(after: CancellationError())
        let left = channel.changes?.take() ?? []
        #expect(left.map(\.name) == [.resumed] && left.map(\.at) == [at(5)])
    }

    @Test func `at the limit reading pauses and readiness reports why, until the channel answers`() throws {
        let link = MemoryLink(broker)
        let lane = try lane(over: link, concurrent: 2, outstanding: 3)
        ask("a", "b", "c", "d", "e")
        for _ in 0..<20 { try lane.turn() }
        #expect(channel.sends.count == 2 && link.position(of: 0) == 3, "the channel has two, and one waits")
        for _ in 0..<5000 where !link.isReadingPaused { try lane.turn() }
        #expect(health.notReady.contains { $0.why.contains("the channel does not answer: 3 sends have no outcome") })
        for _ in 0..<20 {
            channel.accept()
            try lane.turn()
            #expect(channel.sends.count <= 2)
        }
        try settle(lane)
        #expect(health.notReady.isEmpty && !link.isReadingPaused)
        #expect(try events() == ["a", "b", "c", "d", "e"].map { "\($0) test" })
        lane.close()
    }

    @Test func `while a channel is brisk, its lane leaves in the topic what the channel cannot begin soon`() throws {
        let link = MemoryLink(broker)
        let lane = try lane(over: link, concurrent: 2, outstanding: 100)
        for number in 0..<2000 { ask("n\(number)") }
        var unanswered: Int64 { link.position(of: 0) - Int64(channel.begun - channel.sends.count) }
        for _ in 0..<20 { try lane.turn() }
        #expect(unanswered == 100, "it has not answered yet")
        for _ in 0..<150 {
            channel.accept()
            link.wait(.milliseconds(1))
            // More often than it answers.
            for _ in 0..<5 { try lane.turn() }
        }
        #expect((2...8).contains(unanswered) && channel.begun > 200)
        for _ in 0..<100 {
            link.wait(.milliseconds(4))
            try lane.turn()
        }
        #expect(unanswered == 100, "it has become slow")
        for _ in 0..<2000 {
            if try settled(lane), unanswered == 0 { break }
            channel.accept()
        }
        #expect(try events().count == 2000)
        lane.close()
    }

    @Test func `a channel that refuses quickly is not brisk, and while its retries fill it the lane serves its group`()
        throws
    {
        let link = MemoryLink(broker)
        let lane = try lane(over: link, concurrent: 2, outstanding: 1000)
        func work(while isToGoOn: () -> Bool, _ answer: ChannelResult) throws {
            for _ in 0..<1000 where isToGoOn() {
                channel.answer(answer)
                link.wait(.milliseconds(1))
                try lane.turn()
            }
        }
        for number in 0..<300 { ask("n\(number)") }
        let refusal = ChannelResult.deferred(retryAfter: 10_000)
        try work(while: { channel.begun < 280 }, refusal)
        for number in 300..<600 { ask("n\(number)") }
        try work(while: { channel.begun < 290 }, refusal)
        #expect(link.position(of: 0) == 600, "it reads ahead of the refusals")
        try work(while: { channel.begun < 600 }, refusal)
        channel.answer(refusal)
        link.wait(.seconds(20))
        for number in 600..<700 { ask("n\(number)") }
        let first = link.polls.count
        try work(while: { channel.begun < 1300 }, .accepted)
        let polls = link.polls[first...]
        #expect(zip(polls, polls.dropFirst()).allSatisfy { $1 - $0 < .milliseconds(110) })
        #expect(polls.count < 500, "it has left reading out")
        channel.accept()
        try settle(lane)
        #expect(try events().count == 700)
        lane.close()
    }

    @Test func `a removal stops a send that has not begun`() throws {
        let link = MemoryLink(broker)
        // Nothing is in doubt: the first request causes the marker for which sends wait.
        broker.state[0].records = []
        broker.marker(in: 0, of: 1)
        let lane = try lane(over: link, concurrent: 1)
        ask("first")
        for _ in 0..<200 where channel.sends.isEmpty { try lane.turn() }
        channel.accept()
        try settle(lane)
        ask("a", "b")
        remove("b")
        try settle(lane)
        #expect(channel.sends.map(\.key) == [key("a")])
        channel.accept()
        try settle(lane)
        #expect(try events().sorted() == ["a test", "b ", "first test"] && channel.begun == 2)
        lane.close()
    }

    @Test func `an outcome of an earlier assignment is late, and the send is repeated`() throws {
        let link = MemoryLink(broker)
        let lane = try lane(over: link)
        ask("a")
        try settle(lane)
        let (reply, assignmentID) = (try #require(channel.replies.first), channel.sends[0].assignmentID)
        link.revoke(within: .zero)
        #expect(channel.cancelled == 1 && channel.sends.isEmpty)
        for _ in 0..<200 where channel.sends.isEmpty { try lane.turn() }
        #expect(channel.sends.map(\.attempt) == [2] && channel.sends[0].assignmentID != assignmentID)
        reply(.accepted)
        try settle(lane)
        #expect(try events().isEmpty && metric("carillon_channel_outcomes_late_total") == "1")
        channel.accept()
        try settle(lane)
        #expect(try events() == ["a test"])
        lane.close()
    }

    @Test func `a lane that ends cancels the sends in progress`() throws {
        let link = MemoryLink(broker)
        let lane = try lane(over: link)
        ask("a")
        try settle(lane)
        lane.close(after: LaneEnd.assignmentLost)
        #expect(channel.cancelled == 1)
    }

    @Test func `a lane that drains is woken by outcomes`() throws {
        let link = MemoryLink(broker)
        let lane = try lane(over: link)
        ask("a")
        try settle(lane)
        let before = link.waits.count
        link.whileWaiting = { channel.accept() }
        lane.drain()
        #expect(link.waits.count == before + 1 && broker.deliveries.count == 1)
        lane.close()
    }

    @Test func `at the bound of the channel time-sensitive notifications go before active and passive ones`() throws {
        let link = MemoryLink(broker)
        let lane = try lane(over: link, concurrent: 1)
        ask("first")
        try settle(lane)
        ask(for: "passive", level: "passive")
        ask(for: "active", level: "active")
        ask("plain")
        ask(for: "urgent", level: "timeSensitive")
        ask(for: "critical", level: "critical")
        try settle(lane)
        var order: [String] = []
        while !channel.sends.isEmpty {
            // A time-critical one is under way beside what the bound allows.
            order += channel.sends.map { "\($0.requestID)" }
            channel.accept()
            try settle(lane)
        }
        #expect(order == ["first", "urgent", "critical", "active", "plain", "passive"])
        lane.close()
    }

    @Test func `a rate spreads sends, and the lane wakes for the next one`() throws {
        let link = MemoryLink(broker)
        let lane = try lane(over: link, rate: 20)
        let began = link.now
        ask("a", "b", "c", "d", "e")
        var begins: [Duration] = []
        for _ in 0..<10_000 where begins.count < 5 {
            try lane.turn()
            while begins.count < channel.begun { begins.append(link.now - began) }
        }
        for (number, time) in begins.enumerated() {
            let earliest = Duration.milliseconds(50 * number)
            #expect(time >= earliest && time < earliest + .milliseconds(20), "\(begins)")
        }
        channel.accept()
        try settle(lane)
        #expect(try events().count == 5)
        lane.close()
    }

    @Test func `a notification that expires while it waits for the channel is not sent`() throws {
        let link = MemoryLink(broker)
        // Nothing is in doubt: what is in doubt is sent although it has expired.
        broker.state[0].records = []
        broker.marker(in: 0, of: 1)
        let lane = try lane(over: link, concurrent: 1)
        ask("first")
        for _ in 0..<200 where channel.sends.isEmpty { try lane.turn() }
        channel.accept()
        try settle(lane)
        ask("second")
        ask(for: "short", expiration: at(20_000))
        ask(for: "long", expiration: at(100_000))
        for _ in 0..<200 where channel.sends.isEmpty { try lane.turn() }
        try settle(lane)
        let began = link.now
        while link.now - began < .seconds(25) { try lane.turn() }
        #expect(channel.sends.map(\.key) == [key("second")])
        channel.accept()
        try settle(lane)
        #expect(channel.sends.map(\.key) == [key("long")])
        channel.accept()
        try settle(lane)
        #expect(try events().sorted() == ["first test", "long test", "second test", "short "] && channel.begun == 3)
        lane.close()
    }
}
