import Kafka
import NotificationModel
import NotificationState
import ServiceSupport

/// Publishes events, dead letters and markers of a lane. It owns the buffers in which they are encoded, so that an
/// event needs no allocation of its own.
struct Emission<Link: LaneLink> {
    /// How long to wait for a full queue before the lane gives up and restarts from its marker.
    static var queueFullDeadline: Duration { .seconds(60) }

    /// The approximate size of headers and framing of a record, in bytes.
    private static var overhead: Int { 300 }

    /// The most bytes of a record besides its value: the key twice, trace, source and framing.
    private static var aroundValue: Int { 8 << 10 }

    let link: Link
    /// The CloudEvents source: one constant per deployment.
    let source: [UInt8]
    let ledger: DeliveryLedger
    private let deliveries: Int32
    private let deadLetters: Int32
    private let responses: Int32
    private let bound: RecordBound

    private var value: [UInt8] = []
    private var headers = KafkaHeaderBuffer()

    init(link: Link, source: String, ledger: DeliveryLedger) {
        self.link = link
        self.source = Array(source.utf8)
        self.ledger = ledger
        deliveries = link.partitionCount(of: .deliveries)
        deadLetters = link.partitionCount(of: .deadLetters)
        responses = link.partitionCount(of: .responses)
        bound = RecordBound(link.maximumRecordBytes)
        value.reserveCapacity(4096)
    }

    /// Publishes an event on `deliveries`, with the key and partition of its notification.
    ///
    /// - Returns: Whether it is whole: what does not fit a record is left out.
    @discardableResult
    mutating func publish(_ event: DeliveryEvent, _ trace: CarriedTrace, at now: Timestamp) throws -> Bool {
        value.removeAll(keepingCapacity: true)
        event.write(to: &value)
        let isWhole = value.count <= valueBytes
        if !isWhole { value = event.shortened(to: valueBytes).json }
        writeHeaders(event.name.type, of: event.key, trace, at: now) { event.writeEventID(to: &$0) }
        try enqueue(to: .deliveries, event.key, count: deliveries)
        return isWhole
    }

    /// Publishes on `responses` what a person did with a notification.
    ///
    /// - Returns: As above.
    @discardableResult
    mutating func publish(_ event: ResponseEvent, _ trace: CarriedTrace, at now: Timestamp) throws -> Bool {
        value.removeAll(keepingCapacity: true)
        event.write(to: &value)
        let isWhole = value.count <= valueBytes
        if !isWhole { value = event.shortened(to: valueBytes).json }
        writeHeaders(ResponseEvent.type, of: event.key, trace, at: now) { event.writeEventID(to: &$0) }
        try enqueue(to: .responses, event.key, count: responses)
        return isWhole
    }

    private var valueBytes: Int { bound.bytes - Self.aroundValue }

    /// Publishes on `deliveries` what happened to a device.
    mutating func publish(_ event: DeviceEvent, _ trace: CarriedTrace, at now: Timestamp) throws {
        value = event.json
        writeHeaders(event.name.type, of: event.key, trace, at: now) { event.eventID.write(to: &$0) }
        try enqueue(to: .deliveries, event.key, count: deliveries)
    }

    /// Publishes on `deliveries` what a channel tells of itself, under the application.
    mutating func publish(_ event: ChannelEvent, at now: Timestamp) throws {
        let key = try CategoryKey.bytes(application: event.application)
        headers.removeAll()
        headers.append(EventHeader.specVersion, "1.0")
        headers.append(EventHeader.id) { event.eventID.write(to: &$0) }
        headers.append(EventHeader.source, source)
        headers.append(EventHeader.type, event.name.type)
        headers.append(EventHeader.time) { now.write(to: &$0) }
        headers.append(EventHeader.subject, key)
        headers.append(EventHeader.contentType, "application/json")
        try enqueue(
            LinkRecord(
                topic: .deliveries,
                partition: KafkaPartitioner.partition(forKey: Array(event.application.utf8), count: deliveries),
                key: key,
                value: event.json,
                headers: headers,
                tag: ledger.checkpoint.tag.rawValue
            )
        )
    }

