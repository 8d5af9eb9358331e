import Kafka
import Logging
import NotificationModel
import NotificationPublisher
import ServiceSupport

/// One life of the ingest's two clients, on one thread: poll, apply the rules, produce, and commit what is acknowledged.
///
/// The order that keeps events from being lost: an event's offset is committed only when every record made of it, and of every
/// event before it in the partition, is acknowledged by the broker. Whatever goes wrong in between, the session ends with an
/// error, and the next one reads again from what was committed; the ids of requests are derived, so a repeat is recognised.
///
/// In `exactly-once` the records and the offsets are one transaction (``IngestTransactions``). Only the commit step differs.
final class IngestSession {
    let configuration: IngestConfiguration
    let rules: RuleStore
    let metrics: ProducerMetrics
    let health: HealthComponent
    let stop: StopSignal
    let logger: Logger
    let now: @Sendable () -> Timestamp

    let lane: KafkaLaneProducer
    let consumer: KafkaConsumer
    /// nil in `at-least-once`.
    let transactions: IngestTransactions?
    let requestHeaders: RequestHeaders
    var requests: Destination
    var deadLetters: Destination
    var tracker = OffsetTracker<Int32>()
    /// Records that found the local queue full, in order.
    var backlog: [OutgoingRecord] = []
    /// The headers of the record at hand; its memory is used again for the next.
    var scratch = KafkaHeaderBuffer()
    var lag: LagGauges
    /// Why the session before ended, when another process may have the instance's id: ready again only after a commit, or after
    /// a while in which the other one did not show itself.
    private(set) var fenced: String?
    /// A transaction of this session is committed.
    private(set) var hasCommitted = false
    /// Why the session has to end.
    var failure: (any Error)?
    /// What a record of this session may have.
    let bound: RecordBound

    /// Reading waits until what was read is acknowledged and committed.
    var isCommitDue = false
    /// What could be committed was, before the group is left.
    var isClosing = false
    private var isPaused = false
    /// Something came from the broker since the last look.
    private var hasHeard = false
    var pausedPartitions: Set<KafkaTopicPartition> = []
    var lastCommit: ContinuousClock.Instant
    private var lastGauges: ContinuousClock.Instant
    private var lastContact: ContinuousClock.Instant
    private let began: ContinuousClock.Instant
    let clock = ContinuousClock()

    struct Destination {
        var topic: KafkaTopicHandle
        var partitions: Int32
    }

    /// Makes the clients and waits for the broker to name the topics.
    ///
    /// - Returns: Nil when it was told to stop before that.
    init?(
        configuration: IngestConfiguration,
        rules: RuleStore,
        metrics: ProducerMetrics,
        health: HealthComponent,
        ceiling: KafkaRecordCeiling,
        choice: GuaranteeChoice,
        stop: StopSignal,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp,
        fenced: String? = nil
    ) throws {
        self.configuration = configuration
        self.rules = rules
        self.metrics = metrics
        self.health = health
        self.stop = stop
        self.logger = logger
        self.now = now
        self.fenced = fenced
        requestHeaders = RequestHeaders(source: configuration.source)
        guard let clients = try IngestClients.connect(configuration, choice, ceiling, health, stop, logger) else {
            return nil
        }
        consumer = clients.consumer
        lane = clients.lane
        bound = RecordBound(clients.lane.maximumRecordBytes)
        transactions = clients.transactions
        lastCommit = clock.now
        lastGauges = clock.now
        lastContact = clock.now
        began = clock.now
        lag = LagGauges(topic: configuration.topics.businessEvents)
        requests = Destination(
            topic: try lane.topic(configuration.topics.requests),
            partitions: clients.requestPartitions
        )
        deadLetters = Destination(
            topic: try lane.topic(configuration.topics.deadLetters),
            partitions: clients.deadLetterPartitions
        )
    }

    /// Runs until it is told to stop, then drains.
    ///
    /// - Throws: What made it end early; everything acknowledged is committed if the broker lets it, an open transaction is
    ///   aborted.
    func run() throws {
        defer { close() }
        try consumer.subscribe(
            to: [configuration.topics.businessEvents],
            onAssign: { [unowned self] in assigned($0) },
            onRevoke: { [unowned self] in revoked($0, lost: $1, until: $2) }
        )
        if let fenced { health.notReady(fenced) } else { health.ready() }
        logger.info(
            "ingest reads business events",
            metadata: [
                LogMetadata.topic: "\(configuration.topics.businessEvents)",
                LogMetadata.group: "\(configuration.consumer.groupID ?? "")",
            ]
        )
        while !stop.isRequested {
            if !isCommitDue { poll() }
            serveReports(within: backlog.isEmpty && !isCommitDue ? .zero : .milliseconds(10))
            if let failure {
                throw configuration.explain(failure)
            }
            sendBacklog()
            pauseOrResume()
            commitWhenDue()
            updateGauges()
            probeWhenQuiet()
        }
        drain(until: clock.now + configuration.drainTimeout)
    }

    // MARK: Reading

