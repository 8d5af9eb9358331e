import Kafka
import ServiceSupport

/// The configurations of the service's Kafka clients.
extension ConsumerServiceConfiguration {
    /// After so long without an answer the group gives partitions to another member.
    var sessionTimeout: Duration {
        .milliseconds(shared.kafkaProperties["session.timeout.ms"].flatMap { Int64($0) } ?? 45_000)
    }

    /// After so long the broker aborts a transaction: an owner that stands still holds readers back no longer.
    var transactionTimeout: Duration { .seconds(10) }

    /// How long a commit is repeated before its outcome counts as unknown.
    var commitTimeout: Duration { .seconds(30) }

    /// For the lanes' consumers.
    func groupConsumer(lane: Int) -> KafkaConsumerConfiguration {
        var consumer = KafkaConsumerConfiguration(client: shared.client(groupID), groupID: groupID)
        // The marker says where to start; an offset that the broker does not hold must not be replaced in silence.
        consumer.offsetReset = .error
        consumer.revokeTimeout = min(shared.drainTimeout, sessionTimeout) / 2
        consumer.tellsEnd = true
        if shared.isInstanceNamed { consumer.client.properties["group.instance.id"] = "\(shared.instanceID)-\(lane)" }
        return consumer
    }

    /// For reading `state`.
    func stateConsumer(uncommitted: Bool) -> KafkaConsumerConfiguration {
        var consumer = KafkaConsumerConfiguration(client: shared.client(groupID))
        consumer.readsUncommitted = uncommitted
        consumer.tellsEnd = true
        consumer.client.properties["isolation.level"] = nil
        return consumer
    }

    /// Bytes that a checkpoint of a lane may write at most. Twice as many, and what one record adds, fit librdkafka's queue, so
    /// that none waits for room without end; and in a transaction it is less than what a broker of some MB/s writes in time.
    func largestCheckpoint(_ guarantee: DeliveryGuarantee) -> Int {
        let own = shared.kafkaProperties["queue.buffering.max.kbytes"].flatMap { Int($0) }
        let queue = min(own ?? .max, Self.queueKibibytes) * 1024
        return min(guarantee == .exactlyOnce ? 16 << 20 : 64 << 20, queue / 4)
    }

    private static let queueKibibytes = 256 * 1024

    /// For the lanes' producers: they wait for a broker that is away for as long as it takes, or as a transaction may.
    func laneProducer(_ guarantee: DeliveryGuarantee, lane: Int) -> KafkaProducerConfiguration {
        var producer = KafkaProducerConfiguration(client: shared.client(groupID))
        // Beyond the lane's own bound there must be room for what one checkpoint, or one removal of all, can publish.
        producer.maximumBufferedRecords = outstandingRecords * 2 + checkpointEntries * 2
        producer.maximumBufferedKibibytes = Self.queueKibibytes
        if guarantee == .exactlyOnce {
            producer.transactionalID = "\(groupID)-\(shared.instanceID)-\(lane)"
            producer.transactionTimeout = transactionTimeout
        }
        return producer
    }
}
