import Kafka
import NotificationModel
import ServiceSupport

/// Publishes what a lane has to say: events, dead letters and markers. It owns the buffers that they are written in, so
/// that an event costs no allocation of its own.
struct Emission<Link: LaneLink> {
    /// How long a full queue is waited for before the lane gives up and starts again from its marker.
    static var queueFullDeadline: Duration { .seconds(60) }

    /// About what headers and framing add to a record, in bytes.
    private static var overhead: Int { 300 }

    let link: Link
    /// The CloudEvents source: one constant a deployment.
    let source: [UInt8]
    let ledger: DeliveryLedger
    private let deliveries: Int32
    private let deadLetters: Int32
    private let bound: RecordBound

    private var value: [UInt8] = []
    private var headers = KafkaHeaderBuffer()

    init(link: Link, source: String, ledger: DeliveryLedger) {
        self.link = link
        self.source = Array(source.utf8)
        self.ledger = ledger
        deliveries = link.partitionCount(of: .deliveries)
        deadLetters = link.partitionCount(of: .deadLetters)
        bound = RecordBound(link.maximumRecordBytes)
        value.reserveCapacity(4096)
    }

    /// Publishes an event on `deliveries`, keyed and partitioned like the notification it tells of.
    mutating func publish(_ event: DeliveryEvent, _ trace: CarriedTrace, at now: Timestamp) throws {
        value.removeAll(keepingCapacity: true)
        event.write(to: &value)

        headers.removeAll()
        headers.append(EventHeader.specVersion, "1.0")
        headers.append(EventHeader.id) { event.writeEventID(to: &$0) }
        headers.append(EventHeader.source, source)
        headers.append(EventHeader.type, event.name.type)
        headers.append(EventHeader.time) { now.write(to: &$0) }
        headers.append(EventHeader.subject, event.key.encoded)
        headers.append(EventHeader.contentType, "application/json")
        if let traceparent = trace.traceparent { headers.append(EventHeader.traceparent, traceparent) }
        if let tracestate = trace.tracestate { headers.append(EventHeader.tracestate, tracestate) }

        let partition = event.key.withRecipientBytes {
            KafkaPartitioner.partition(forKey: $0, count: deliveries)
        }
        try enqueue(to: .deliveries, partition, key: event.key.encoded, value: value, tag: ledger.checkpoint.tag)
    }

    /// Publishes a record that cannot be used, with the reason.
    mutating func publishDeadLetter(
        _ record: KafkaConsumerRecord,
        because error: ModelError,
        group: String
    ) throws {
        let origin = DeadLetter.Origin(
            topic: record.topic,
            partition: record.partition,
            offset: record.offset,
            timestamp: record.timestamp,
            consumerGroup: group
        )
        let letter = DeadLetter(
            key: record.key,
            value: record.value,
            headers: record.headers.map { ($0.name, $0.value) },
            because: error,
            from: origin,
            within: bound
        )
        headers.removeAll()
        for (name, value) in letter.headers { headers.append(KafkaHeaderName(name), value) }
        try enqueue(
            to: .deadLetters,
            origin.deadLetterPartition(of: deadLetters),
            key: letter.key,
            value: letter.value,
            tag: ledger.checkpoint.tag
        )
    }

    /// Writes what became of an entry into the partition of `state`; a tombstone when nothing is left of it.
    mutating func publish(_ change: StoreChange, partition: Int32) throws {
        headers.removeAll()
        try enqueue(to: .state, partition, key: change.key, value: change.value, tag: .entry)
    }

    /// Writes the marker of one partition into the same partition of `state`.
    mutating func publish(_ marker: StateMarker, partition: Int32) throws {
        headers.removeAll()
        try enqueue(to: .state, partition, key: StateMarker.key, value: marker.json, tag: .marker)
    }

    private func enqueue(
        to topic: LaneTopic,
        _ partition: Int32,
        key: [UInt8]?,
        value: [UInt8]?,
        tag: Checkpoint.Tag
    ) throws {
        try waitingForRoom {
            try link.enqueue(
                to: topic,
                partition: partition,
                key: key,
                value: value,
                headers: headers,
                tag: tag.rawValue
            )
        }
        ledger.checkpoint.published(tag)
        let bytes = (key?.count ?? 0) + (value?.count ?? 0) + Self.overhead
        ledger.budget.add(bytes, isOfCut: tag == .entry || tag == .marker, at: link.now)
    }

    /// A full queue is backpressure: reports are served until there is room.
    private func waitingForRoom(_ enqueue: () throws -> Void) throws {
        var deadline: ContinuousClock.Instant?
        while true {
            do {
                return try enqueue()
            } catch let error as KafkaError where error.code == .queueFull {
                let end = deadline ?? link.now.advanced(by: Self.queueFullDeadline)
                guard link.now < end else { throw error }
                deadline = end
                link.serveReports(within: .milliseconds(100), ledger.settle)
            }
        }
    }
}

private enum EventHeader {
    static let specVersion: KafkaHeaderName = "ce_specversion"
    static let id: KafkaHeaderName = "ce_id"
    static let source: KafkaHeaderName = "ce_source"
    static let type: KafkaHeaderName = "ce_type"
    static let time: KafkaHeaderName = "ce_time"
    static let subject: KafkaHeaderName = "ce_subject"
    static let contentType: KafkaHeaderName = "content-type"
    static let traceparent: KafkaHeaderName = "traceparent"
    static let tracestate: KafkaHeaderName = "tracestate"
}

/// What is published and not yet acknowledged, shared by what publishes and what waits. One thread uses it.
final class DeliveryLedger {
    var checkpoint: Checkpoint
    var budget: CheckpointBudget
    /// The first record that the broker refused for good: the lane starts again from its marker.
    private(set) var failure: KafkaError?
    /// Where the newest marker of each partition is in `state`.
    private(set) var markerOffsets: [Int32: Int64] = [:]

    init(_ guarantee: DeliveryGuarantee, budget: CheckpointBudget = .init(largest: 16 << 20)) {
        checkpoint = Checkpoint(guarantee)
        self.budget = budget
    }

    /// Nothing is under way any more: what was is aborted.
    func reset() {
        checkpoint = Checkpoint(checkpoint.guarantee)
        (failure, markerOffsets) = (nil, [:])
    }

    func settle(_ report: KafkaDeliveryReport) {
        if let error = report.error {
            failure = failure ?? error
            return
        }
        let tag = Checkpoint.Tag(rawValue: report.tag)
        if tag == .marker { markerOffsets[report.partition] = report.offset }
        checkpoint.acknowledged(tag)
    }
}
