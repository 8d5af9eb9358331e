/// A record for `dead-letters`, of both services: the original bytes and the reason why they could not be processed. It
/// always fits.
///
/// It has the original's key, value and headers, followed by `carillon-reason`, `carillon-field` if a field caused the
/// error, and Spring's `kafka_dlt-original-topic`, `-partition` (4 bytes), `-offset` and `-timestamp` (8 bytes each),
/// all big-endian, `-timestamp-type`, `-consumer-group` and `kafka_dlt-exception-message`.
///
/// If that exceeds the record size limit, the largest of key, value and individual headers are omitted, one after the
/// other, until the rest fits. `carillon-omitted` then lists the omitted parts with their sizes in bytes:
/// `value=1048000,key=999850`, and `headers=` with the total size of their names and values. The origin locates the
/// complete record.
public struct DeadLetter: Sendable {
    /// A header; a null value stays null.
    public typealias Header = (name: String, value: [UInt8]?)

    /// The position of a record.
    public struct Origin: Sendable, Hashable {
        /// The source topic.
        public var topic: String
        /// The source partition.
        public var partition: Int32
        /// The record's offset.
        public var offset: Int64
        /// Milliseconds since 1970; nil if the record has none.
        public var timestamp: Int64?
        /// Kafka's name of the timestamp's type.
        public var timestampType: String
        /// The group that read it.
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

        /// The partition of its dead letter: the original's, modulo the number of partitions of `dead-letters`.
        public func deadLetterPartition(of count: Int32) -> Int32 { partition % max(1, count) }
    }

    /// Header with the ``ReasonCode``.
    public static let reasonHeader = "carillon-reason"
    /// Header with the offending field.
    public static let fieldHeader = "carillon-field"
    /// Header that lists the omitted parts.
    public static let omittedHeader = "carillon-omitted"
    /// Bytes kept of a topic's or group's name; Kafka allows 249 for a topic.
    static let nameBytes = 256

    /// The original key, or null when omitted.
    public private(set) var key: [UInt8]?
    /// The original value, or null when omitted.
    public private(set) var value: [UInt8]?
    /// The original's headers, then those with the reason. Headers of the original with Carillon's names are dropped,
    /// so that a record that fails twice shows the last reason.
    public private(set) var headers: [Header]

    /// The dead letter of a record.
    ///
    /// - Parameters:
    ///   - key: the original's; nil for none.
    ///   - value: the original's; nil for a tombstone.
    ///   - original: the original's headers, in order.
    ///   - error: why the record cannot be used.
    ///   - origin: where the record was.
    ///   - bound: the record size limit; from ``RecordBound/least`` on the dead letter fits.
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

    /// Omits the largest parts until the rest fits.
    ///
    /// - Returns: The remaining headers, and the one that lists the omitted parts.
    private mutating func omit(from headers: [Header], beyond room: Int) -> [Header] {
        var parts = headers.indices.map { (part: Part.header($0), size: Self.size(of: headers[$0])) }
        parts += [(.value, value?.count ?? 0), (.key, key?.count ?? 0)]
        // Among equal sizes the key goes last, and earlier headers go later.
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

    /// The longest header that lists omitted parts, with three numbers of at most 19 digits.
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

    /// The original's headers: all but those of this dead letter, and the mark of a signal that was sent on before.
    package static func originalHeaders(_ headers: [Header]) -> [Header] {
        headers.filter { !isOurs($0.name) && $0.name != SignalType.forwardedHeader }
    }

    private static func isOurs(_ name: String) -> Bool {
        [reasonHeader, fieldHeader, omittedHeader, "kafka_dlt-exception-message"].contains(name)
            || name.hasPrefix("kafka_dlt-original-")
    }

    private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}
