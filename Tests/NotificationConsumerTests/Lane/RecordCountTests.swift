import Kafka
import NotificationModel
import ServiceSupport
import Testing

@testable import NotificationConsumer

/// What the metrics say of the records that a lane has read.
@Suite("Counts of records by topic")
struct RecordCountTests {
    private static let home = Int(KafkaPartitioner.partition(forKey: key("a").recipientBytes, count: 2))

    private static func run(_ broker: MemoryBroker) throws -> String {
        let registry = PrometheusRegistry()
        let lane = Lane.over(MemoryLink(broker), .atLeastOnce, registry: registry)
        do {
            try lane.start()
            for _ in 0..<300 { try lane.turn() }
            lane.close()
        } catch {
            lane.close(after: error)
            throw error
        }
        return registry.exposition()
    }

    private static func count(_ name: String, _ outcome: String, _ page: String) -> Int? {
        let prefix = "carillon_\(name)_total{outcome=\"\(outcome)\"} "
        return page.split(separator: "\n").first { $0.hasPrefix(prefix) }.flatMap { Int($0.dropFirst(prefix.count)) }
    }

    @Test func `registrations are counted by outcome, and as duplicates when they are read again after a crash`() throws
    {
        let broker = MemoryBroker(partitions: 2)
        let phone = try DeviceRegistration(platform: "fcm", token: "t").json
        for value in [phone, phone, nil, nil] {
            broker.devices[Self.home].records.append((key("phone").encoded, value))
        }
        let first = try Self.run(broker)
        for outcome in ["registered", "refreshed", "retired", "unknown"] {
            #expect(Self.count("device_registrations", outcome, first) == 1, "\(outcome)")
        }
        #expect(Self.count("device_registrations", "duplicate", first) == 0)
        #expect(Self.count("signals", "unknown", first) == 0)
        // The entries were written, and the marker was not.
        broker.marker(in: Int32(Self.home), of: 2)
        let events = broker.deliveries.count
        let second = try Self.run(broker)
        #expect(Self.count("device_registrations", "duplicate", second) == 3)
        #expect(Self.count("device_registrations", "unknown", second) == 1)
        #expect(Self.count("requests", "duplicate", second) == 0)
        #expect(broker.deliveries.count == events)
    }

    @Test func `a repeated receipt is a duplicate among the signals, a repeated request among the requests`() throws {
        let broker = MemoryBroker(partitions: 2)
        let receipt = ReceiptSignal(
            application: "shop",
            identifier: "order",
            requestID: id("q"),
            device: "phone",
            receipt: .opened
        )
        for offset in 0..<Int64(3) {
            broker.signals[Self.home].records.append((Array("ana".utf8), Signal.receipt(receipt).json))
            broker.signals[Self.home].types[offset] = .receipt
        }
        for _ in 0..<2 {
            let value = Array(#"{"requestId":"q","content":{"title":"T"}}"#.utf8)
            broker.requests[Self.home].records.append((key("order").encoded, value))
        }
        let page = try Self.run(broker)
        #expect(Self.count("signals", "duplicate", page) == 2)
        #expect(Self.count("requests", "duplicate", page) == 1)
    }
}
