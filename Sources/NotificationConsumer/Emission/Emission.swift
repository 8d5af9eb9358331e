import Kafka
import NotificationModel

/// Publishes what a lane has to say: events, dead letters and markers. It owns the buffers that they are written in, so
/// that an event costs no allocation of its own.
struct Emission {
    /// The key of the marker in `state`.
    static let markerKey = Array("marker".utf8)
    /// How long a full queue is waited for before the lane gives up and starts again from its marker.
    static let queueFullDeadline = Duration.seconds(60)

    /// A larger value would not fit a record together with the headers of a dead letter, and would stop the partition for
    /// ever: it stays in the original topic, where the headers point, and `carillon-value-omitted` tells its size.
    static let maximumDeadLetterValue = 900_000

    private enum HeaderName {
        static let omitted: KafkaHeaderName = "carillon-value-omitted"
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

    /// A topic that is written to, and how many partitions it has.
    struct Target {
        var handle: KafkaTopicHandle
        var partitions: Int32
    }

    let producer: KafkaLaneProducer
    let deliveries: Target
    let deadLetters: Target
    let state: Target
    /// The CloudEvents source: one constant a deployment.
    let source: [UInt8]
    let ledger: DeliveryLedger

    private var value: [UInt8] = []
    private var headers = KafkaHeaderBuffer()

    init(
        producer: KafkaLaneProducer,
        deliveries: Target,
        deadLetters: Target,
        state: Target,
        source: String,
        ledger: DeliveryLedger
    ) {
        self.producer = producer
        self.deliveries = deliveries
        self.deadLetters = deadLetters
        self.state = state
        self.source = Array(source.utf8)
        self.ledger = ledger
        value.reserveCapacity(4096)
    }

    /// Publishes an event on `deliveries`, keyed and partitioned like the notification it tells of.
    mutating func publish(_ effect: NotificationCenter.Effect, at now: Timestamp) throws {
        let event = effect.event
        value.removeAll(keepingCapacity: true)
        event.write(to: &value)

        headers.removeAll()
        headers.append(HeaderName.specVersion, "1.0")
        headers.append(HeaderName.id) { event.writeEventID(to: &$0) }
        headers.append(HeaderName.source, source)
        headers.append(HeaderName.type, event.name.type)
        headers.append(HeaderName.time) { now.write(to: &$0) }
        headers.append(HeaderName.subject, event.key.encoded)
        headers.append(HeaderName.contentType, "application/json")
        if let traceparent = effect.trace.traceparent { headers.append(HeaderName.traceparent, traceparent) }
        if let tracestate = effect.trace.tracestate { headers.append(HeaderName.tracestate, tracestate) }

        let partition = event.key.withRecipientBytes {
            KafkaPartitioner.partition(forKey: $0, count: deliveries.partitions)
        }
        try enqueue(to: deliveries, partition, key: event.key.encoded, value: value, tag: ledger.checkpoint.tag)
        ledger.checkpoint.published()
    }

    /// Publishes a record that cannot be read, as it came, with the reason.
    mutating func publishDeadLetter(
        _ record: KafkaConsumerRecord,
        because error: ModelError,
        group: String
    ) throws {
        headers.removeAll()
        let all = DeadLetter.headers(
            original: record.headers.map { ($0.name, $0.value) },
            error: error,
            origin: .init(
                topic: record.topic,
                partition: record.partition,
                offset: record.offset,
                timestamp: record.timestamp,
                consumerGroup: group
            )
        )
        for (name, value) in all { headers.append(KafkaHeaderName(name), value) }
        var value = record.value
        if let count = value?.count, count > Self.maximumDeadLetterValue {
            headers.append(HeaderName.omitted) { $0.append(contentsOf: "\(count)".utf8) }
            value = nil
        }
        try enqueue(
            to: deadLetters,
            record.partition % deadLetters.partitions,
            key: record.key,
            value: value,
            tag: ledger.checkpoint.tag
        )
        ledger.checkpoint.published()
    }

    /// Writes the marker of one partition into the same partition of `state`.
    mutating func publish(_ marker: StateMarker, partition: Int32, tag: Checkpoint.Tag = .marker) throws {
        headers.removeAll()
        try enqueue(to: state, partition, key: Self.markerKey, value: marker.json, tag: tag)
    }

    private func enqueue(
        to target: Target,
        _ partition: Int32,
        key: [UInt8]?,
        value: [UInt8]?,
        tag: Checkpoint.Tag
    ) throws {
        try waitingForRoom {
            try producer.enqueue(
                topic: target.handle,
                partition: partition,
                key: key,
                value: value,
                headers: headers,
                tag: tag.rawValue
            )
        }
    }

    /// A full queue is backpressure: reports are served until there is room.
    private func waitingForRoom(_ enqueue: () throws -> Void) throws {
        var deadline: ContinuousClock.Instant?
        while true {
            do {
                return try enqueue()
            } catch let error as KafkaError where error.code == .queueFull {
                let end = deadline ?? ContinuousClock.now.advanced(by: Self.queueFullDeadline)
                guard ContinuousClock.now < end else { throw error }
                deadline = end
                producer.serveReports(within: .milliseconds(100), ledger.settle)
            }
        }
    }
}

/// What is published and not yet acknowledged, shared by what publishes and what waits. One thread uses it.
final class DeliveryLedger {
    var checkpoint: Checkpoint
    /// The first record that the broker refused for good: the lane starts again from its marker.
    private(set) var failure: KafkaError?

    init(partitions: Int32) {
        checkpoint = Checkpoint(partitions: Int(partitions))
    }

    func settle(_ report: KafkaDeliveryReport) {
        if let error = report.error {
            failure = failure ?? error
        } else {
            checkpoint.acknowledged(Checkpoint.Tag(rawValue: report.tag))
        }
    }
}
