import Foundation
import Kafka
import Logging
import NotificationModel
import ServiceSupport

/// The ingest's consumer and producer, on librdkafka: connected, and with the topics known.
final class KafkaIngestLink: IngestLink, ClientLink {
    let consumer: KafkaConsumer
    let producer: KafkaLaneProducer
    let inputs: [IngestInput]
    /// Of the session.
    let guarantee: DeliveryGuarantee
    private let topics: TopicNames
    private let health: HealthComponent
    /// In the order of `IngestTopic`.
    private let targets: [Target]

    private struct Target {
        var handle: KafkaTopicHandle
        var partitions: Int32
    }

    /// Connects; retries until the broker answers.
    ///
    /// - Parameter inputs: What the rules want.
    /// - Returns: Nil when a stop was requested before that.
    /// - Throws: `KafkaError` that waiting cannot resolve.
    init?(
        _ configuration: IngestConfiguration,
        _ inputs: [IngestInput],
        _ choice: GuaranteeChoice,
        _ ceiling: KafkaRecordCeiling,
        _ health: HealthComponent,
        _ stop: StopSignal,
        _ logger: Logger
    ) throws {
        (topics, self.inputs, self.health) = (configuration.topics, inputs, health)
        let wait = BrokerWait(health: health, stop: stop, logger: logger)
        guard let chosen = try choice.choose(on: configuration.consumer.client, wait, logger) else { return nil }
        guarantee = chosen.guarantee
        var settings = configuration.consumer
        settings.client.adapt(toCluster: chosen.clusterID)
        consumer = try KafkaConsumer(configuration: settings, logger: logger)
        var made: KafkaLaneProducer?
        do {
            let found = try Self.connect(configuration, inputs, guarantee, ceiling, consumer, &made, wait, logger)
            guard let found, let made else {
                Self.close(consumer, made)
                return nil
            }
            (targets, producer) = (found, made)
        } catch {
            Self.close(consumer, made)
            throw error
        }
    }

    private static func connect(
        _ configuration: IngestConfiguration,
        _ inputs: [IngestInput],
        _ guarantee: DeliveryGuarantee,
        _ ceiling: KafkaRecordCeiling,
        _ consumer: KafkaConsumer,
        _ producer: inout KafkaLaneProducer?,
        _ wait: BrokerWait,
        _ logger: Logger
    ) throws -> [Target]? {
        let names = IngestTopic.allCases.map { $0.name(in: configuration.topics) }
        let found = try wait.until {
            for input in inputs {
                _ = try consumer.partitionCount(of: input.name(in: configuration.topics), within: .seconds(2))
            }
            return try names.map { try consumer.partitionCount(of: $0, within: .seconds(2)) }
        }
        guard let counts = found else { return nil }
        var settings = configuration.producer
        if guarantee == .exactlyOnce { settings.transactionalID = configuration.transactionalID }
        let made = try KafkaLaneProducer(configuration: settings, ceiling: ceiling, logger: logger)
        producer = made
        // Otherwise the first records would wait for it.
        let isKnown: Void? = try wait.until {
            for name in names { _ = try made.partitionCount(of: name, within: .seconds(2)) }
        }
        guard isKnown != nil else { return nil }
        return try zip(names, counts).map { Target(handle: try made.topic($0), partitions: $1) }
    }

    private static func close(_ consumer: KafkaConsumer, _ producer: KafkaLaneProducer?) {
        consumer.close(within: .seconds(1))
        producer?.close(within: .zero)
    }

    func wait(_ time: Duration) {
        health.beat()
        Thread.sleep(forTimeInterval: Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18)
    }

    // MARK: Events

    private func place(_ partition: IngestPartition) -> KafkaTopicPartition {
        KafkaTopicPartition(topic: partition.input.name(in: topics), partition: partition.number)
    }

    private func partitions(_ places: Set<KafkaTopicPartition>) -> [IngestPartition] {
        places.map { place in
            IngestPartition(place.topic == topics.responses ? .responses : .businessEvents, place.partition)
        }.sorted()
    }

    func subscribe(
        onAssign: @escaping (_ partitions: [IngestPartition]) -> Void,
        onRevoke: @escaping (_ partitions: [IngestPartition], _ lost: Bool, _ deadline: ContinuousClock.Instant) -> Void
    ) throws {
        try consumer.subscribe(
            to: inputs.map { $0.name(in: topics) },
            onAssign: { [unowned self] places in
                onAssign(partitions(places))
                return [:]
            },
            onRevoke: { [unowned self] places, lost, deadline in onRevoke(partitions(places), lost, deadline) }
        )
    }

    func poll(within time: Duration, _ apply: (IngestRecord, () -> KafkaConsumerRecord) -> Void) throws -> Bool {
        guard let message = try consumer.poll(within: time) else { return false }
        let isResponse = inputs.contains(.responses) && message.isOf(topics.responses)
        apply(IngestRecord(message, of: isResponse ? .responses : .businessEvents)) { message.record() }
        return true
    }

    func lag(of partition: IngestPartition, after position: Int64) -> Int64? {
        consumer.lag(of: place(partition), after: position)
    }

    func probe(within time: Duration) throws(KafkaError) {
        _ = try consumer.partitionCount(of: topics.businessEvents, within: time)
    }

    // MARK: Publishing

    func partitionCount(of topic: IngestTopic) -> Int32 { targets[topic.rawValue].partitions }

    func enqueue(_ record: LinkRecord<IngestTopic>) throws(KafkaError) {
        try producer.enqueue(
            topic: targets[record.topic.rawValue].handle,
            partition: record.partition,
            key: record.key,
            value: record.value,
            headers: record.headers,
            tag: record.tag
        )
    }

    func serveReports(within time: Duration, _ body: (KafkaDeliveryReport) -> Void) {
        health.beat()
        producer.serveReports(within: time, body)
    }

    // MARK: Making it durable

    private func places(_ offsets: [IngestPartition: Int64]) -> [KafkaTopicPartition: Int64] {
        Dictionary(uniqueKeysWithValues: offsets.map { (place($0), $1) })
    }

    func commitOffsets(_ offsets: [IngestPartition: Int64], within time: Duration?) throws(KafkaError) {
        try consumer.commit(places(offsets), within: time)
    }

    func sendOffsets(_ offsets: [IngestPartition: Int64], within time: Duration) throws(KafkaError) {
        try producer.sendOffsets(places(offsets), of: consumer, within: time)
    }

    func close(within time: Duration) {
        consumer.close(within: time)
        // What is not acknowledged by now is read again.
        producer.close(within: .zero)
    }
}

extension IngestTopic {
    func name(in topics: TopicNames) -> String {
        switch self {
        case .requests: topics.requests
        case .deadLetters: topics.deadLetters
        }
    }
}
