import Kafka
import NotificationModel
import ServiceSupport

/// What the ingest of business events needs to know.
struct IngestConfiguration: Sendable {
    var consumer: KafkaConsumerConfiguration
    var producer: KafkaProducerConfiguration
    var topics: TopicNames
    /// `ce_source` of what is produced.
    var source: String
    var defaultApplication: String
    /// nil: what the cluster can.
    var guarantee: DeliveryGuarantee?
    /// The setting `instance.id`.
    var instanceID: String
    /// Of this instance alone; used for `exactly-once`.
    var transactionalID: String
    /// How often offsets are committed, and the transaction with them.
    var commitInterval: Duration = .milliseconds(100)
    /// How long the coordinator may take to say that a transaction is committed, until its outcome counts as unknown.
    var commitTimeout: Duration = .seconds(10)
    /// Records of one transaction; at the bound it is committed before its time.
    var maximumTransactionRecords = 100_000
    /// How long the drain at shutdown may take.
    var drainTimeout: Duration = .seconds(10)
    /// Events read whose offsets cannot be committed yet; at the bound partitions are paused.
    var maximumUncommittedEvents = 200_000
    /// How long to wait after a failure before the clients are made anew.
    var restartDelay: Duration = .seconds(1)

    /// The same error where no other process has to do with it.
    func explain(_ error: any Error) -> any Error {
        guard KafkaError.isFencing(error) else { return error }
        return InstanceFencedError(instanceID: instanceID, name: transactionalID, cause: error)
    }
}
