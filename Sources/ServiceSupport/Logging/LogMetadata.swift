/// The metadata keys of all log records, so that one name means one thing. Ids and places only: never contents, tokens or secrets.
public enum LogMetadata {
    /// What went wrong, from the error itself.
    public static let error = "error"
    /// A code of the model's closed list of reasons.
    public static let reason = "reason"
    /// An address that is bound or connected to.
    public static let host = "host"
    /// A port that is bound or connected to.
    public static let port = "port"
    /// A path in the file system.
    public static let file = "file"
    /// How long something took, in milliseconds.
    public static let milliseconds = "duration.ms"
    /// How many.
    public static let count = "count"
    /// A Kafka topic.
    public static let topic = "kafka.topic"
    /// A partition of that topic.
    public static let partition = "kafka.partition"
    /// An offset in that partition.
    public static let offset = "kafka.offset"
    /// A consumer group.
    public static let group = "kafka.group.id"
    /// The `client.id` of a Kafka client.
    public static let clientID = "kafka.client.id"
    /// The number of a worker that owns partitions.
    public static let lane = "lane"
    /// The id of a notification request.
    public static let requestID = "request.id"
    /// The id of a business event.
    public static let eventID = "event.id"
    /// The name of a rule.
    public static let rule = "rule"
}