    private func poll() {
        // Reports come on another queue, so waiting is short while some are due, or a commit is.
        var wait: Duration = tracker.waiting == 0 ? .milliseconds(100) : .milliseconds(isPaused ? 1 : 5)
        if transactions?.isOpen == true { wait = min(wait, max(.zero, untilCommit)) }
        for _ in 0..<1_000 {
            do {
                guard let message = try consumer.poll(within: wait) else { return }
                handle(message)
                hasHeard = true
            } catch {
                pollFailed(error)
                return
            }
            if !backlog.isEmpty || failure != nil { return }
            wait = .zero
        }
    }

    private func pollFailed(_ error: any Error) {
        if let error = error as? KafkaError, error.isFatal {
            failure = error
            return
        }
        logger.warning("polling business events failed", metadata: [LogMetadata.error: "\(error)"])
        health.notReady("business events cannot be read: \(error)")
        // Only an answer of the broker makes it ready again.
        lastContact = clock.now - Self.quietTime
    }

    // MARK: Sending

    func send(_ record: OutgoingRecord) {
        guard backlog.isEmpty else {
            backlog.append(record)
            return
        }
        if !enqueue(record) { backlog.append(record) }
    }

    /// - Returns: False when there is no room.
    private func enqueue(_ record: OutgoingRecord) -> Bool {
        let destination = record.kind == .request ? requests : deadLetters
        do throws(KafkaError) {
            try transactions?.beginIfNeeded()
            try lane.enqueue(
                topic: destination.topic,
                partition: record.partition,
                key: record.key,
                value: record.value,
                headers: record.headers,
                tag: record.tag
            )
            transactions?.noteRecord()
            return true
        } catch {
            if error.code == .queueFull { return false }
            // Through the same gate as a refusal by the broker.
            report(record.tag, error)
            return true
        }
    }

    func sendBacklog() {
        var sent = 0
        while sent < backlog.count, failure == nil, enqueue(backlog[sent]) { sent += 1 }
        if sent > 0 { backlog.removeFirst(sent) }
    }

    func serveReports(within wait: Duration) {
        health.beat()
        lane.serveReports(within: wait) { report in
            self.report(report.tag, report.error)
        }
    }

    func report(_ tag: UInt, _ error: KafkaError?) {
        let (slot, kind) = OutgoingRecord.read(tag: tag)
        guard let error else {
            switch kind {
            case .request: metrics.countRequest()
            case .deadLetter(let reason): metrics.countDeadLetter(reason)
            }
            tracker.acknowledge(slot)
            hasHeard = true
            return
        }
        guard let event = tracker.event(of: slot) else {
            tracker.acknowledge(slot)
            return
        }
        // With the first of a transaction all others are given up.
        guard failure == nil else { return }
        failure = error
        logger.error(
            "a record made of a business event was refused; the event is read again",
            metadata: [
                LogMetadata.error: "\(error)",
                LogMetadata.topic: "\(configuration.topics.businessEvents)",
                LogMetadata.partition: "\(event.partition)",
                LogMetadata.offset: "\(event.offset)",
            ]
        )
    }

    /// A record of a transaction that is aborted: what became of it no longer counts.
    func giveUp(_ report: KafkaDeliveryReport) {
        tracker.acknowledge(OutgoingRecord.read(tag: report.tag).slot)
    }

    // MARK: Backpressure

    private func pauseOrResume() {
        let isFull = !backlog.isEmpty || tracker.uncommittable > configuration.maximumUncommittedEvents
        if isFull {
            let rest = consumer.assignment.subtracting(pausedPartitions)
            if !rest.isEmpty {
                consumer.pause(rest)
                pausedPartitions.formUnion(rest)
            }
            isPaused = true
        } else if isPaused {
            consumer.resume(pausedPartitions)
            pausedPartitions = []
            isPaused = false
        }
    }

    // MARK: Contact

    static let quietTime = Duration.seconds(5)

    func noteContact() {
        hasHeard = false
        lastContact = clock.now
        if fenced != nil, clock.now - began < Self.fencedTime { return }
        if case .notReady = health.status { health.ready() }
    }

    private static let fencedTime = Duration.seconds(30)

    /// The instance's id is this process's.
    func noteCommit() { (fenced, hasCommitted) = (nil, true) }

    /// Without traffic nobody else would notice that the broker is away, or that it is back.
    private func probeWhenQuiet() {
        if hasHeard { noteContact() }
        guard clock.now - lastContact >= Self.quietTime else { return }
        do {
            _ = try consumer.partitionCount(of: configuration.topics.businessEvents, within: .seconds(1))
            noteContact()
        } catch {
            health.notReady("the broker does not answer: \(error)")
        }
    }

    private func updateGauges() {
        guard clock.now - lastGauges >= .seconds(1) else { return }
        lastGauges = clock.now
        metrics.record(ingestWaiting: tracker.uncommittable)
        for partition in consumer.assignment {
            guard let position = tracker.position(of: partition.partition),
                let records = consumer.lag(of: partition, after: position)
            else { continue }
            lag.record(records, partition: partition.partition)
        }
    }
}
