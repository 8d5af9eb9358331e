/// A record for `dead-letters`, of both services: what was read, as it came, and why it could not be used. It always fits.
///
/// Its key and value are the original's, and so are its headers, which are followed by `carillon-reason`, `carillon-field` where one
/// is to blame, and Spring's `kafka_dlt-original-topic`, `-partition` (4 bytes), `-offset` and `-timestamp` (8 bytes each), all
/// big-endian, `-timestamp-type`, `-consumer-group` and `kafka_dlt-exception-message`.
///
/// Where that is more than a record may carry, the largest of key, value and single headers are left out, one after the
/// other, until the rest fits. `carillon-omitted` then says what is missing, with its bytes: `value=1048000,key=999850`, and
/// `headers=` with the bytes of their names and values in all. The origin says where the whole is.
public struct DeadLetter: Sendable {
    /// A header; a null value stays null.
    public typealias Header = (name: String, value: [UInt8]?)

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

        /// The partition of its dead letter: its own, modulo the number of those of `dead-letters`.
        public func deadLetterPartition(of count: Int32) -> Int32 { partition % max(1, count) }
    }

    /// Header with the ``ReasonCode``.
    public static let reasonHeader = "carillon-reason"
    /// Header with the offending field.
    public static let fieldHeader = "carillon-field"
    /// Header with what was left out.
    public static let omittedHeader = "carillon-omitted"
    /// Bytes of the names of topic and group that are kept; Kafka allows 249 for a topic.
    static let nameBytes = 256

    /// The original's, or null when it was left out.
    public private(set) var key: [UInt8]?
    /// The original's, or null when it was left out.
    public private(set) var value: [UInt8]?
    /// First the original's, then what is said about it. Headers of the original with one of our names are dropped, so that a
    /// record that dies twice says why it died last.
    public private(set) var headers: [Header]

    /// The dead letter of a record.
    ///
    /// - Parameter bound: of what is published; from ``RecordBound/least`` on the dead letter fits.
    public init(
        key: [UInt8]?,
        value: [UInt8]?,
        headers original: [Header],
        because error: ModelError,
        from origin: Origin,
        within bound: RecordBound
    ) {
        (self.key, self.value) = (key, value)
        let kept = original.filter { !Self.isOurs($0.name) }
        let own = Self.ownHeaders(error, origin)
        headers = kept + own
        guard RecordBound.size(key: key, value: value, headers: headers) > bound.bytes else { return }
        headers = omit(from: kept, beyond: bound.bytes - RecordBound.size(key: nil, value: nil, headers: own)) + own
    }

    private enum Part {
        case key, value
        case header(Int)
    }

    /// Leaves out the largest until the rest has no more than so many bytes.
    ///
    /// - Returns: The headers that are left, and the one that says what is missing.
    private mutating func omit(from headers: [Header], beyond room: Int) -> [Header] {
        var parts = headers.indices.map { (part: Part.header($0), size: Self.size(of: headers[$0])) }
        parts += [(.value, value?.count ?? 0), (.key, key?.count ?? 0)]
        // Of equal ones the key is the last to go, and the first header.
        let bySize = parts.enumerated().sorted { left, right in
            if left.element.size != right.element.size { return left.element.size > right.element.size }
            if case .key = left.element.part { return false }
            if case .key = right.element.part { return true }
            return left.offset > right.offset
        }
        var size = parts.reduce(0) { $0 + $1.size } + Self.longestOmission
        var (omitted, omittedHeaders): ([String], Set<Int>) = ([], [])
        var headerBytes = 0
        for (_, (part, bytes)) in bySize {
            guard size > room else { break }
            size -= bytes
            switch part {
            case .value:
                omitted.append("value=\(bytes)")
                value = nil
            case .key:
                omitted.append("key=\(bytes)")
                key = nil
            case .header(let index):
                omittedHeaders.insert(index)
                headerBytes += bytes - RecordBound.headerOverhead
            }
        }
        if !omittedHeaders.isEmpty { omitted.append("headers=\(headerBytes)") }
        let left = headers.indices.filter { !omittedHeaders.contains($0) }.map { headers[$0] }
        return left + [(Self.omittedHeader, Array(omitted.joined(separator: ",").utf8))]
    }

    private static func size(of header: Header) -> Int {
        RecordBound.headerOverhead + header.name.utf8.count + (header.value?.count ?? 0)
    }

    /// Of the header that says what is missing, with three numbers of at most 19 digits.
    private static let longestOmission = size(
        of: (omittedHeader, Array("value=,key=,headers=".utf8) + Array(repeating: 0x39, count: 3 * 19))
    )

    private static func ownHeaders(_ error: ModelError, _ origin: Origin) -> [Header] {
        func text(_ text: String) -> [UInt8] { Array(ModelError.bounded(text, nameBytes).utf8) }
        var headers: [Header] = [(reasonHeader, Array(error.reason.rawValue.utf8))]
        if let field = error.field { headers.append((fieldHeader, Array(field.utf8))) }
        headers.append(("kafka_dlt-original-topic", text(origin.topic)))
        headers.append(("kafka_dlt-original-partition", bigEndian(origin.partition)))
        headers.append(("kafka_dlt-original-offset", bigEndian(origin.offset)))
        if let timestamp = origin.timestamp {
            headers.append(("kafka_dlt-original-timestamp", bigEndian(timestamp)))
            headers.append(("kafka_dlt-original-timestamp-type", text(origin.timestampType)))
        }
        if let group = origin.consumerGroup { headers.append(("kafka_dlt-original-consumer-group", text(group))) }
        headers.append(("kafka_dlt-exception-message", Array(error.detail.utf8)))
        return headers
    }

    private static func isOurs(_ name: String) -> Bool {
        [reasonHeader, fieldHeader, omittedHeader, "kafka_dlt-exception-message"].contains(name)
            || name.hasPrefix("kafka_dlt-original-")
    }

    private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}
