import Kafka
import NotificationModel
import ServiceSupport

/// The configuration of the ingest of business events.
package struct IngestConfiguration: Sendable {
    var consumer: KafkaConsumerConfiguration
    var producer: KafkaProducerConfiguration
    var topics: TopicNames
    /// `ce_source` of the produced records.
    var source: String
    var defaultApplication: String
    /// nil for the strongest guarantee that the cluster supports.
    var guarantee: DeliveryGuarantee?
    /// The setting `instance.id`.
    var instanceID: String
    /// Unique to this instance; used for `exactly-once`.
    package var transactionalID: String
    /// How often offsets, and with them the transaction, are committed.
    var commitInterval: Duration = .milliseconds(100)
    /// How long a commit may take before its outcome counts as unknown.
    var commitTimeout: Duration = .seconds(10)
    /// Maximum number of records of a transaction; at the limit it is committed early.
    var maximumTransactionRecords = 100_000
    /// How long the drain at shutdown may take.
    var drainTimeout: Duration = .seconds(10)
    /// Events that were read and whose offsets cannot be committed yet; at the limit partitions are paused.
    var maximumUncommittedEvents = 200_000
    /// The pause after a failure before new clients are created.
    var restartDelay: Duration = .seconds(1)

    /// The same error, unless it means that another process uses the instance's id.
    func explain(_ error: any Error) -> any Error {
        guard KafkaError.isFencing(error) else { return error }
        return InstanceFencedError(instanceID: instanceID, name: transactionalID, cause: error)
    }
}
