import Kafka
import Logging
import NotificationModel
import ServiceSupport

/// One consumer, one producer and the centers of their partitions on one thread, as a stream thread of Kafka Streams: no
/// record crosses a thread. A record's way: `poll` → `Intake` → `PartitionCenter` → `Emission` → `Checkpoint`.
///
/// It is one loop for both guarantees and over any `LaneLink`. A lane that throws is closed, and another one begins where
/// Kafka says; a lane never mends itself, since what it holds in memory may be more than what is committed.
///
/// ## Where a record's time goes
/// Of the process's CPU for an immediate request of 400 bytes (`perf`, `carillon bench pipeline`), librdkafka's broker thread
/// takes about 40 %: sockets, batches, compression. The rest is this thread's:
/// - `Emission`: writing the event and its id is small; copying eight headers into librdkafka's list is half of it;
/// - the changelog: one entry a key and checkpoint, without headers;
/// - delivery reports, most of it freeing librdkafka's messages;
/// - `PartitionCenter`: a cache miss or two for the key, and remembering the closed id;
/// - `Intake`: one scan of the JSON, which is neither copied nor built;
/// - reading the input's headers, which librdkafka takes apart for the first that is asked for;
/// - the rest copies key and value, polls, and counts.
///
/// About a third of this thread's time is the allocator's, on librdkafka's behalf more than on ours: the page of figures shows
/// what jemalloc makes of it.
package final class Lane<Link: LaneLink>: LoopWorker {
    /// Records applied before timers, reports and the checkpoint get their turn.
    static var recordsPerTurn: Int { 1000 }
    static var timersPerTurn: Int { 1000 }

    let context: LaneContext
    let configuration: ConsumerServiceConfiguration
    let link: Link
    /// nil with `at-least-once`.
    let transactions: KafkaTransactions<Link>?
    let ledger: DeliveryLedger
    let intake: Intake
    var emission: Emission<Link>
    let partitions: Int32
    let logger: Logger

    /// By partition number; nil where another member is the owner.
    var owned: [OwnedPartition?]
    /// The numbers of those that are owned, in order.
    var ownedNumbers: [Int32] = []
    /// The numbers of partitions whose timers wait until the backlog is read.
    var catchingUp: Set<Int32> = []
    /// Of the assignment; what was sent in another one is answered too late.
    var assignmentID: UInt64 = 0
    /// What turns ask for, taken from a center; empty between two calls of `carryOut`.
    private var effects: [Effect] = []
    /// What the channel has to do; nil where the `delivered` event is the hand-over.
    var sends: SideWork<ChannelSend, ChannelOutcome.Result>?
    var backPressure = BackPressure()
    /// Where the record is whose removal of everything a recipient has is applied in pieces; nothing is read meanwhile.
    var unfinished: InputPartition?
    var areStoresHurried = false
    /// Records applied and timers fired so far.
    private(set) var work = 0
    private var nextCheckpoint: ContinuousClock.Instant
    /// Where among the owned partitions timers have their turn first.
    private var firstToFire = 0
    /// When the oldest work was done that is not committed; nil when all is.
    var uncommittedSince: ContinuousClock.Instant?
    var nextStatus: ContinuousClock.Instant
    /// Why the lane must begin anew at the next turn.
    var mustRestart: LaneEnd?
    var hasFailed = false
    /// Checkpoints so far.
    package internal(set) var commits = 0

    /// A lane over a link that is connected.
    package init(context: LaneContext, link: Link) {
        self.context = context
        self.link = link
        configuration = context.configuration
        logger = context.logger
        transactions = context.guarantee == .exactlyOnce ? KafkaTransactions(link) : nil
        let count = link.inputPartitions
        partitions = count
        ledger = DeliveryLedger(
            context.guarantee,
            budget: CheckpointBudget(largest: configuration.largestCheckpoint(context.guarantee))
        )
        owned = Array(repeating: nil, count: Int(count))
        intake = Intake(
            requests: RequestIntake(
                topic: configuration.topics.requests,
                bound: RecordBound(link.maximumRecordBytes),
                // A channel can have one content of an entry while another waits.
                contents: context.channel == nil ? 1 : 2,
                partition: { key in key.withRecipientBytes { KafkaPartitioner.partition(forKey: $0, count: count) } }
            )
        )
        emission = Emission(link: link, source: configuration.source, ledger: ledger)
        sends = Self.sideWork(of: context, waking: link)
        let now = link.now
        (nextCheckpoint, nextStatus) = (now, now)
    }

    /// Takes over the transactional id, which ends what a predecessor left open, and joins the group.
    package func start() throws {
        try transactions?.initialize(within: .seconds(60))
        try link.subscribe(
            onAssign: { [unowned self] in try assign($0) },
            onRevoke: { [unowned self] in revoke($0, lost: $1, deadline: $2) }
        )
        context.health.notReady(
            context.fenced ?? "waiting for the group \(configuration.groupID) to assign partitions"
        )
    }

    // MARK: - One turn

    /// Reads, fires and publishes for a moment, and advances the checkpoint.
    ///
    /// - Throws: what makes it impossible to go on; close the lane, and begin anew.
    package func turn() throws {
        context.health.beat()
        let held = try regulate()
        let isHeld = held != .nothing
        tendStores()
        if ledger.checkpoint.allowsWork {
            if isHeld, !backPressure.isPaused {
                try serveReports(within: .milliseconds(2))
            } else if let unfinished {
                try proceed(in: unfinished, isHeld: isHeld)
            } else {
                // A record asks for one send at most, apart from a removal of all. At the bound the group is still served.
                let limit = min(Self.recordsPerTurn, max(1, sends?.room ?? .max))
                try read(upTo: limit, waiting: waitingTime(isHeld: isHeld))
            }
            if let mustRestart { throw mustRestart }
            try takeOutcomes()
            endCatchUps(isReadingHeld: isHeld)
            if held != .everything { try fireTimers() }
            try serveReports(within: .zero)
        } else {
            try serveReports(within: .milliseconds(2))
        }
        if isCheckpointDue() { cut() }
        try advanceCheckpoint(waiting: false)
        context.metrics.flush()
        if nextStatus <= link.now { reportStatus() }
    }

    /// How long a read may wait: until the next timer or deadline, and shortly while acknowledgements are awaited. What
    /// becomes of sends ends the wait.
    private func waitingTime(isHeld: Bool) -> Duration {
        if ledger.checkpoint.isUnderWay || link.outstanding > 0 || isHeld { return .milliseconds(2) }
        var wait: Int64 = 100
        if let deadline = sends?.nextDeadline() {
            // Rounded up: before its time there is nothing to do.
            wait = min(wait, max(0, (deadline - link.now).milliseconds + 1))
        }
        if !catchingUp.isEmpty { wait = min(wait, 5) }
        let now = context.clock()
        for number in ownedNumbers {
            guard let next = owned[Int(number)]?.nextWork() else { continue }
            wait = min(wait, max(0, next.rawValue - now.rawValue))
        }
        return .milliseconds(wait)
    }

    private func read(upTo limit: Int, waiting: Duration) throws {
        var waiting = waiting
        var readAt = context.clock()
        for _ in 0..<limit {
            let isRead = try link.poll(within: waiting) { record, copy in
                if waiting > .zero { readAt = context.clock() }
                try apply(record, at: readAt, copy)
            }
            guard isRead, mustRestart == nil, unfinished == nil, !isCheckpointFull else { return }
            waiting = .zero
        }
    }

    /// Nothing more is done before the next cut.
    private var isCheckpointFull: Bool {
        ledger.checkpoint.isUnderWay ? ledger.budget.isOverfull : ledger.budget.isFull
    }

    /// A piece of what is unfinished; the group is served, and nothing is read.
    private func proceed(in unfinished: InputPartition, isHeld: Bool) throws {
        _ = try link.poll(within: isHeld ? .milliseconds(2) : .zero) { record, copy in
            // None is to come while reading is paused. If one does, what was before it is before it.
            while self.unfinished != nil { try takePiece(of: unfinished) }
            try apply(record, at: context.clock(), copy)
        }
        if !isHeld, !isCheckpointFull, mustRestart == nil, self.unfinished == unfinished {
            try takePiece(of: unfinished)
        }
    }

    private func takePiece(of place: InputPartition) throws {
        let number = place.partition
        let now = context.clock()
        let before = ledger.budget.published
        let outcome = try usingStore { try owned[Int(number)]?.center.proceed(at: now) }
        try carryOut(of: number, at: now)
        // Each event is of an entry that has changed.
        ledger.budget.expect(ledger.budget.published - before)
        work += 1
        owned[Int(number)]?.isTouched = true
        guard outcome != .unfinished else { return }
        if let outcome { context.metrics.count(outcome) }
        owned[Int(number)]?.inputs[place.input].position += 1
        unfinished = nil
        if !backPressure.isPaused { link.resumeReading() }
    }

    private func apply(_ record: Intake.Record, at now: Timestamp, _ copy: () -> KafkaConsumerRecord) throws {
        let index = Int(record.partition)
        // A record that was fetched before its partition left belongs to the next owner.
        guard owned.indices.contains(index), owned[index] != nil else { return }
        let life = owned[index]?.inputs[record.input].life ?? 0
        let input: CenterInput?
        do throws(ModelError) {
            input = try intake.input(from: record, life: life, at: now)
        } catch {
            input = nil
            try bury(record, copy, because: error)
            // Read again at another time, or with other settings, it might be none.
            if error.reason == .inFuture || error.reason == .tooLarge {
                owned[index]?.center.noteUndecided(at: .init(record.input, offset: record.offset, life: life))
            }
        }
        var isUnfinished = false
        if let input {
            let applied = try usingStore { try owned[index]?.apply(input, at: now) }
            let outcome = applied?.outcome
            if let outcome { context.metrics.count(outcome) }
            isUnfinished = outcome == .unfinished
            if applied?.isInNextCut == true {
                ledger.budget.expect((record.key?.count ?? 0) + (record.value?.count ?? 0))
            }
            if outcome == .duplicate {
                logger.debug(
                    "a duplicate is dropped: its id is known",
                    metadata: [
                        LogMetadata.requestID: "\(input.id)", LogMetadata.partition: "\(record.partition)",
                        LogMetadata.offset: "\(record.offset)",
                    ]
                )
            }
        }
        try carryOut(of: record.partition, at: now, written: record.timestamp)
        work += 1
        // What is half done is read again by whoever comes next.
        owned[index]?.inputs[record.input].position = isUnfinished ? record.offset : record.offset + 1
        owned[index]?.isTouched = true
        guard isUnfinished else { return }
        unfinished = InputPartition(record.input, record.partition)
        link.pauseReading()
    }

    /// A record that cannot be used goes to the dead letters as it came.
    private func bury(_ record: Intake.Record, _ copy: () -> KafkaConsumerRecord, because error: ModelError) throws {
        logger.warning(
            "dead letter",
            metadata: [
                LogMetadata.reason: "\(error.reason.rawValue)", "field": "\(error.field ?? "")",
                LogMetadata.partition: "\(record.partition)", LogMetadata.offset: "\(record.offset)",
            ]
        )
        context.metrics.count(deadLetter: error.reason)
        try transactions?.beginIfNeeded()
        try emission.publishDeadLetter(copy(), because: error, group: configuration.groupID)
    }

    private func endCatchUps(isReadingHeld: Bool) {
        for number in catchingUp {
            owned[Int(number)]?.endCatchUp(isReadingHeld: isReadingHeld, at: link.now) { input, position in
                link.lag(of: InputPartition(input, number), after: position)
            }
            if owned[Int(number)]?.isCatchingUp != true { catchingUp.remove(number) }
        }
    }

    private func fireTimers() throws {
        // The horizons of all partitions move at the same time: what comes in is bounded for all together, and no partition is
        // always the last.
        var room = DueWindow.loadedAtATime
        firstToFire = firstToFire + 1 < ownedNumbers.count ? firstToFire + 1 : 0
        for place in ownedNumbers.indices {
            let now = context.clock()
            let index = Int(ownedNumbers[(firstToFire + place) % ownedNumbers.count])
            let early = try usingStore {
                room -= try owned[index]?.center.refill(at: now, limit: room) ?? 0
                return try owned[index]?.center.forget(at: now)
            }
            context.metrics.count(forgottenEarly: early ?? 0)
            try fireTimers(of: index, at: now)
        }
    }

    /// In small numbers where their contents may be more than the checkpoint has room for.
    private func fireTimers(of index: Int, at now: Timestamp) throws {
        var left = min(Self.timersPerTurn, sends?.room ?? .max)
        while left > 0, !isCheckpointFull {
            let limit = min(left, ledger.budget.room(for: 2 * ModelLimits.requestBytes))
            let fired = owned[index]?.fireDue(at: now, limit: limit) {
                context.metrics.record(lateness: $0)
            }
            guard let fired, fired > 0 else { return }
            work += fired
            left -= fired
            let before = ledger.budget.published
            try carryOut(of: Int32(index), at: now)
            // The entry of one that repeats has its content still.
            ledger.budget.expect(ledger.budget.published - before)
            if fired < limit { return }
        }
    }

    /// Does what turns of a partition asked for: publishes events and begins sends.
    ///
    /// - Parameter written: the timestamp of the request that was applied.
    func carryOut(of number: Int32, at now: Timestamp, written: Int64? = nil) throws {
        owned[Int(number)]?.center.exchangeEffects(with: &effects)
        for effect in effects {
            switch effect {
            case .publish(let event, let trace):
                try transactions?.beginIfNeeded()
                try emission.publish(event, trace, at: now)
                context.metrics.count(event.name)
                if event.name == .delivered, let written, context.metrics.wantsLatency {
                    context.metrics.record(latency: now.rawValue - written)
                }
            case .send(let attempt): send(attempt, of: number)
            case .withdraw(let id, let key): withdraw(id, of: key)
            }
        }
        effects.removeAll(keepingCapacity: true)
    }

    /// Any error in here but the end of the lane is the store's.
    func usingStore<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let end as LaneEnd {
            throw end
        } catch {
            throw LaneEnd.storeFailed("\(error)")
        }
    }

    private func isCheckpointDue() -> Bool {
        guard !ledger.checkpoint.isUnderWay else { return false }
        let now = context.clock()
        let isDue =
            nextCheckpoint <= link.now || ledger.budget.isFull || dirtyEntries() >= configuration.checkpointEntries
            || ownedNumbers.contains { owned[Int($0)]?.wantsLimit(at: now) == true }
        if isDue { nextCheckpoint = link.now.advanced(by: configuration.checkpointInterval) }
        return isDue
    }
}
