import Kafka
import LocalBroker
import NotificationModel
import NotificationState
import ServiceSupport
import Testing
import TestSupport

@testable import NotificationConsumer

/// A lane that takes a partition over reads the registrations of the backlog before the requests and signals.
struct DevicesFirstTests {
    private static let home = KafkaPartitioner.partition(forKey: key("a").recipientBytes, count: 2)
    private static let orders: [[InputTopic]] = [
        [.requests, .signals, .devices, .tokens], [.devices, .tokens, .requests, .signals],
        [.signals, .requests, .tokens, .devices],
    ]

    /// A broker with the devices of `ana`, and a notification for them that was written later.
    private static func broker(devices: Int = 3) -> MemoryBroker {
        let broker = MemoryBroker(partitions: 2)
        for number in 0..<devices { putDevice("phone\(number)", broker) }
        putRequest("q", broker)
        return broker
    }

    private static func putDevice(_ name: String, _ broker: MemoryBroker) {
        let value = #"{"platform":"web","token":"token-\#(name)"}"#
        broker.devices[Int(home)].records.append((key(name).encoded, Array(value.utf8)))
    }

    private static func putRequest(_ name: String, _ broker: MemoryBroker) {
        let value = #"{"requestId":"\#(name)","content":{"title":"T"}}"#
        broker.requests[Int(home)].timestamps[broker.requests[Int(home)].high] = at(10)
        broker.requests[Int(home)].records.append((key(name).encoded, Array(value.utf8)))
    }

    /// The devices that each delivered notification was for.
    private static func delivered(_ broker: MemoryBroker) -> [Int] {
        broker.deliveries.compactMap { event in
            guard let value = try? JSONValue.parse(event), value["requestId"] != nil else { return nil }
            return value["devices"]?.arrayValue?.count ?? 0
        }
    }

    private static func run(
        _ broker: MemoryBroker,
        turns: Int = 300,
        _ prepare: (MemoryLink) -> Void,
        afterTurn: () -> Void = {}
    ) throws {
        let link = MemoryLink(broker)
        prepare(link)
        let lane = Lane.over(link, .atLeastOnce)
        do {
            try lane.start()
            for _ in 0..<turns {
                try lane.turn()
                afterTurn()
            }
            lane.close()
        } catch {
            lane.close(after: error)
            throw error
        }
    }

    @Test(arguments: orders)
    func `a notification in the backlog is for the devices that were registered before it`(
        order: [InputTopic]
    ) throws {
        let broker = Self.broker()
        try Self.run(broker) { $0.order = order }
        #expect(Self.delivered(broker) == [3])
    }

    @Test func `requests wait for registrations that do not come for five seconds only`() throws {
        let broker = Self.broker()
        let began = broker.now
        var readAfter: Duration?
        let note = {
            if readAfter == nil, !Self.delivered(broker).isEmpty { readAfter = broker.now - began }
        }
        try Self.run(broker, turns: 4000, { $0.stuck = [.devices] }, afterTurn: note)
        let waited = try #require(readAfter)
        #expect(waited >= CatchUp.bound && waited < CatchUp.bound * 2)
    }

    @Test func `without registrations in the backlog nothing waits`() throws {
        let broker = Self.broker(devices: 0)
        try Self.run(broker, turns: 2) { $0.stuck = [.devices] }
        #expect(Self.delivered(broker) == [0])
    }

    @Test func `registrations end with the last that is visible, not with the end of the log`() throws {
        let catchUp = CatchUp(from: PerInput { _ in 10 }, to: PerInput { _ in 12 }, hasSends: false, at: .now)
        func isRead(_ position: Int64, lag: Int64?) -> Bool {
            catchUp.hasDevices(.at(position), at: .now) { input, _ in input == .devices ? lag : nil }
        }
        #expect(!isRead(10, lag: nil) && !isRead(10, lag: 1) && isRead(10, lag: 0) && isRead(12, lag: nil))
    }

    @Test func `resuming all, as after back-pressure, leaves what is paused by itself paused`() async throws {
        let kafka = try FaultBroker(partitions: 1)
        let device = FaultBroker.Record(
            topic: kafka.topics.devices,
            partition: 0,
            key: key("phone").encoded,
            value: Array(#"{"platform":"web","token":"t"}"#.utf8)
        )
        try await kafka.publish([device, kafka.request("q")])
        try await kafka.withLink { link in
            let requests: Set = [InputPartition(.requests, 0)]
            var read: [InputTopic] = []
            func poll(_ times: Int, until count: Int = .max) throws {
                for _ in 0..<times where read.count < count {
                    _ = try link.poll(within: .milliseconds(50)) { record, _ in read.append(record.input) }
                }
            }
            try link.subscribe(
                onAssign: { [unowned link] numbers in
                    link.pause(requests)
                    return Dictionary(uniqueKeysWithValues: InputPartition.all(of: numbers).map { ($0, 0) })
                },
                onRevoke: { _, _, _ in }
            )
            try poll(2400, until: 1)
            link.pauseReading()
            link.resumeReading()
            try poll(20)
            link.pauseReading()
            link.resume(requests)
            try poll(20)
            #expect(read == [.devices])
            link.resumeReading()
            try poll(2400, until: 2)
            #expect(read == [.devices, .requests])
        }
        await kafka.broker.shutDown()
    }
}
