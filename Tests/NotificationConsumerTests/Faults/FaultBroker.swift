import Kafka
import LocalBroker
import NotificationModel
import NotificationState
import ServiceSupport
import Testing
import TestSupport

@testable import NotificationConsumer

/// An embedded broker with Carillon's topics; writes test records and reads results.
struct FaultBroker {
    let broker: LocalBroker
    let topics = TopicNames()
    let partitions: Int32

    init(partitions: Int32 = 4) throws {
        self.partitions = partitions
        let count = Int(partitions)
        broker = try LocalBroker(topics: [
            topics.requests: count, topics.signals: count, topics.devices: count, topics.tokens: count,
            topics.state: count, topics.deliveries: count,
            topics.deadLetters: 1,
        ])
    }

    var configuration: ConsumerServiceConfiguration {
        var configuration = ConsumerServiceConfiguration(bootstrapServers: broker.bootstrapServers)
        configuration.kafkaProperties = LocalBroker.recommendedConsumerProperties
        configuration.lanes = 1
        return configuration
    }

    /// Runs the body with the link of a lane, on a thread of its own.
    ///
    /// - Parameter properties: of Kafka's clients, besides the recommended ones.
    func withLink(
        _ properties: [String: String] = [:],
        _ body: @escaping @Sendable (KafkaLink) throws -> Void
    ) async throws {
        var configuration = configuration
        configuration.kafkaProperties.merge(properties) { $1 }
        try await KafkaThread.run(name: "link") { [configuration] in
            let link = try #require(
                try KafkaLink(
                    configuration: configuration,
                    guarantee: .atLeastOnce,
                    lane: 0,
                    stop: StopSignal(),
                    health: Health().component("lane"),
                    logger: quiet
                )
            )
            defer { link.close(within: .seconds(2)) }
            try body(link)
        }
    }

    func partition(of key: NotificationKey) -> Int32 {
        KafkaPartitioner.partition(forKey: key.recipientBytes, count: partitions)
    }

    // MARK: - Writing

    struct Record: Sendable {
        var topic: String
        var partition: Int32
        var key: [UInt8]?
        var value: [UInt8]?
    }

    /// - Parameter interval: seconds until it is due; nil for now.
    func request(_ name: String, interval: Double? = nil) -> Record {
        let key = key(name, recipient: "r\(name.utf8.reduce(0) { $0 &* 31 &+ Int($1) } & 15)")
        let trigger = interval.map { #","trigger":{"type":"timeInterval","timeInterval":\#($0)}"# } ?? ""
        return Record(
            topic: topics.requests,
            partition: partition(of: key),
            key: key.encoded,
            value: Array(#"{"requestId":"\#(name)"\#(trigger),"content":{"title":"T"}}"#.utf8)
        )
    }

    /// A changelog entry of a notification due in weeks.
    func entry(_ number: Int, in partition: Int32) -> Record {
        let due = SystemClock.now().adding(milliseconds: 30 * 86_400_000 + Int64(number))
        var entry = StateEntry()
        let schedule = IntervalSchedule(interval: 1000, anchor: due, repeats: false, misfire: nil, jitter: 0)
        entry.pending = .init(
            requestID: id("request-\(number)"),
            content: content,
            expiration: nil,
            trace: .none,
            timer: .scheduled(.interval(schedule), occurrence: due),
            due: due
        )
        let key = key("i\(number)", recipient: "recipient")
        return Record(topic: topics.state, partition: partition, key: key.encoded, value: entry.json)
    }

    func marker(in partition: Int32, offset: Int64 = 0) -> Record {
        let marker = StateMarker(
            offsets: [topics.requests: offset],
            wallTime: SystemClock.now(),
            partitions: partitions,
            timeZoneDataVersion: "2025b",
            lineage: "test-\(partition)"
        )
        return Record(topic: topics.state, partition: partition, key: StateMarker.key, value: marker.json)
    }

    /// - Parameter compression: the codec of the batches, which the broker stores as sent: 5 MiB per partition.
    func publish(_ records: [Record], compression: String = "gzip") async throws {
        try await KafkaThread.run(name: "publishes") {
            var client = broker.clientConfiguration()
            client.properties["compression.type"] = compression
            let producer = try KafkaLaneProducer(configuration: .init(client: client), logger: quiet)
            defer { producer.close(within: .seconds(5)) }
            var handles: [String: KafkaTopicHandle] = [:]
            for topic in Set(records.map(\.topic)) {
                // Waits until the client knows the topic.
                _ = try producer.partitionCount(of: topic, within: .seconds(120))
                handles[topic] = try producer.topic(topic)
            }
            for record in records {
                guard let topic = handles[record.topic] else { continue }
                try producer.enqueue(
                    topic: topic,
                    partition: record.partition,
                    key: record.key,
                    value: record.value,
                    headers: KafkaHeaderBuffer(),
                    tag: 0
                )
            }
            var failure: KafkaError?
            _ = producer.flush(within: .seconds(60)) { failure = failure ?? $0.error }
            if let failure { throw failure }
        }
    }

    // MARK: - Reading

    /// All records of a topic.
    func records(_ topic: String) async throws -> [KafkaConsumerRecord] {
        try await KafkaThread.run(name: "reads") {
            let consumer = try KafkaConsumer(configuration: .init(client: broker.clientConfiguration()), logger: quiet)
            defer { consumer.close(within: .seconds(2)) }
            var left: [Int32: Int64] = [:]
            var starts: [KafkaTopicPartition: Int64] = [:]
            for partition in 0..<(try consumer.partitionCount(of: topic, within: .seconds(120))) {
                let place = KafkaTopicPartition(topic: topic, partition: partition)
                let (low, high) = try consumer.watermarks(of: place, within: .seconds(120))
                if low < high { left[partition] = high }
                starts[place] = low
            }
            try consumer.assign(starts)
            var read: [KafkaConsumerRecord] = []
            while !left.isEmpty {
                guard let message = try consumer.poll(within: .seconds(120)) else { break }
                guard let end = left[message.partition] else { continue }
                if message.offset + 1 >= end { left[message.partition] = nil }
                if message.offset < end { read.append(message.record()) }
            }
            return read
        }
    }

    /// The number of records in the topics that a consumer service writes.
    func written() async throws -> Int {
        var count = 0
        for topic in [topics.state, topics.deliveries, topics.deadLetters] { count += try await records(topic).count }
        return count
    }

    /// Events by name, each with the ids of its requests and its `ce_id`s.
    func events(_ name: DeliveryEventName) async throws -> [(request: RequestID, id: String)] {
        try await records(topics.deliveries).filter {
            $0.header("ce_type") == "carillon.notification.\(name.rawValue).v1"
        }.map {
            (try DeliveryEvent(json: $0.value ?? [], name: name).requestID, $0.header("ce_id") ?? "")
        }
    }

    /// The `ce_id`s of all events.
    func eventIDs() async throws -> Set<String> {
        Set(try await records(topics.deliveries).compactMap { $0.header("ce_id") })
    }

    /// The number of pending entries in the changelog.
    func pendingInState() async throws -> Int {
        var last: [[UInt8]: [UInt8]] = [:]
        for record in try await records(topics.state) where record.key != StateMarker.key {
            last[record.key ?? []] = record.value
        }
        return try last.values.count { try StateEntry(json: $0, zones: zones.database).pending != nil }
    }
}
