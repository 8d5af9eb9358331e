import Kafka
import NotificationModel

/// What the ingest of business events needs to know.
struct IngestConfiguration: Sendable {
    var consumer: KafkaConsumerConfiguration
    var producer: KafkaProducerConfiguration
    var topics: TopicNames
    /// `ce_source` of what is produced.
    var source: String
    var defaultApplication: String
    /// How often offsets are committed.
    var commitInterval: Duration = .milliseconds(100)
    /// How long the drain at shutdown may take.
    var drainTimeout: Duration = .seconds(10)
    /// Events read whose offsets cannot be committed yet; at the bound partitions are paused.
    var maximumUncommittedEvents = 200_000
    /// How long to wait after a failure before the clients are made anew.
    var restartDelay: Duration = .seconds(1)
}
