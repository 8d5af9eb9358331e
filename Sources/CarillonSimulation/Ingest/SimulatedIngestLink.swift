import Kafka
import NotificationConsumer
import NotificationModel
import NotificationState
import NotificationProducer

/// The ingest's simulated Kafka clients. It uses a lane's link, with the same member, producer and faults, to read business
/// events and write requests. Planted bugs of the ingest change the calls and records that pass through it.
final class SimulatedIngestLink: IngestLink {
    /// How often each record was read, in all sessions of a world.
    final class Reads {
        fileprivate var counts: [Place: Int] = [:]
    }

    private let link: SimulatedLink
    private let bugs: Set<PlantedBug>
    private let reads: Reads
    /// For a planted bug: a record to be written after the next one.
    private var overtaken: LinkRecord<LaneTopic>?

    /// - Parameter link: Created with `topics(_:)` and `bugsBelow(_:)`.
    init(_ link: SimulatedLink, bugs: Set<PlantedBug>, reads: Reads) {
        (self.link, self.bugs, self.reads) = (link, bugs, reads)
    }

    /// The topic names for the lane's link: it reads business events as its requests, and writes requests as its deliveries.
    static func topics(_ topics: TopicNames) -> TopicNames {
        var names = topics
        (names.requests, names.deliveries) = (topics.businessEvents, topics.requests)
        return names
    }

    /// The bugs of the ingest that the lane's link implements.
    static func bugsBelow(_ bugs: Set<PlantedBug>) -> Set<PlantedBug> {
        var below: Set<PlantedBug> = []
        if bugs.contains(.ingestDropsOffsets) { below.insert(.dropsFence) }
        if bugs.contains(.ingestCommitsAborts) { below.insert(.commitsInsteadOfAborting) }
        return below
    }

    // MARK: - Business events

    var inputs: [IngestInput] { [.businessEvents] }

    func subscribe(
        onAssign: @escaping ([IngestPartition]) -> Void,
        onRevoke: @escaping ([IngestPartition], Bool, ContinuousClock.Instant) -> Void
    ) throws {
        try link.subscribe(
            onAssign: { [unowned self] partitions in
                onAssign(Self.partitions(partitions))
                return try starts(of: partitions)
            },
            onRevoke: { onRevoke(Self.partitions($0), $1, $2) }
        )
    }

    private static func partitions(_ numbers: [Int32]) -> [IngestPartition] {
        numbers.map { IngestPartition(.businessEvents, $0) }
    }

    /// The lane's input for a partition of business events.
    private func input(_ number: Int32) -> InputPartition { InputPartition(.requests, number) }

    private func inputs(_ offsets: [IngestPartition: Int64]) -> InputOffsets {
        Dictionary(uniqueKeysWithValues: offsets.map { (input($0.number), $1) })
    }

    /// The start offsets, as a `read_committed` client gets them: waits for transactions that may still commit offsets.
    private func starts(of partitions: [Int32]) throws -> InputOffsets {
        let (broker, group) = (link.broker, link.group)
        if !bugs.contains(.ingestReadsUnstableOffsets) {
            let places = Set(partitions.map { link.place(input($0)) })
            link.pass(60_000_000) { !broker.transactions.hasPendingOffsets(of: group, places) }
            try link.checkAlive()
        }
        return Dictionary(
            uniqueKeysWithValues: partitions.map { partition in
                let (place, log) = (input(partition), link.log(input(partition)))
                return (place, bugs.contains(.ingestResumesAtEnd) ? log.end : link.committed(place) ?? log.start)
            }
        )
    }

    func poll(within time: Duration, _ apply: (IngestRecord, () -> KafkaConsumerRecord) -> Void) throws -> Bool {
        try link.poll(within: time) { _, copy in
            let read = rewrite(read: copy())
            var reader = BusinessEventReader()
            for header in read.headers {
                Array(header.name.utf8).withUnsafeBytes { name in
                    (header.value ?? []).withUnsafeBytes { reader.add(name: name, value: $0) }
                }
            }
            let record = IngestRecord(
                partition: IngestPartition(.businessEvents, read.partition),
                offset: read.offset,
                timestamp: read.timestamp,
                value: read.value,
                reader: reader
            )
            apply(record) { read }
        }
    }

