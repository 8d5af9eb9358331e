import Kafka
import ServiceSupport

/// The configurations of the service's Kafka clients.
extension ConsumerServiceConfiguration {
    /// After this time without an answer, the group reassigns the member's partitions.
    var sessionTimeout: Duration {
        .milliseconds(shared.kafkaProperties["session.timeout.ms"].flatMap { Int64($0) } ?? 45_000)
    }

    /// After this time the broker aborts a transaction, so that a suspended owner does not block readers any longer.
    var transactionTimeout: Duration { .seconds(10) }

    /// How long a commit is retried before its outcome counts as unknown.
    var commitTimeout: Duration { .seconds(30) }

    /// The configuration of the lanes' consumers.
    func groupConsumer(lane: Int) -> KafkaConsumerConfiguration {
        var consumer = KafkaConsumerConfiguration(client: shared.client(groupID), groupID: groupID)
        // The marker defines where to start; an offset that the broker does not hold must not be replaced silently.
        consumer.offsetReset = .error
        consumer.revokeTimeout = min(shared.drainTimeout, sessionTimeout) / 2
        consumer.tellsEnd = true
        if shared.isInstanceNamed { consumer.client.properties["group.instance.id"] = "\(shared.instanceID)-\(lane)" }
        return consumer
    }

    /// The configuration of the consumer that reads `state`.
    func stateConsumer(uncommitted: Bool) -> KafkaConsumerConfiguration {
        var consumer = KafkaConsumerConfiguration(client: shared.client(groupID))
        consumer.readsUncommitted = uncommitted
        consumer.tellsEnd = true
        consumer.client.properties["isolation.level"] = nil
        return consumer
    }

    /// The maximum bytes that a checkpoint of a lane may write. Twice as many, plus the bytes of one record, fit
    /// librdkafka's queue, so that no checkpoint waits indefinitely for space. In a transaction, a broker that writes
    /// some MB/s can store this amount in time.
    func largestCheckpoint(_ guarantee: DeliveryGuarantee) -> Int {
        let own = shared.kafkaProperties["queue.buffering.max.kbytes"].flatMap { Int($0) }
        let queue = min(own ?? .max, Self.queueKibibytes) * 1024
        return min(guarantee == .exactlyOnce ? 16 << 20 : 64 << 20, queue / 4)
    }

    private static let queueKibibytes = 256 * 1024

    /// The configuration of the lanes' producers: they wait for an unavailable broker without a limit, or as long as a
    /// transaction may last.
    func laneProducer(_ guarantee: DeliveryGuarantee, lane: Int) -> KafkaProducerConfiguration {
        var producer = KafkaProducerConfiguration(client: shared.client(groupID))
        // A lane writes to many partitions, and each batch is a request. It calls `endLinger` where it waits for the answers.
        producer.linger = .milliseconds(20)
        // In addition to the lane's own limit, there must be room for what one checkpoint, or one removal of all
        // entries, can publish.
        producer.maximumBufferedRecords = self.lane.outstandingRecords * 2 + self.lane.checkpointEntries * 2
        producer.maximumBufferedKibibytes = Self.queueKibibytes
        if guarantee == .exactlyOnce {
            producer.transactionalID = "\(groupID)-\(shared.instanceID)-\(lane)"
            producer.transactionTimeout = transactionTimeout
        }
        return producer
    }
}
