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
        #expect(try bench.center.fireDue(at: at(200_000), limit: .max, urgentOnly: true) == 1)
        #expect(bench.fire(200_000).first { $0.name == .delivered }?.requestID == id("u"))
        while try bench.center.refill(at: at(200_000), limit: 10) > 0 {}
        bench.fire(200_000)
        #expect(bench.events.count { $0.name == .delivered } == 51 && bench.center.pendingCount == 0)
    }

    @Test func `a mass that is due in one partition lets no urgent timer of another one wait, but in every tenth turn`()
        throws
    {
        var first = 0
        for number in 0..<20 where try isUrgentFirst(in: number % 2, after: number) { first += 1 }
        // The partitions take turns: half of them without a priority.
        #expect((16..<20).contains(first))
    }

    /// Whether the urgent one of a partition is among the first sends, when the other partition has a mass of others.
    private func isUrgentFirst(in partition: Int, after turns: Int) throws -> Bool {
        let broker = MemoryBroker(partitions: 2)
        for number in 0..<2 as Range<Int32> { broker.marker(in: number, of: 2, firedThrough: at(1_000_000)) }
        let channel = HeldChannel()
        var configuration = ConsumerServiceConfiguration(bootstrapServers: [])
        configuration.lanes = 1
        (configuration.concurrentSends, configuration.outstandingSends) = (10, 10)
        let link = MemoryLink(broker)
        let lane = Lane.over(link, .atLeastOnce, configuration: configuration, channel: channel)
        try lane.start()
        for _ in 0..<10 + turns { try lane.turn() }

        func ask(_ name: String, in partition: Int, _ level: String) {
            // A name whose recipient is at home there.
            let home = (0...).lazy.map { key(name, recipient: "r\($0)") }.first {
                $0.withRecipientBytes { KafkaPartitioner.partition(forKey: $0, count: 2) } == Int32(partition)
            }
            let text = #"""
                {"requestId":"\#(name)","content":{"title":"T","interruptionLevel":"\#(level)"},
                "trigger":{"type":"timeInterval","timeInterval":60}}
                """#
            if let home { broker.requests[partition].records.append((home.encoded, Array(text.utf8))) }
        }
        for number in 0..<30 { ask("n\(number)", in: 1 - partition, "active") }
        ask("u", in: partition, "timeSensitive")
        for _ in 0..<100_000 where channel.sends.isEmpty { try lane.turn() }
        defer { lane.close() }
        return channel.sends.contains { $0.work.requestID == id("u") }
    }
}
