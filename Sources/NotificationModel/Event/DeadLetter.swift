/// The headers of a record that goes to `dead-letters`; its key and value are those of the original.
///
/// Besides the original's own headers they are `carillon-reason`, `carillon-field` where one is to blame, and Spring's
/// `kafka_dlt-original-topic`, `-partition` (4 bytes), `-offset` and `-timestamp` (8 bytes each), all big-endian,
/// `-timestamp-type`, `-consumer-group` and `kafka_dlt-exception-message`.
public enum DeadLetter {
    /// Where a record came from.
    public struct Origin: Sendable, Hashable {
        /// Topic it was read from.
        public var topic: String
        /// Partition it was read from.
        public var partition: Int32
        /// Offset it was read at.
        public var offset: Int64
        /// Milliseconds since 1970, when it has one.
        public var timestamp: Int64?
        /// Kafka's name of the timestamp's type.
        public var timestampType: String
        /// Group that read it.
        public var consumerGroup: String?

        /// An origin. The timestamp's type is `CreateTime` or `LogAppendTime`.
        public init(
            topic: String,
            partition: Int32,
            offset: Int64,
            timestamp: Int64? = nil,
            timestampType: String = "CreateTime",
            consumerGroup: String? = nil
        ) {
            self.topic = topic
            self.partition = partition
            self.offset = offset
            self.timestamp = timestamp
            self.timestampType = timestampType
            self.consumerGroup = consumerGroup
        }
    }

    /// Header with the ``ReasonCode``.
    public static let reasonHeader = "carillon-reason"
    /// Header with the offending field.
    public static let fieldHeader = "carillon-field"

    /// The headers: first the original's, a null value kept null, then what is said about it.
    ///
    /// Headers of the original with one of our names are dropped, so that a record that dies twice says why it died last.
    public static func headers(
        original: [(name: String, value: [UInt8]?)],
        error: ModelError,
        origin: Origin
    ) -> [(name: String, value: [UInt8]?)] {
        var headers = original.filter { $0.name != reasonHeader && $0.name != fieldHeader && !isOurs($0.name) }
        headers.append((reasonHeader, Array(error.reason.rawValue.utf8)))
        if let field = error.field { headers.append((fieldHeader, Array(field.utf8))) }
        headers.append(("kafka_dlt-original-topic", Array(origin.topic.utf8)))
        headers.append(("kafka_dlt-original-partition", bigEndian(origin.partition)))
        headers.append(("kafka_dlt-original-offset", bigEndian(origin.offset)))
        if let timestamp = origin.timestamp {
            headers.append(("kafka_dlt-original-timestamp", bigEndian(timestamp)))
            headers.append(("kafka_dlt-original-timestamp-type", Array(origin.timestampType.utf8)))
        }
        if let group = origin.consumerGroup {
            headers.append(("kafka_dlt-original-consumer-group", Array(group.utf8)))
        }
        headers.append(("kafka_dlt-exception-message", Array(error.detail.utf8)))
        return headers
    }

    private static func isOurs(_ name: String) -> Bool {
        name.hasPrefix("kafka_dlt-original-") || name == "kafka_dlt-exception-message"
    }

    private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}
