/// What a loop over Kafka needs of it beside what it reads: a clock, a producer, and how the work done becomes durable. The
/// shipping loops have librdkafka behind it; a simulation brings its own, so that everything above runs unchanged.
///
/// One thread uses it. Calls block at most as long as the caller says; each is one attempt, and what it throws is a classified
/// `KafkaError`.
package protocol PublishingLink: KafkaTransactionCalls {
    /// What the loop writes to.
    associatedtype Topic

    // MARK: Publishing

    /// How many partitions the topic has, as of the start.
    func partitionCount(of topic: Topic) -> Int32

    /// What a record may have, as librdkafka counts; see `RecordBound`.
    var maximumRecordBytes: Int { get }

    /// Hands a record over; never waits.
    ///
    /// - Throws: `.queueFull` as backpressure: serve reports and try again.
    func enqueue(_ record: LinkRecord<Topic>) throws(KafkaError)

    /// Records handed over and not yet reported.
    var outstanding: Int { get }

    /// Serves the reports that are there, waiting at most so long for the first.
    func serveReports(within time: Duration, _ body: (KafkaDeliveryReport) -> Void)

    // MARK: Reading

    /// Stops and goes on with reading all that is assigned.
    func pauseReading()
    func resumeReading()

    // MARK: Making it durable

    /// Commits group offsets outside of a transaction.
    ///
    /// - Parameter time: nil not to wait for the answer.
    func commitOffsets(_ offsets: Offsets, within time: Duration?) throws(KafkaError)

    /// Leaves the group, the revoke hook first, and frees what it holds.
    func close(within time: Duration)
}

/// A record on its way to a link. Public, so that other modules get it without a look-up of its metadata for each record: what is
/// `package` is specialized in its own module only.
public struct LinkRecord<Topic> {
    /// Where it goes.
    public var topic: Topic
    /// A partition of the topic.
    public var partition: Int32
    /// nil for no key, which differs from an empty one.
    public var key: [UInt8]?
    /// nil for a tombstone.
    public var value: [UInt8]?
    /// In order; names may repeat.
    public var headers: KafkaHeaderBuffer
    /// Returned in the report.
    public var tag: UInt

    /// A record with its own copies of key and value.
    public init(
        topic: Topic,
        partition: Int32,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: KafkaHeaderBuffer = KafkaHeaderBuffer(),
        tag: UInt
    ) {
        (self.topic, self.partition, self.tag) = (topic, partition, tag)
        (self.key, self.value, self.headers) = (key, value, headers)
    }
}

extension LinkRecord: Sendable where Topic: Sendable {}
