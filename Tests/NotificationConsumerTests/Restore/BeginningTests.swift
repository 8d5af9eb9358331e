import Kafka
import LocalBroker
import NotificationModel
import NotificationState
import ServiceSupport
import Testing
import TestSupport

@testable import NotificationConsumer

/// Where reading starts in a partition without a marker.
@Suite(.timeLimit(.minutes(10)))
struct BeginningTests {
    private static func record(_ name: String) -> (key: [UInt8]?, value: [UInt8]?) {
        (key(name).encoded, Array(#"{"requestId":"\#(name)","content":{"title":"T"}}"#.utf8))
    }

    /// Two partitions, of which the second holds requests and is the lane's.
    private static func broker() -> MemoryBroker {
        let broker = MemoryBroker(partitions: 2)
        let partition = KafkaPartitioner.partition(forKey: key("a").recipientBytes, count: 2)
        broker.requests[Int(partition)].records = [record("a"), record("b")]
        return broker
    }

    private static let mine = KafkaPartitioner.partition(forKey: key("a").recipientBytes, count: 2)
    private static var other: Int32 { 1 - mine }

    /// - Returns: how many of the two requests were delivered.
    private static func run(
        _ broker: MemoryBroker,
        start: LaneConfiguration.Start = .refuse
    ) throws -> Int {
        var configuration = ConsumerServiceConfiguration(bootstrapServers: [])
        configuration.lane.start = start
        let lane = Lane.over(MemoryLink(broker, share: [mine]), .atLeastOnce, configuration: configuration)
        do {
            try lane.start()
            for _ in 0..<200 { try lane.turn() }
            lane.close()
        } catch {
            lane.close(after: error)
            throw error
        }
        return broker.deliveries.count
    }

    @Test func `an unused partition is read from its first request on, whatever other lanes have done`()
        throws
    {
        let broker = Self.broker()
        broker.marker(in: Self.other, of: 2)
        broker.committed[InputPartition(.requests, Self.other)] = 5
        #expect(try Self.run(broker) == 2)
    }

    @Test func `it refuses to start where the position would be a guess`() throws {
        let cases: [(MemoryBroker) -> Void] = [
            // Deleted requests may have been read.
            { $0.requests[Int(Self.mine)].low = 7 },
            // The changelog has lost its marker.
            { $0.state[Int(Self.mine)].records.append((key("a").encoded, nil)) },
            // The changelog was created again.
            { $0.committed[InputPartition(.requests, Self.mine)] = 1 },
        ]
        for prepare in cases {
            let broker = Self.broker()
            prepare(broker)
            let refusal = #expect(throws: ConsumerRefusal.self) { try Self.run(broker) }
            guard case .noMarker(_, Self.mine, 2) = refusal else {
                Issue.record("\(String(describing: refusal))")
                continue
            }
            #expect(refusal?.description.contains("`consumer.start` to `earliest`") == true)
            #expect(broker.deliveries.isEmpty)
        }
    }

    @Test func `with latest, requests are passed over, and registrations are not`() throws {
        let broker = Self.broker()
        broker.committed[InputPartition(.requests, Self.mine)] = 1
        let device = try NotificationKey(application: "shop", recipient: key("a").recipient, identifier: "phone")
        broker.devices[Int(Self.mine)].records = [
            (device.encoded, try DeviceRegistration(platform: "fcm", token: "abcdef").json)
        ]
        _ = try Self.run(broker, start: .latest)
        let events = broker.deliveries.map { String(decoding: $0, as: UTF8.self) }
        #expect(events.count == 1 && events.allSatisfy { $0.contains("\"device\":\"phone\"") }, "\(events)")
    }

    @Test(arguments: LaneConfiguration.Start.allCases, [false, true])
    func `an added partition is not treated as a new one`(
        start: LaneConfiguration.Start,
        isEmpty: Bool
    ) throws {
        let broker = Self.broker()
        if isEmpty { broker.requests[Int(Self.mine)].records = [] }
        broker.marker(in: Self.other, of: 1)
        #expect(throws: ConsumerRefusal.partitionCountChanged(Self.other, marker: 1, now: 2)) {
            try Self.run(broker, start: start)
        }
    }

    @Test func `requests from before the first start of the consumer service are delivered`() async throws {
        let kafka = try FaultBroker()
        try await kafka.publish((0..<40).map { kafka.request("q\($0)") })
        var configuration = kafka.configuration
        configuration.lanes = 2
        try await consuming(configuration) { consumer in
            try await eventually("all are delivered", orSay: { "\(consumer.health.notReady)" }) {
                try await kafka.events(.delivered).count == 40
            }
        }
        await kafka.broker.shutDown()
    }
}
