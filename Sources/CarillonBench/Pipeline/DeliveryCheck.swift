import Kafka
import LocalBroker
import Logging

/// What came out, independent of the order between partitions: two subjects did the same work when these are equal.
struct DeliveryCheck: Equatable, Sendable {
    var records = 0
    /// The sum of a hash of each record's partition, key, value and headers; without `ce_time`, which differs by nature.
    var digest: UInt64 = 0

    /// Reads the whole topic; blocking.
    ///
    /// - Parameter expected: how many records each partition should have.
    /// - Throws: ``BenchmarkError`` when the broker has thrown some away, or some are missing or too many.
    init(reading topic: String, expected: [Int], on broker: LocalBroker, logger: Logger) throws {
        let consumer = try KafkaConsumer(
            configuration: .init(client: broker.clientConfiguration(clientID: "carillon-bench-check")),
            logger: logger
        )
        defer { consumer.close(within: .seconds(2)) }
        var starts: [KafkaTopicPartition: Int64] = [:]
        for (partition, count) in expected.enumerated() {
            let place = KafkaTopicPartition(topic: topic, partition: Int32(partition))
            let (low, high) = try consumer.watermarks(of: place, within: .seconds(10))
            guard low == 0 else {
                throw BenchmarkError("the embedded broker threw \(low) events of \(place) away: use fewer records")
            }
            guard high == Int64(count) else {
                throw BenchmarkError("\(place) has \(high) events for \(count) requests")
            }
            starts[place] = 0
        }
        try consumer.assign(starts)
        let total = expected.reduce(0, +)
        while records < total {
            guard let message = try consumer.poll(within: .seconds(10)) else {
                throw BenchmarkError("only \(records) of \(total) events of \(topic) could be read")
            }
            var hash = FNV1a()
            hash.combine(UInt64(message.partition))
            hash.combine(message.key() ?? [])
            hash.combine(message.value() ?? [])
            for header in message.headers() where header.name != "ce_time" {
                hash.combine(Array(header.name.utf8))
                hash.combine(header.value ?? [])
            }
            digest &+= hash.value
            records += 1
        }
    }
}

/// The hash of Fowler, Noll and Vo, 64 bits, 1a; each piece is closed by its length.
private struct FNV1a {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func combine(_ bytes: [UInt8]) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
        combine(UInt64(bytes.count))
    }

    mutating func combine(_ number: UInt64) {
        for shift in stride(from: 0 as UInt64, to: 64, by: 8) {
            value = (value ^ (number >> shift & 0xFF)) &* 0x100_0000_01B3
        }
    }
}
