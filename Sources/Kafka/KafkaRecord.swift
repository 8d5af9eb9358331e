/// A header of a record; names may repeat.
public struct KafkaHeader: Sendable, Hashable {
    /// UTF-8; ends at a zero byte.
    public var name: String
    /// nil for a null value, which differs from an empty one.
    public var value: [UInt8]?

    /// A header with bytes, or with a null value.
    public init(name: String, value: [UInt8]?) {
        self.name = name
        self.value = value
    }

    /// A header with text.
    public init(name: String, text: String) { self.init(name: name, value: Array(text.utf8)) }
}

/// A partition of a topic.
public struct KafkaTopicPartition: Sendable, Hashable, CustomStringConvertible {
    /// The topic's name.
    public var topic: String
    /// The number, from 0.
    public var partition: Int32

    /// The partition of that number, from 0.
    public init(topic: String, partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    /// `topic[partition]`.
    public var description: String { "\(topic)[\(partition)]" }
}

/// Offsets that stand for a position.
public enum KafkaOffset {
    /// The first record that the partition still has.
    public static let beginning: Int64 = -2
    /// After the last record.
    public static let end: Int64 = -1
}

/// A record to publish.
public struct KafkaProducerRecord: Sendable, Hashable {
    /// The topic's name.
    public var topic: String
    /// nil: by murmur2 of the key, or any partition when there is no key.
    public var partition: Int32?
    /// nil for no key, which differs from an empty one.
    public var key: [UInt8]?
    /// nil is a tombstone.
    public var value: [UInt8]?
    /// In the order in which they are written.
    public var headers: [KafkaHeader]
    /// Milliseconds since 1970; nil or 0 for now.
    public var timestamp: Int64?

    /// A record; only the topic is needed.
    public init(
        topic: String,
        partition: Int32? = nil,
        key: [UInt8]? = nil,
        value: [UInt8]?,
        headers: [KafkaHeader] = [],
        timestamp: Int64? = nil
    ) {
        self.topic = topic
        self.partition = partition
        self.key = key
        self.value = value
        self.headers = headers
        self.timestamp = timestamp
    }
}

/// The position of an acknowledged record.
public struct KafkaAcknowledgement: Sendable, Hashable {
    /// The topic's name.
    public var topic: String
    /// The partition of the record.
    public var partition: Int32
    /// The record's offset in the partition, from 0.
    public var offset: Int64
}

/// A consumed record, with copies of its bytes.
public struct KafkaConsumerRecord: Sendable, Hashable {
    /// The topic's name.
    public var topic: String
    /// The partition's number, from 0.
    public var partition: Int32
    /// The record's offset in the partition, from 0.
    public var offset: Int64
    /// Milliseconds since 1970; nil when the record has none.
    public var timestamp: Int64?
    /// nil for no key, which differs from an empty one.
    public var key: [UInt8]?
    /// nil for a tombstone.
    public var value: [UInt8]?
    /// In the order in which they were written.
    public var headers: [KafkaHeader]

    package init(
        topic: String,
        partition: Int32,
        offset: Int64,
        timestamp: Int64?,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: [KafkaHeader]
    ) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers
    }

    /// The value of the last header with this name, as text with invalid UTF-8 replaced; nil when the header is missing
    /// or its value is null.
    public func header(_ name: String) -> String? {
        headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The name of a header that the program knows: constant text, which costs no encoding and no reference counting.
public struct KafkaHeaderName: Sendable, ExpressibleByStringLiteral {
    let text: StaticString

    /// A name without a zero byte.
    public init(stringLiteral value: StaticString) { text = value }

    /// Calls the body with the name as librdkafka expects it, borrowed until the body returns.
    func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        // The text of a literal ends with a zero; one of a single character may have no text in memory.
        guard text.hasPointerRepresentation else { return text.description.withCString(body) }
        return text.utf8Start.withMemoryRebound(to: CChar.self, capacity: text.utf8CodeUnitCount + 1, body)
    }
}

/// Headers of a record to publish, in one flat buffer that is reused for the next record.
public struct KafkaHeaderBuffer: Sendable {
    /// The position of a header's name and value in the buffer; plain values avoid reference counting.
    struct Entry: Sendable {
        var name: Range<Int>
        /// nil for a null value.
        var value: Range<Int>?
    }

    private(set) var entries: [Entry] = []
    private(set) var bytes: [UInt8] = []

    /// No headers.
    public init() {}

    /// The number of headers.
    public var count: Int { entries.count }
    /// The size of all names and values in bytes.
    public var byteCount: Int { bytes.count }

    /// Copies of the headers, for a record that is published alone.
    public var headers: [KafkaHeader] {
        entries.map { entry in
            KafkaHeader(
                name: String(decoding: bytes[entry.name], as: UTF8.self),
                value: entry.value.map { Array(bytes[$0]) }
            )
        }
    }

    /// Removes the headers and keeps the memory.
    public mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
    }

    /// Adds a header; the closure appends its value, and must not remove bytes that are there already.
    public mutating func append(_ name: KafkaHeaderName, writing: (inout [UInt8]) -> Void) {
        append(name: { bytes in name.text.withUTF8Buffer { bytes.append(contentsOf: $0) } }, writing)
    }

    private mutating func append(name: (inout [UInt8]) -> Void, _ writing: (inout [UInt8]) -> Void) {
        let start = bytes.count
        name(&bytes)
        let name = start..<bytes.count
        writing(&bytes)
        guard bytes.count >= name.upperBound else {
            // The closure broke the rule and removed bytes: do not read past the end.
            let end = bytes.count
            entries.removeAll { ($0.value ?? $0.name).upperBound > end }
            return
        }
        entries.append(Entry(name: name, value: name.upperBound..<bytes.count))
    }

    /// Adds a header.
    public mutating func append(_ name: KafkaHeaderName, _ value: [UInt8]) {
        append(name) { $0.append(contentsOf: value) }
    }

    /// Adds a header of any name; nil is a null value.
    public mutating func append(_ header: KafkaHeader) {
        append(name: { $0.append(contentsOf: header.name.utf8) }) { bytes in
            if let value = header.value { bytes.append(contentsOf: value) }
        }
        if header.value == nil { entries[entries.count - 1].value = nil }
    }

    /// Adds a header with constant text.
    public mutating func append(_ name: KafkaHeaderName, _ value: StaticString) {
        append(name) { bytes in value.withUTF8Buffer { bytes.append(contentsOf: $0) } }
    }
}