    private func rewrite(read record: KafkaConsumerRecord) -> KafkaConsumerRecord {
        guard bugs.contains(.ingestRenewsIDs) else { return record }
        let place = Place(partition: record.partition, offset: record.offset)
        reads.counts[place, default: 0] += 1
        guard let count = reads.counts[place], count > 1 else { return record }
        var record = record
        for index in record.headers.indices where record.headers[index].name == "ce_id" {
            record.headers[index].value?.append(contentsOf: "-\(count)".utf8)
        }
        return record
    }

    func lag(of partition: IngestPartition, after position: Int64) -> Int64? {
        link.lag(of: input(partition.number), after: position)
    }

    func probe(within time: Duration) throws(KafkaError) {
        try link.ask(.bounds, within: time) { () throws(KafkaError) in }
    }

    func pauseReading() { link.pauseReading() }
    func resumeReading() { link.resumeReading() }

    // MARK: - Publishing

    private func name(_ topic: IngestTopic) -> LaneTopic {
        switch topic {
        case .requests: .deliveries
        case .deadLetters: .deadLetters
        }
    }

    func partitionCount(of topic: IngestTopic) -> Int32 { link.partitionCount(of: name(topic)) }
    var maximumRecordBytes: Int { link.maximumRecordBytes }

    func enqueue(_ record: LinkRecord<IngestTopic>) throws(KafkaError) {
        var written = LinkRecord(
            topic: name(record.topic),
            partition: record.partition,
            key: record.key,
            value: record.value,
            headers: record.headers,
            tag: record.tag
        )
        if isLost(record) { return pretend(written) }
        if bugs.contains(.ingestMisroutes), record.topic == .requests {
            written.partition = (written.partition + 1) % partitionCount(of: .requests)
        }
        if bugs.contains(.ingestAcknowledgesEarly) {
            pretend(written)
            written.tag = SimulatedLink.heldBackTag
        }
        if bugs.contains(.ingestReorders), record.topic == .requests {
            guard let earlier = overtaken else {
                guard link.random.chance(300) else { return try link.enqueue(written) }
                overtaken = written
                return
            }
            overtaken = nil
            try link.enqueue(written)
            return try link.enqueue(earlier)
        }
        try link.enqueue(written)
    }

    /// Whether a planted bug reports the record as written without writing it: the offset of its event is committed anyway.
    private func isLost(_ record: LinkRecord<IngestTopic>) -> Bool {
        switch record.topic {
        case .requests: bugs.contains(.ingestLosesRequest) && link.random.chance(100)
        case .deadLetters: bugs.contains(.ingestLosesDeadLetter)
        }
    }

    private func pretend(_ record: LinkRecord<LaneTopic>) {
        link.pretended.append(.init(tag: record.tag, error: nil, partition: record.partition, offset: -1))
    }

    var outstanding: Int { link.outstanding + (overtaken == nil ? 0 : 1) }

    func serveReports(within time: Duration, _ body: (KafkaDeliveryReport) -> Void) {
        if let waiting = overtaken {
            overtaken = nil
            try? link.enqueue(waiting)
        }
        link.serveReports(within: time, body)
    }

    // MARK: - Committing

    var now: ContinuousClock.Instant { link.now }
    func wait(_ time: Duration) { link.wait(time) }

    func commitOffsets(_ offsets: [IngestPartition: Int64], within time: Duration?) throws(KafkaError) {
        try link.commitOffsets(inputs(offsets), within: time)
    }

    func initTransactions(within time: Duration) throws(KafkaError) { try link.initTransactions(within: time) }
    func beginTransaction() throws(KafkaError) { try link.beginTransaction() }

    func sendOffsets(_ offsets: [IngestPartition: Int64], within time: Duration) throws(KafkaError) {
        try link.sendOffsets(inputs(offsets), within: time)
    }

    func commitTransaction(within time: Duration) throws(KafkaError) { try link.commitTransaction(within: time) }

    func abortTransaction(within time: Duration) throws(KafkaError) {
        overtaken = nil
        try link.abortTransaction(within: time)
    }

    func close(within time: Duration) { link.close(within: time) }
}
