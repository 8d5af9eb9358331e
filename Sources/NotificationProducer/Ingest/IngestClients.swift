import Kafka
import Logging
import NotificationModel
import ServiceSupport

/// The connected clients of one session: the topics are known, and with `exactly-once` the transactional id is
/// initialized.
struct IngestClients {
    let consumer: KafkaConsumer
    let lane: KafkaLaneProducer
    /// nil with `at-least-once`.
    let transactions: IngestTransactions?
    let requestPartitions: Int32
    let deadLetterPartitions: Int32

    /// Retries until the broker answers.
    ///
    /// - Returns: Nil when a stop was requested before that.
    /// - Throws: `KafkaError` that waiting cannot resolve.
    static func connect(
        _ configuration: IngestConfiguration,
        _ choice: GuaranteeChoice,
        _ ceiling: KafkaRecordCeiling,
        _ health: HealthComponent,
        _ stop: StopSignal,
        _ logger: Logger
    ) throws -> IngestClients? {
        let wait = BrokerWait(health: health, stop: stop, logger: logger)
        let consumer = try KafkaConsumer(configuration: configuration.consumer, logger: logger)
        var lane: KafkaLaneProducer?
        do {
            let clients = try connect(configuration, choice, ceiling, consumer, &lane, wait, logger)
            if clients == nil { close(consumer, lane) }
            return clients
        } catch {
            close(consumer, lane)
            throw error
        }
    }

    private static func connect(
        _ configuration: IngestConfiguration,
        _ choice: GuaranteeChoice,
        _ ceiling: KafkaRecordCeiling,
        _ consumer: KafkaConsumer,
        _ lane: inout KafkaLaneProducer?,
        _ wait: BrokerWait,
        _ logger: Logger
    ) throws -> IngestClients? {
        let topics = configuration.topics
        let found = try wait.until {
            _ = try consumer.partitionCount(of: topics.businessEvents, within: .seconds(2))
            let requests = try consumer.partitionCount(of: topics.requests, within: .seconds(2))
            let deadLetters = try consumer.partitionCount(of: topics.deadLetters, within: .seconds(2))
            return (requests, deadLetters, try choice.choose(for: consumer, logger))
        }
        guard let (requests, deadLetters, guarantee) = found else { return nil }
        var producer = configuration.producer
        if guarantee == .exactlyOnce { producer.transactionalID = configuration.transactionalID }
        let made = try KafkaLaneProducer(configuration: producer, ceiling: ceiling, logger: logger)
        lane = made
        // Otherwise the first records would wait for it.
        let isKnown: Void? = try wait.until {
            for topic in [topics.requests, topics.deadLetters] {
                _ = try made.partitionCount(of: topic, within: .seconds(2))
            }
        }
        guard isKnown != nil else { return nil }
        if guarantee == .exactlyOnce {
            let isReady: Void? = try wait.until({
                try made.initTransactions(within: .seconds(2))
            }) {
                KafkaTransactionPolicy.decision(after: $0, in: .initialize) == .repeatCall
            }
            guard isReady != nil else { return nil }
        }
        return IngestClients(
            consumer: consumer,
            lane: made,
            transactions: guarantee == .exactlyOnce ? IngestTransactions(made, consumer) : nil,
            requestPartitions: requests,
            deadLetterPartitions: deadLetters
        )
    }

    private static func close(_ consumer: KafkaConsumer, _ lane: KafkaLaneProducer?) {
        consumer.close(within: .seconds(1))
        lane?.close(within: .zero)
    }
}
