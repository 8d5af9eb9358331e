import Kafka
import LocalBroker
import NotificationModel
import NotificationState
import ServiceSupport
import Testing

@testable import NotificationConsumer

/// Batches of the producer that fill slowly. Over the link in memory, time is the broker's.
struct LingerTests {
    /// A lane that has published the event of one request, whose records wait for 5 s.
    private static func lane(_ guarantee: DeliveryGuarantee) throws -> (MemoryBroker, MemoryLink, Lane<MemoryLink>) {
        let broker = MemoryBroker(partitions: 1)
        broker.marker(in: 0, of: 1)
        broker.requests[0].records.append(
            (key("order").encoded, Array(#"{"requestId":"q","content":{"title":"T"}}"#.utf8))
        )
        let link = MemoryLink(broker, transactionTimeout: guarantee == .exactlyOnce ? .seconds(10) : nil)
        link.linger = .seconds(5)
        let lane = Lane.over(link, guarantee)
        try lane.start()
        while link.outstanding == 0 { try lane.turn() }
        return (broker, link, lane)
    }

    private static func isCommitted(_ broker: MemoryBroker) -> Bool {
        broker.committed[InputPartition(.requests, 0)] == 1
    }

    @Test func `a transaction ends without waiting for its last batches to fill`() throws {
        let (broker, _, lane) = try Self.lane(.exactlyOnce)
        let start = broker.now
        while !Self.isCommitted(broker) { try lane.turn() }
        #expect(broker.now - start < .seconds(1))
        lane.close()
    }

    @Test(arguments: DeliveryGuarantee.allCases)
    func `a partition is given up without waiting for batches to fill`(guarantee: DeliveryGuarantee) throws {
        let (broker, link, lane) = try Self.lane(guarantee)
        let start = broker.now
        link.revoke(within: .seconds(60))
        #expect(Self.isCommitted(broker) && broker.now - start < .seconds(1))
        lane.close()
    }

    @Test func `the link lets the producer send a batch that is not full`() async throws {
        let kafka = try FaultBroker(partitions: 1)
        try await kafka.withLink(["linger.ms": "600000"]) { link in
            _ = try link.countPartitions(within: .seconds(60))
            try link.enqueue(LinkRecord(topic: .deliveries, partition: 0, key: [1], value: [2], tag: 7))
            var reported: [UInt] = []
            let deadline = ContinuousClock.now.advanced(by: .seconds(60))
            while reported.isEmpty, ContinuousClock.now < deadline {
                link.endLinger()
                link.serveReports(within: .milliseconds(10)) { if $0.error == nil { reported.append($0.tag) } }
            }
            #expect(reported == [7])
        }
        await kafka.broker.shutDown()
    }
}
