/// Metadata keys of log records, so that each name has one meaning. Ids and positions only: never contents, tokens or
/// secrets.
public enum LogMetadata {
    /// The error's description.
    public static let error = "error"
    /// A code of the model's closed list of reasons.
    public static let reason = "reason"
    /// A bound or remote address.
    public static let host = "host"
    /// A bound or remote port.
    public static let port = "port"
    /// A path in the file system.
    public static let file = "file"
    /// A number of things.
    public static let count = "count"
    /// A Kafka topic.
    public static let topic = "kafka.topic"
    /// A partition of that topic.
    public static let partition = "kafka.partition"
    /// A list of partitions of that topic.
    public static let partitions = "kafka.partitions"
    /// An offset in that partition.
    public static let offset = "kafka.offset"
    /// A consumer group.
    public static let group = "kafka.group.id"
    /// The number of a worker that owns partitions.
    public static let lane = "lane"
    /// The id of a notification request.
    public static let requestID = "request.id"
}