    /// Publishes who has registered a token, or has it no more, under the token's hash.
    mutating func publish(_ claim: TokenClaim, token: String, _ trace: CarriedTrace) throws {
        guard link.partitionCount(of: .tokens) == link.inputPartitions else { return }
        headers.removeAll()
        writeTrace(trace)
        let key = Array(token.utf8)
        try enqueue(
            LinkRecord(
                topic: .tokens,
                partition: KafkaPartitioner.partition(forKey: key, count: link.inputPartitions),
                key: key,
                value: claim.json,
                headers: headers,
                tag: ledger.checkpoint.tag.rawValue
            )
        )
    }

    /// Publishes a signal about another recipient to that recipient's partition.
    mutating func publish(_ signal: Signal, to recipient: String, _ trace: CarriedTrace, at now: Timestamp) throws {
        let key = try SignalKey.bytes(recipient: recipient)
        value = signal.json
        let id = RequestID.derive(
            caller: "signal",
            idempotencyKey: "\(recipient) \(String(decoding: value, as: UTF8.self))"
        )
        headers.removeAll()
        headers.append(EventHeader.specVersion, "1.0")
        headers.append(EventHeader.id, Array("\(id)".utf8))
        headers.append(EventHeader.source, source)
        headers.append(EventHeader.type, Array(signal.type.eventType.utf8))
        headers.append(EventHeader.time) { now.write(to: &$0) }
        headers.append(EventHeader.subject, key)
        headers.append(EventHeader.contentType, "application/json")
        writeTrace(trace)
        try enqueue(
            LinkRecord(
                topic: .signals,
                partition: KafkaPartitioner.partition(forKey: Array(recipient.utf8), count: link.inputPartitions),
                key: key,
                value: value,
                headers: headers,
                tag: ledger.checkpoint.tag.rawValue
            )
        )
    }

    private mutating func writeHeaders(
        _ type: StaticString,
        of key: NotificationKey,
        _ trace: CarriedTrace,
        at now: Timestamp,
        id: (inout [UInt8]) -> Void
    ) {
        headers.removeAll()
        headers.append(EventHeader.specVersion, "1.0")
        headers.append(EventHeader.id, writing: id)
        headers.append(EventHeader.source, source)
        headers.append(EventHeader.type, type)
        headers.append(EventHeader.time) { now.write(to: &$0) }
        headers.append(EventHeader.subject, key.encoded)
        headers.append(EventHeader.contentType, "application/json")
        writeTrace(trace)
    }

    private mutating func writeTrace(_ trace: CarriedTrace) {
        if let traceparent = trace.traceparent { headers.append(EventHeader.traceparent, traceparent) }
        if let tracestate = trace.tracestate { headers.append(EventHeader.tracestate, tracestate) }
    }

    /// The record that was written, to the partition of its recipient.
    private func enqueue(to topic: LaneTopic, _ key: NotificationKey, count: Int32) throws {
        try enqueue(
            LinkRecord(
                topic: topic,
                partition: key.withRecipientBytes { KafkaPartitioner.partition(forKey: $0, count: count) },
                key: key.encoded,
                value: value,
                headers: headers,
                tag: ledger.checkpoint.tag.rawValue
            )
        )
    }

    /// Publishes a dead letter: a rejected record and the reason.
    func publishDeadLetter(
        _ record: KafkaConsumerRecord,
        because error: ModelError,
        group: String
    ) throws {
        try enqueue(
            DeadLetter.record(
                of: record,
                because: error,
                group: group,
                within: bound,
                to: .deadLetters,
                partitions: deadLetters,
                tag: ledger.checkpoint.tag.rawValue
            )
        )
    }

