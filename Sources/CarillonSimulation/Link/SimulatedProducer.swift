import Kafka

/// The client side of a producer, like librdkafka's: a queue for each partition, batches in flight, reports that arrive late
/// and together, and the state of the transaction.
final class SimulatedProducer {
    enum State: Equatable {
        /// Transactional, and not initialized.
        case fresh
        case ready
        case inTransaction
        /// The transaction can only be aborted.
        case mustAbort
        /// A commit was requested and is not answered yet.
        case committing
        case failed
    }

    private struct Outgoing {
        var record: LogRecord
        var tag: UInt
        var sequence: Int64
    }

    private struct Queue {
        var topic: String
        var partition: Int32
        var waiting: [Outgoing] = []
        /// Sent and not reported yet.
        var inFlight: [Outgoing] = []
        var isSending = false
        /// A slow broker has received the records in flight, but not written them yet.
        var isTaken = false
        var sequence: Int64 = 0
    }

    let transactionalID: String?
    private let broker: SimulatedBroker
    private let process: SimulatedProcess
    private var timeline: Timeline { broker.timeline }
    private var random: SeededGenerator
    private let fault: (LinkCall) -> LinkFault?

    private(set) var state: State
    private(set) var stamp: ProducerStamp
    private var queues: [Queue] = []
    private var reports: [KafkaDeliveryReport] = []
    /// The broker knows the open transaction.
    private var isTold = false
    private var isClosed = false
    /// Answers to batches of an earlier life are dropped.
    private var life = 0

    /// The number of records that it accepts before its queue is full.
    var capacity = 1000
    /// The maximum record size.
    var maximumRecordBytes: Int { broker.maximumRecordBytes }
    /// The longest time of a message to or from the broker, in microseconds.
    var latency: Int64 = 3_000

    init(
        transactionalID: String?,
        broker: SimulatedBroker,
        process: SimulatedProcess,
        random: SeededGenerator,
        fault: @escaping (LinkCall) -> LinkFault?
    ) {
        self.transactionalID = transactionalID
        self.broker = broker
        self.process = process
        self.random = random
        self.fault = fault
        state = transactionalID == nil ? .ready : .fresh
        stamp = ProducerStamp(id: transactionalID == nil ? broker.newProducerID() : -1, epoch: 0)
    }

    var outstanding: Int { unsent + reports.count }
    /// Records that are not answered yet.
    var unsent: Int { queues.reduce(0) { $0 + $1.waiting.count + $1.inFlight.count } }
    var hasReports: Bool { !reports.isEmpty }

    // MARK: - Records

    func enqueue(_ record: LogRecord, to topic: String, _ partition: Int32, tag: UInt) throws(KafkaError) {
        guard state != .failed else { throw .fatalOfClient }
        guard state == (transactionalID == nil ? .ready : .inTransaction) else { throw .notNow }
        guard record.wireBytes <= maximumRecordBytes else { throw .recordIsTooLarge }
        guard outstanding < capacity else { throw .queueIsFullHere }
        let index = queues.firstIndex { $0.topic == topic && $0.partition == partition } ?? queues.count
        if index == queues.count { queues.append(Queue(topic: topic, partition: partition)) }
        var record = record
        record.producer = stamp
        record.isTransactional = transactionalID != nil
        queues[index].sequence += 1
        queues[index].waiting.append(Outgoing(record: record, tag: tag, sequence: queues[index].sequence))
        send(index)
    }

    /// Sends at most one batch for each partition at a time, so that retries keep the order.
    private func send(_ index: Int) {
        guard !queues[index].isSending, !queues[index].waiting.isEmpty else { return }
        queues[index].isSending = true
        let life = life
        timeline.add(after: random.number(300...latency)) { [self] in arrive(index, life) }
    }

