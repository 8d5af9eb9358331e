import Kafka
import Logging
import NotificationModel
import NotificationPublisher
import ServiceSupport

/// One life of the ingest's link, on one thread: poll, apply the rules, produce, and commit acknowledged offsets.
///
/// To lose no event, the session commits an event's offset only when the broker has acknowledged all records of this
/// event and of every earlier event in the partition. On any failure before that, the session ends with an error, and
/// the next one starts from the committed offsets; request ids are derived, so repeats are recognized.
///
/// With `exactly-once` the records and the offsets are one transaction (`KafkaTransactions`). Only the commit step
/// differs.
package final class IngestSession<Link: IngestLink>: LoopWorker {
    let context: IngestContext
    let configuration: IngestConfiguration
    let metrics: ProducerMetrics
    let health: HealthComponent
    let logger: Logger

    let link: Link
    /// nil with `at-least-once`.
    let transactions: KafkaTransactions<Link>?
    /// Records of the open transaction.
    var transactionRecords = 0
    let requestHeaders: RequestHeaders
    let requestPartitions: Int32
    let deadLetterPartitions: Int32
    var tracker = OffsetTracker<IngestPartition>()
    /// Records that did not fit in the local queue, in order.
    var backlog: [OutgoingRecord] = []
    /// The headers of the current record; the buffer is reused.
    var scratch = KafkaHeaderBuffer()
    var lag: LagGauges
    /// The dead letters that are logged.
    var letters = DeadLetterLog()
    /// Why the previous session was fenced, if another process may use the instance's id. The session reports ready
    /// only after a commit, or after a while without another fencing.
    private(set) var fenced: String?
    /// Committed transactions: one proves that the instance's id belongs to this process.
    package private(set) var commits = 0
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
    var lastCommit: ContinuousClock.Instant
    private var lastGauges: ContinuousClock.Instant
    private var lastContact: ContinuousClock.Instant
    private let began: ContinuousClock.Instant

    /// A session over a link that is connected.
    package init(context: IngestContext, link: Link) {
        self.context = context
        self.link = link
        configuration = context.configuration
        metrics = context.metrics
        health = context.health
        logger = context.logger
        fenced = context.fenced
        transactions = context.guarantee == .exactlyOnce ? KafkaTransactions(link) : nil
        requestHeaders = RequestHeaders(source: configuration.source)
        requestPartitions = link.partitionCount(of: .requests)
        deadLetterPartitions = link.partitionCount(of: .deadLetters)
        bound = RecordBound(link.maximumRecordBytes)
        lag = LagGauges(topics: configuration.topics)
        let now = link.now
        (lastCommit, lastGauges, lastContact, began) = (now, now, now, now)
    }

    /// Takes over the transactional id, and joins the group. Waits for the broker until a stop is requested.
    package func start() throws {
        if transactions != nil {
            let wait = BrokerWait(health: health, stop: context.stop, logger: logger) { [link] in
                link.wait(.milliseconds(500))
            }
            let isReady: Void? = try wait.until({ try link.initTransactions(within: .seconds(2)) }) {
                KafkaTransactionPolicy.decision(after: $0, in: .initialize) == .repeatCall
            }
            guard isReady != nil else { return }
        }
        try link.subscribe(
            onAssign: { [unowned self] in assigned($0) },
            onRevoke: { [unowned self] in revoked($0, lost: $1, until: $2) }
        )
        if let fenced { health.notReady(fenced) } else { health.ready() }
        logger.info(
            "ingest reads events",
            metadata: [
                LogMetadata.topic: "\(link.inputs.map { $0.name(in: configuration.topics) }.joined(separator: ", "))",
                LogMetadata.group: "\(configuration.consumer.groupID ?? "")",
            ]
        )
    }

    /// Whether the rules want other inputs than the session reads: another session must follow.
    package var isDone: Bool { context.rules().inputs != link.inputs }

    /// Reads and publishes for a moment, and commits when it is due.
    ///
    /// - Throws: The error that ends the session.
    package func turn() throws {
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

    // MARK: Reading

    private func poll() {
        // Reports arrive on another queue, so the poll is short while reports or a commit are due.
        var wait: Duration = tracker.waiting == 0 ? .milliseconds(100) : .milliseconds(isPaused ? 1 : 5)
        if transactions?.isOpen == true { wait = min(wait, max(.zero, untilCommit)) }
        for _ in 0..<1_000 {
            do {
                guard try link.poll(within: wait, { handle($0, $1) }) else { return }
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
        logger.warning("polling events failed", metadata: [LogMetadata.error: "\(error)"])
        health.notReady("cannot read events: \(error)")
        // Only an answer of the broker makes it ready again.
        lastContact = link.now - IngestTimes.quiet
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
        do throws(KafkaError) {
            try transactions?.beginIfNeeded()
            try link.enqueue(record.record)
            transactionRecords += 1
            return true
        } catch {
            if error.code == .queueFull { return false }
            // Handled like a refusal by the broker.
            report(record.record.tag, error)
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
        link.serveReports(within: wait) { report in
            self.report(report.tag, report.error)
        }
    }

    private func report(_ tag: UInt, _ error: KafkaError?) {
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
            "the broker refused a record of an event; the event will be read again",
            metadata: [
                LogMetadata.error: "\(error)",
                LogMetadata.topic: "\(event.partition.input.name(in: configuration.topics))",
                LogMetadata.partition: "\(event.partition.number)",
                LogMetadata.offset: "\(event.offset)",
            ]
        )
    }

    // MARK: Backpressure

    private func pauseOrResume() {
        let isFull = !backlog.isEmpty || tracker.uncommittable > configuration.maximumUncommittedEvents
        if isFull {
            // Also what was assigned since.
            link.pauseReading()
            isPaused = true
        } else if isPaused {
            link.resumeReading()
            isPaused = false
        }
    }

    // MARK: Contact

    func noteContact() {
        hasHeard = false
        lastContact = link.now
        if fenced != nil, link.now - began < IngestTimes.fenced { return }
        if case .notReady = health.status { health.ready() }
    }

    func noteCommit() {
        fenced = nil
        commits += 1
    }

    /// Without traffic this detects that the broker is unreachable, or reachable again.
    private func probeWhenQuiet() {
        if hasHeard { noteContact() }
        guard link.now - lastContact >= IngestTimes.quiet else { return }
        do {
            try link.probe(within: .seconds(1))
            noteContact()
        } catch {
            health.notReady("the broker does not answer: \(error)")
        }
    }

    private func updateGauges() {
        guard link.now - lastGauges >= .seconds(1) else { return }
        lastGauges = link.now
        letters.flush(at: link.now, logger)
        metrics.record(ingestWaiting: tracker.uncommittable)
        for (partition, position) in tracker.positions {
            guard let records = link.lag(of: partition, after: position) else { continue }
            lag.record(records, partition: partition)
        }
    }
}

/// What sessions over any link wait for.
enum IngestTimes {
    /// Without an answer for so long the broker is asked for one.
    static let quiet = Duration.seconds(5)
    /// A session after a fenced one is ready after this time, even without a commit.
    static let fenced = Duration.seconds(30)
    /// The longest time before a commit of a transaction: well below the transaction timeout, after which the broker aborts.
    static let longestTransaction = Duration.seconds(2)
}
