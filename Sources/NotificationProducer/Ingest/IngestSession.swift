import Kafka
import Logging
import NotificationModel
import NotificationPublisher
import ServiceSupport

/// One life of the ingest's two clients, on one thread: poll, apply the rules, produce, and commit acknowledged
/// offsets.
///
/// To lose no event, the session commits an event's offset only when the broker has acknowledged all records of this
/// event and of every earlier event in the partition. On any failure before that, the session ends with an error, and
/// the next one starts from the committed offsets; request ids are derived, so repeats are recognized.
///
/// With `exactly-once` the records and the offsets are one transaction (``IngestTransactions``). Only the commit step
/// differs.
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
    /// nil with `at-least-once`.
    let transactions: IngestTransactions?
    let requestHeaders: RequestHeaders
    var requests: Destination
    var deadLetters: Destination
    var tracker = OffsetTracker<Int32>()
    /// Records that did not fit in the local queue, in order.
    var backlog: [OutgoingRecord] = []
    /// The headers of the current record; the buffer is reused.
    var scratch = KafkaHeaderBuffer()
    var lag: LagGauges
    /// Why the previous session was fenced, if another process may use the instance's id. The session reports ready
    /// only after a commit, or after a while without another fencing.
    private(set) var fenced: String?
    /// A transaction of this session is committed.
    private(set) var hasCommitted = false
    /// Why the session must end.
    var failure: (any Error)?
    /// The record size limit of this session.
    let bound: RecordBound

    /// Reading waits until the events read are acknowledged and committed.
    var isCommitDue = false
    /// The final commit before leaving the group is done.
    var isClosing = false
    private var isPaused = false
    /// The broker sent something since the last check.
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

    /// Creates the clients and waits until the broker knows the topics.
    ///
    /// - Returns: Nil when a stop was requested before that.
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

    /// Runs until a stop is requested, then drains.
    ///
    /// - Throws: The error that ended it early. It first commits all acknowledged offsets if the broker allows it, and
    ///   aborts an open transaction.
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
        // Reports arrive on another queue, so the poll is short while reports or a commit are due.
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
        health.notReady("cannot read business events: \(error)")
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

    /// - Returns: False when the queue is full.
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
            // Handled like a refusal by the broker.
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
        // The first failed record of a transaction dooms all others.
        guard failure == nil else { return }
        failure = error
        logger.error(
            "the broker refused a record of a business event; the event will be read again",
            metadata: [
                LogMetadata.error: "\(error)",
                LogMetadata.topic: "\(configuration.topics.businessEvents)",
                LogMetadata.partition: "\(event.partition)",
                LogMetadata.offset: "\(event.offset)",
            ]
        )
    }

    /// A record of an aborted transaction: its outcome is irrelevant.
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

    /// A commit proves that the instance's id belongs to this process.
    func noteCommit() { (fenced, hasCommitted) = (nil, true) }

    /// Without traffic this detects that the broker is unreachable, or reachable again.
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
