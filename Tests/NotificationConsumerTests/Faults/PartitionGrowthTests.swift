import Kafka
import NotificationModel
import ServiceSupport
import Testing

@testable import NotificationConsumer

/// Partitions added while a lane runs are refused as at the start.
struct PartitionGrowthTests {
    private static func refusal(
        share: [Int32],
        grow: (MemoryBroker) -> Void
    ) throws -> ConsumerRefusal? {
        let broker = MemoryBroker(partitions: 4)
        let link = MemoryLink(broker)
        let lane = Lane.over(link, .atLeastOnce)
        try lane.start()
        for _ in 0..<10 { try lane.turn() }
        grow(broker)
        // The group rebalances.
        link.share = share
        let refusal = #expect(throws: ConsumerRefusal.self) {
            for _ in 0..<10 { try lane.turn() }
        }
        // It still shuts down properly.
        lane.close(after: refusal)
        return refusal
    }

    @Test func `both topics have more partitions`() throws {
        let refusal = try Self.refusal(share: Array(0..<8)) { $0.addPartitions(8) }
        #expect(refusal == .partitionCountChanged(0, marker: 4, now: 8))
    }

    @Test func `also for a lane with none of the new partitions, and for one with only new partitions`() throws {
        #expect(
            try Self.refusal(share: [0, 1]) { $0.addPartitions(8) } == .partitionCountChanged(0, marker: 4, now: 8)
        )
        #expect(
            try Self.refusal(share: [6, 7]) { $0.addPartitions(8) } == .partitionCountChanged(6, marker: 4, now: 8)
        )
    }

    @Test func `only requests has more partitions`() throws {
        let refusal = try Self.refusal(share: Array(0..<5)) { $0.requests.append(.init()) }
        #expect(
            refusal
                == .partitionCountsDiffer(
                    PartitionCounts(topics: ["requests": 5, "signals": 4, "devices": 4, "tokens": 4, "state": 4])
                )
        )
    }
}