    private func arrive(_ index: Int, _ life: Int) {
        guard life == self.life, !process.isDead, !isClosed else { return }
        guard !process.isPaused else {
            process.whenResumed { [self] in arrive(index, life) }
            return
        }
        guard !broker.isAway else {
            broker.whenThere(after: random.number(1_000...200_000)) { [self] in arrive(index, life) }
            return
        }
        let fault = fault(.produce)
        if case .delay(let time) = fault {
            timeline.add(after: time) { [self] in arriveNow(index, life, nil) }
        } else {
            arriveNow(index, life, fault)
        }
    }

    private func arriveNow(_ index: Int, _ life: Int, _ fault: LinkFault?) {
        guard life == self.life, !process.isDead, !isClosed else { return }
        let count = min(queues[index].waiting.count, Int(random.number(1...100)))
        let batch = Array(queues[index].waiting.prefix(count))
        queues[index].waiting.removeFirst(count)
        queues[index].inFlight = batch
        queues[index].isTaken = true
        let time = broker.timeToTake(batch.reduce(0) { $0 + $1.record.wireBytes })
        guard time > 0 else { return write(batch, index, life, fault) }
        timeline.add(after: time) { [self] in write(batch, index, life, fault) }
    }

    private func write(_ batch: [Outgoing], _ index: Int, _ life: Int, _ fault: LinkFault?) {
        guard life == self.life, !process.isDead, !isClosed else { return }
        queues[index].isTaken = false
        var answers: [KafkaDeliveryReport] = []
        for item in batch {
            answers.append(report(item, queues[index].topic, queues[index].partition, fault))
        }
        if fault == .repeated || fault == .loseReply {
            // The client's own retry: the broker recognizes the sequence numbers.
            for item in batch { _ = report(item, queues[index].topic, queues[index].partition, nil) }
        }
        let retry = fault == .loseReply ? random.number(100_000...1_000_000) : 0
        timeline.add(after: retry + random.number(300...latency)) { [self] in
            // If the broker became unavailable before it answered, the client's retry gets the answer.
            broker.whenThere(after: latency) { [self] in answer(index, life, answers) }
        }
    }

    private func answer(_ index: Int, _ life: Int, _ answers: [KafkaDeliveryReport]) {
        guard life == self.life else { return }
        queues[index].inFlight = []
        reports += answers
        queues[index].isSending = false
        if let error = answers.lazy.compactMap(\.error).first { fail(with: error) }
        send(index)
    }

    private func report(
        _ item: Outgoing,
        _ topic: String,
        _ partition: Int32,
        _ fault: LinkFault?
    ) -> KafkaDeliveryReport {
        var (offset, failure): (Int64, KafkaError?) = (-1, nil)
        do throws(KafkaError) {
            if transactionalID != nil, case .fail = fault {
                throw KafkaError(code: .messageTimedOut, reason: "not written in time (simulated)", isRetriable: true)
            }
            offset = try broker.produce(
                item.record,
                to: topic,
                partition,
                sequence: item.sequence,
                transactionalID: transactionalID
            )
            isTold = true
        } catch {
            failure = error
        }
        return KafkaDeliveryReport(tag: item.tag, error: failure, partition: partition, offset: offset)
    }

    private func fail(with error: KafkaError) {
        if error.isFatal {
            state = .failed
        } else if transactionalID != nil, state == .inTransaction {
            state = .mustAbort
        }
    }

    func takeReports() -> [KafkaDeliveryReport] {
        let count = random.chance(200) ? random.index(reports.count + 1) : reports.count
        let taken = Array(reports.prefix(count))
        reports.removeFirst(count)
        return taken
    }

    /// Removes the unacknowledged records, and reports them as purged.
    private func purge() {
        life += 1
        let queued = KafkaError(code: .purgedFromQueue, reason: "purged (simulated)")
        let sent = KafkaError(code: .purgedInFlight, reason: "purged in flight (simulated)")
        for index in queues.indices {
            let partition = queues[index].partition
            reports += queues[index].inFlight.map { .init(tag: $0.tag, error: sent, partition: partition, offset: -1) }
            reports += queues[index].waiting.map { .init(tag: $0.tag, error: queued, partition: partition, offset: -1) }
            (queues[index].inFlight, queues[index].waiting, queues[index].isSending) = ([], [], false)
            queues[index].isTaken = false
        }
    }

