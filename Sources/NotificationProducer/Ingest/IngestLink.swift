package import Kafka
package import NotificationModel

/// What the ingest needs of Kafka: one consumer of its inputs, and one producer. The shipping one is `KafkaIngestLink`; a
/// simulation brings its own, so that everything above runs unchanged against a simulated broker.
package protocol IngestLink: PublishingLink where Topic == IngestTopic, Offsets == [IngestPartition: Int64] {
    /// What it reads.
    var inputs: [IngestInput] { get }

    /// Joins the group. Hooks run inside `poll` and `close`. Reading begins at the group's offsets; `onRevoke` gets whether the
    /// partitions are lost already, and until when it may take.
    func subscribe(
        onAssign: @escaping (_ partitions: [IngestPartition]) -> Void,
        onRevoke: @escaping (_ partitions: [IngestPartition], _ lost: Bool, _ deadline: ContinuousClock.Instant) -> Void
    ) throws

    /// The next record of the inputs, if one comes in time; the second argument copies the whole record, for a dead
    /// letter.
    ///
    /// - Returns: False when none came.
    func poll(within time: Duration, _ apply: (IngestRecord, () -> KafkaConsumerRecord) -> Void) throws -> Bool

    /// Records of a partition that are still to be read, as last seen; nil when not known yet.
    ///
    /// - Parameter position: The offset after the last record that was read.
    func lag(of partition: IngestPartition, after position: Int64) -> Int64?

    /// Asks the broker for an answer of any kind.
    func probe(within time: Duration) throws(KafkaError)
}

/// What the ingest writes to.
package enum IngestTopic: Int, CaseIterable, Sendable {
    case requests, deadLetters
}

/// A record of an input, with its headers read and its event not yet.
package struct IngestRecord {
    package let partition: IngestPartition
    package let offset: Int64
    /// Milliseconds since 1970; nil when the broker gave none.
    package let timestamp: Int64?
    private let value: [UInt8]?
    private let reader: BusinessEventReader
    /// The value of ``EventScope/header``; nil without it.
    let scope: [UInt8]?

    /// - Parameters:
    ///   - reader: Has read the headers.
    ///   - scope: The value of the header that names the applications of the sender.
    package init(
        partition: IngestPartition,
        offset: Int64,
        timestamp: Int64?,
        value: [UInt8]?,
        reader: BusinessEventReader,
        scope: [UInt8]? = nil
    ) {
        self.scope = scope
        (self.partition, self.offset, self.timestamp) = (partition, offset, timestamp)
        (self.value, self.reader) = (value, reader)
    }

    init(_ message: borrowing KafkaMessage, of input: IngestInput) {
        var reader = BusinessEventReader()
        var scope: [UInt8]?
        message.forEachHeader { name, value in
            if EventScope.isHeader(name) { scope = value.map(Array.init) ?? [] }
            reader.add(name: name, value: value)
        }
        self.init(
            partition: IngestPartition(input, message.partition),
            offset: message.offset,
            timestamp: message.timestamp,
            value: message.value(),
            reader: reader,
            scope: scope
        )
    }

    /// - Throws: `ModelError` with the reason under which the record becomes a dead letter.
    func event() throws(ModelError) -> BusinessEvent { try reader.event(value: value) }
}