    /// Whether a signal fits a record with the header of one that was sent on.
    func canForward(_ record: KafkaConsumerRecord) -> Bool {
        let headers =
            record.headers.map { ($0.name, $0.value) }
            + [(SignalType.forwardedHeader, Array("\(Int32.max)".utf8))]
        return RecordBound.size(key: record.key, value: record.value, headers: headers) <= bound.bytes
    }

    /// Sends a signal on to the partition of its recipient, unchanged but for a header: it is sent on once.
    func forward(_ record: KafkaConsumerRecord, to partition: Int32) throws {
        var headers = KafkaHeaderBuffer()
        for header in record.headers { headers.append(header) }
        headers.append(KafkaHeader(name: SignalType.forwardedHeader, text: "\(record.partition)"))
        try enqueue(
            LinkRecord(
                topic: .signals,
                partition: partition,
                key: record.key,
                value: record.value,
                headers: headers,
                tag: ledger.checkpoint.tag.rawValue
            )
        )
    }

    /// Writes a changed entry to the partition of `state`; a tombstone when the entry is gone.
    func publish(_ change: StoreChange, partition: Int32) throws {
        try enqueue(
            LinkRecord(
                topic: .state,
                partition: partition,
                key: change.key,
                value: change.value,
                tag: Checkpoint.Tag.entry.rawValue
            )
        )
    }

    /// Writes the marker of a partition to the same partition of `state`.
    func publish(_ marker: StateMarker, partition: Int32) throws {
        try enqueue(
            LinkRecord(
                topic: .state,
                partition: partition,
                key: StateMarker.key,
                value: marker.json,
                tag: Checkpoint.Tag.marker.rawValue
            )
        )
    }

    private func enqueue(_ record: LinkRecord<LaneTopic>) throws {
        try waitingForRoom { try link.enqueue(record) }
        let tag = Checkpoint.Tag(rawValue: record.tag)
        ledger.checkpoint.published(tag)
        let bytes = (record.key?.count ?? 0) + (record.value?.count ?? 0) + Self.overhead
        ledger.budget.add(bytes, isOfCut: tag == .entry || tag == .marker, at: link.now)
    }

    /// A full queue is backpressure: serve delivery reports until there is room.
    private func waitingForRoom(_ enqueue: () throws -> Void) throws {
        var deadline: ContinuousClock.Instant?
        while true {
            do {
                return try enqueue()
            } catch let error as KafkaError where error.code == .queueFull {
                let end = deadline ?? link.now.advanced(by: Self.queueFullDeadline)
                guard link.now < end else { throw error }
                deadline = end
                link.serveReports(within: .milliseconds(100), ledger.note)
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

/// Counts published records that are not acknowledged yet, shared by the publishing and the waiting code. Used on one
/// thread.
final class DeliveryLedger {
    // Unchecked: each record that is published asks them. Only its lane's thread uses a ledger.
    @exclusivity(unchecked) var checkpoint: Checkpoint
    @exclusivity(unchecked) var budget: CheckpointBudget
    /// The error of the first record that the broker rejected permanently: the lane restarts from its marker.
    private(set) var failure: KafkaError?
    /// The offset of the newest marker of each partition in `state`.
    private(set) var markerOffsets: [Int32: Int64] = [:]

    init(_ guarantee: DeliveryGuarantee, budget: CheckpointBudget = .init(largest: 16 << 20)) {
        checkpoint = Checkpoint(guarantee)
        self.budget = budget
    }

    /// Everything in progress was aborted.
    func reset() {
        checkpoint = Checkpoint(checkpoint.guarantee)
        (failure, markerOffsets) = (nil, [:])
    }

    func note(_ report: KafkaDeliveryReport) {
        if let error = report.error {
            failure = failure ?? error
            return
        }
        let tag = Checkpoint.Tag(rawValue: report.tag)
        if tag == .marker { markerOffsets[report.partition] = report.offset }
        checkpoint.acknowledged(tag)
    }
}
