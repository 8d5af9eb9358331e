import Kafka
import NotificationDelivery
import NotificationModel
import ServiceSupport
import Testing

@testable import NotificationConsumer

/// Timers of time-sensitive and critical notifications, beside a mass of others.
struct UrgentTimerTests {
    private static let urgent = Array(#"{"title":"T","interruptionLevel":"timeSensitive"}"#.utf8)[...]

    @Test func `what is urgent is loaded from the store before a mass that is due with it, and can fire before that`()
        throws
    {
        var bench = Bench()
        for number in 0..<50 { bench.apply(request("n\(number)", key("n\(number)"), interval(100))) }
        bench.apply(request("u", key("u"), interval(101), content: Self.urgent))
        try bench.commit()
        #expect(bench.center.residentCount == 0)
        #expect(try bench.center.refill(at: at(95_000), limit: 10) == 10)
        #expect(try bench.center.fireDue(at: at(200_000), limit: .max, urgentOnly: true).count == 1)
        #expect(bench.fire(200_000).first { $0.name == .delivered }?.requestID == id("u"))
        while try bench.center.refill(at: at(200_000), limit: 10) > 0 {}
        bench.fire(200_000)
        #expect(bench.events.count { $0.name == .delivered } == 51 && bench.center.pendingCount == 0)
    }

    @Test(arguments: [true, false])
    func `the next attempt at what is urgent can fire before a mass, as its first one`(isUrgent: Bool) throws {
        var bench = Bench(LifecycleRules(retention: 1_000_000, channels: ChannelRules(.webhook), repeatsEvents: false))
        bench.apply(request("u", key("u"), content: isUrgent ? Self.urgent : Array(#"{"title":"T"}"#.utf8)[...]))
        try bench.answer(.failed(retryAfter: nil))
        #expect(try bench.center.fireDue(at: at(200_000), limit: .max, urgentOnly: true).count == (isUrgent ? 1 : 0))
    }

    @Test(arguments: 0..<10)
    func `a mass that is due in one partition lets no urgent timer of another one wait`(number: Int) throws {
        let desk = try Desk(bound: 10)
        for name in 0..<30 { desk.ask("n\(name)", in: 1 - number % 2, "active", after: 60) }
        desk.ask("u", in: number % 2, "timeSensitive", after: 60)
        try desk.turn(number)
        try desk.turnUntilSent()
        #expect(desk.channel.sends.contains { $0.work.requestID == id("u") })
        desk.lane.close()
    }

    @Test func `a mass of urgent timers leaves a part to others`() throws {
        let desk = try Desk(bound: 1)
        desk.ask("first", in: 0, "active", after: 58)
        desk.ask("n", in: 0, "active", after: 59)
        for name in 0..<100 { desk.ask("u\(name)", in: 0, "timeSensitive", after: 60) }
        try desk.turnUntilSent()
        // All are due before the channel has answered.
        try desk.turn(5_000)
        var sent = 0
        while desk.channel.sends.first?.work.requestID != id("n"), sent < 100 {
            desk.channel.accept()
            try desk.turnUntilSent()
            sent += 1
        }
        #expect(sent > 1 && sent < 50)
        desk.lane.close()
    }

    /// A lane over two partitions, and a channel that holds what it gets.
    private struct Desk {
        let broker = MemoryBroker(partitions: 2)
        let channel = HeldChannel()
        let lane: Lane<MemoryLink>

        init(bound: Int) throws {
            for number in 0..<2 as Range<Int32> { broker.marker(in: number, of: 2, firedThrough: at(1_000_000)) }
            var configuration = ConsumerServiceConfiguration(bootstrapServers: [])
            configuration.lanes = 1
            (configuration.lane.concurrentSends, configuration.lane.outstandingSends) = (bound, bound)
            configuration.lane.sendTimeout = .seconds(100_000)
            lane = Lane.over(MemoryLink(broker), .atLeastOnce, configuration: configuration, channel: channel)
            try lane.start()
            try turn(10)
        }

        func ask(_ name: String, in partition: Int, _ level: String, after seconds: Int) {
            // A name whose recipient is at home there.
            let home = (0...).lazy.map { key(name, recipient: "r\($0)") }.first {
                $0.withRecipientBytes { KafkaPartitioner.partition(forKey: $0, count: 2) } == Int32(partition)
            }
            let text = #"""
                {"requestId":"\#(name)","content":{"title":"T","interruptionLevel":"\#(level)"},
                "trigger":{"type":"timeInterval","timeInterval":\#(seconds)}}
                """#
            if let home { broker.requests[partition].records.append((home.encoded, Array(text.utf8))) }
        }

        func turn(_ count: Int) throws {
            for _ in 0..<count { try lane.turn() }
        }

        func turnUntilSent() throws {
            for _ in 0..<100_000 where channel.sends.isEmpty { try lane.turn() }
        }
    }
}