    /// The process has ended: a part of each queue was already sent and arrives later.
    func abandon() {
        for queue in queues where !queue.waiting.isEmpty || queue.isTaken {
            // Records that a slow broker has received arrive before the rest, or no record of the queue arrives.
            let taken = queue.isTaken ? queue.inFlight : []
            guard taken.isEmpty || random.chance(500) else { continue }
            let late = taken + queue.waiting.prefix(random.index(queue.waiting.count + 1))
            timeline.add(after: random.number(1_000...2_000_000)) { [self] in
                guard !broker.isAway else { return }
                for item in late { _ = report(item, queue.topic, queue.partition, nil) }
            }
        }
        close()
    }

    func close() {
        isClosed = true
        life += 1
        (queues, reports) = ([], [])
    }

    // MARK: - Transactions

    func initTransactions() throws(KafkaError) {
        guard let transactionalID, state != .failed else { throw .fatalOfClient }
        stamp = broker.transactions.initialise(transactionalID)
        for index in queues.indices { queues[index].sequence = 0 }
        state = .ready
    }

    func beginTransaction() throws(KafkaError) {
        guard state != .failed else { throw .fatalOfClient }
        guard state == .ready, transactionalID != nil else { throw .notNow }
        state = .inTransaction
        isTold = false
    }

    func sendOffsets(
        _ offsets: [GroupOffset],
        from member: TransactionCoordinator.GroupMember,
        of group: GroupCoordinator
    ) throws(KafkaError) {
        try checkTransaction(in: [.inTransaction])
        guard let transactionalID else { throw .notNow }
        do throws(KafkaError) {
            try broker.transactions.add(offsets: offsets, from: member, of: group, to: transactionalID, stamp)
            isTold = true
        } catch {
            if error.requiresAbort { state = .mustAbort }
            if error.isFatal { state = .failed }
            throw error
        }
    }

    /// Begins a commit: nothing else is possible until it is answered.
    func beginCommit() throws(KafkaError) {
        try checkTransaction(in: [.inTransaction, .committing])
        state = .committing
    }

    /// The records queued before the commit were not written, or their reports were not served.
    func cancelCommit(mustAbort: Bool) {
        if state == .committing { state = mustAbort ? .mustAbort : .inTransaction }
    }

    /// Requests the end of the transaction; the answer may be lost.
    func end(commit: Bool) throws(KafkaError) {
        guard let transactionalID else { throw .notNow }
        guard isTold else { return }
        do throws(KafkaError) {
            try broker.transactions.end(transactionalID, stamp, commit: commit)
        } catch {
            if error.isFatal { state = .failed }
            throw error
        }
    }

    /// The end of the transaction is answered.
    func ended() {
        state = .ready
    }

    func beginAbort() throws(KafkaError) {
        try checkTransaction(in: [.inTransaction, .mustAbort])
        purge()
    }

    /// Whether a newer producer has its transactional id.
    var isFenced: Bool {
        guard let transactionalID else { return false }
        do { try broker.transactions.check(transactionalID, stamp) } catch { return true }
        return false
    }

    /// Changes the state after an error, as librdkafka does.
    func note(_ error: KafkaError) {
        if error.isFatal { state = .failed } else if error.requiresAbort { state = .mustAbort }
    }

    private func checkTransaction(in states: [State]) throws(KafkaError) {
        if state == .failed { throw .fatalOfClient }
        if state == .mustAbort, !states.contains(.mustAbort) { throw .transactionMustAbort }
        guard states.contains(state) else { throw .notNow }
    }
}
