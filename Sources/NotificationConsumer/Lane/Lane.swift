import Kafka
import Logging
import NotificationDelivery
import NotificationModel
import NotificationState
import ServiceSupport

/// One consumer, one producer and the centers of their partitions on one thread, as a stream thread of Kafka Streams: no
/// record crosses a thread. A record's way: `poll` → `Intake` → `PartitionCenter` → `Emission` → `Checkpoint`.
///
/// Both guarantees and every `LaneLink` use this one loop. A lane that throws is closed, and the next one starts from the
/// state that Kafka holds: a lane never repairs itself, since its memory may be ahead of what is committed.
///
/// ## Where a record's time goes
/// Of the process's CPU for an immediate request of 400 bytes (`perf`, `carillon-bench pipeline`), librdkafka's broker thread
/// takes about 40 %: sockets, batches, compression. The rest is spent on this thread:
/// - `Emission`: half of it copies eight headers into librdkafka's list; writing the event and its id is small;
/// - the changelog: one entry for each key and checkpoint, without headers;
/// - delivery reports: mostly freeing librdkafka's messages;
/// - `PartitionCenter`: one or two cache misses for the key, and remembering the closed id;
/// - `Intake`: one scan of the JSON, which copies nothing and builds no tree;
/// - the input's headers, which librdkafka parses when the first one is read;
/// - copying key and value, polling, and counting.
///
/// The allocator takes about a third of this thread's time, more for librdkafka than for Carillon: the page of figures
/// compares it with jemalloc.
package final class Lane<Link: LaneLink>: LoopWorker {
    /// The maximum number of records applied before timers, reports and the checkpoint are served.
    static var recordsPerTurn: Int { 1000 }
    static var timersPerTurn: Int { 1000 }

    let context: LaneContext
    let configuration: ConsumerServiceConfiguration
    let link: Link
    /// nil with `at-least-once`.
    let transactions: KafkaTransactions<Link>?
    let ledger: DeliveryLedger
    let intake: Intake
    /// Of the centers of all partitions.
    let rules: LifecycleRules
    // Unchecked: what each record uses several times. Only its thread uses a lane.
    @exclusivity(unchecked) var emission: Emission<Link>
    let partitions: Int32
    let logger: Logger

    @exclusivity(unchecked) var owned: OwnedPartitions
    /// The current assignment; the outcome of a send of an earlier one is too late.
    var assignmentID: UInt64 = 0
    /// The effects of turns, taken from a center; empty between two calls of `carryOut`.
    @exclusivity(unchecked) var effects: [Effect] = []
    /// Signals that wait for requests.
    let heldSignals = HeldSignals()
    /// The sends of the channels; none where the `delivered` event is the only hand-over.
    var sends: ChannelSends
    /// What channels have told of themselves that was published since the last commit.
    var uncommittedChanges: [(of: ChannelChanges, event: ChannelEvent)] = []
    /// The enrichments of contents.
    var enrichments: Enrichments
    /// The enrichments of the last turn for which there was no room, and what becomes of their notifications.
    var declined: [(work: Issued<EnrichmentWork>, result: EnrichedContent)] = []
    /// The categories that notifications are delivered with, and the version of the table that has them.
    var categories = CategoryBook.empty
    var categoryVersion = 0
    /// The spans of what it does; nil where nothing is traced.
    @exclusivity(unchecked) var spans: LaneSpans?
    /// The queries that wait for this lane; nil where nobody asks.
    let queries: QueryInbox?
    var backPressure = BackPressure()
    /// The zones of which the log said already that the database does not have them.
    var missingZones: Set<String> = []
    /// Turns in which timers could fire.
    private var firings = 0
    /// Records applied and timers fired so far.
    @exclusivity(unchecked) package private(set) var work = 0
    private var nextCheckpoint: ContinuousClock.Instant
    /// The dead letters that are logged.
    var letters = DeadLetterLog()
    /// When the oldest work was done that is not committed; nil when all is.
    var uncommittedSince: ContinuousClock.Instant?
    var nextStatus: ContinuousClock.Instant
    private var lastRead: ContinuousClock.Instant
    /// Why the lane must end at the next turn.
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
        owned = OwnedPartitions(count: count)
        let home: @Sendable (String) -> Int32 = { component in
            KafkaPartitioner.partition(forKey: Array(component.utf8), count: count)
        }
        intake = Intake(
            requests: RequestIntake(
                topic: configuration.topics.requests,
                zones: context.zones,
                channels: ChannelRules(configuration.channel, and: configuration.channels),
                bound: RecordBound(link.maximumRecordBytes),
                enriches: context.enrichment != nil,
                // A channel or an enrichment can have one content of an entry while another waits.
                contents: context.channels.isEmpty && context.enrichment == nil ? 1 : 2,
                noteUnsaid: { [unsaid = context.metrics.unsaid, logger = context.logger] in unsaid.note($0, logger) },
                partition: { key in key.withRecipientBytes { KafkaPartitioner.partition(forKey: $0, count: count) } }
            ),
            signals: SignalIntake(application: configuration.defaultApplication, partition: home),
            devices: DeviceIntake(zones: context.zones, partition: home)
        )
        rules = LifecycleRules(context, intake.requests)
        emission = Emission(link: link, source: configuration.source, ledger: ledger)
        spans = context.tracer.map { LaneSpans($0, context.configuration) }
        sends = Self.sends(of: context, waking: link)
        sends.spans = spans?.attempts
        enrichments = Self.enrichments(of: context, waking: link)
        queries = context.queries.map { _ in QueryInbox(wake: link.wake) }
        let now = link.now
        (nextCheckpoint, nextStatus, lastRead) = (now, now, now)
    }

    /// Takes over the transactional id, which aborts an open transaction of the predecessor, and joins the group.
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

    /// How long a lane whose channels have no room leaves reading out: that serves the group, too.
    static var longestWithoutReading: Duration { .milliseconds(100) }

    /// Reads, fires and publishes within its bounds, and advances the checkpoint.
    ///
    /// - Throws: the reason why the lane cannot continue; close it, and start another one.
    package func turn() throws {
        context.health.beat()
        refreshCategories()
        let held = try regulate()
        let isHeld = held != .nothing
        owned.tendStores(at: link.now)
        if ledger.checkpoint.allowsWork {
            let room = sends.room
            if isHeld, !backPressure.isPaused {
                try serveReports(within: .milliseconds(2))
            } else if let unfinished = owned.unfinished {
                try proceed(in: unfinished, isHeld: isHeld)
            } else if !isHeld, room == 0, link.now - lastRead < Self.longestWithoutReading {
                try serveReports(within: .milliseconds(2))
            } else {
                // A record concerns one notification at most, except a removal of all. While reading is paused `poll` serves the group.
                let limit = min(Self.recordsPerTurn, max(1, room))
                try read(upTo: limit, waiting: waitingTime(isHeld: isHeld))
                lastRead = link.now
                try applyReadySignals()
            }
            if let mustRestart { throw mustRestart }
            try takeEnrichments()
            try takeOutcomes()
            endCatchUps(isReadingHeld: isHeld)
            if held != .everything { try fireTimers() }
            sends.flush()
            try serveReports(within: .zero)
        } else {
            try awaitAcknowledgements(within: .milliseconds(2))
        }
        try answerQueries()
        if isCheckpointDue() { cut() }
        try advanceCheckpoint(waiting: false)
        context.metrics.flush()
        if nextStatus <= link.now { reportStatus() }
    }

    /// How long a read may wait: until the next timer or deadline, and shortly while acknowledgements are awaited. An
    /// outcome of a send ends the wait.
    private func waitingTime(isHeld: Bool) -> Duration {
        if ledger.checkpoint.isUnderWay || link.outstanding > 0 || isHeld || !heldSignals.isEmpty {
            return .milliseconds(2)
        }
        var wait: Int64 = 100
        if let deadline = nextSideWork() {
            // Rounded up: before the deadline there is nothing to do.
            wait = min(wait, max(0, (deadline - link.now).milliseconds + 1))
        }
        if owned.isCatchingUp { wait = min(wait, 5) }
        return .milliseconds(owned.timeToNextWork(atMost: wait, at: context.clock()))
    }

    /// Lets timers fire and inputs be read that waited for the backlog.
    private func endCatchUps(isReadingHeld: Bool) {
        guard owned.isCatchingUp else { return }
        let now = link.now
        owned.endCatchUps(isReadingHeld: isReadingHeld, at: now) { link.lag(of: $0, after: $1) }
        let ready = owned.endDevicesFirst(at: now) { link.lag(of: $0, after: $1) }
        if !ready.isEmpty { link.resume(ready) }
    }

    private func read(upTo limit: Int, waiting: Duration) throws {
        var waiting = waiting
        var readAt = context.clock()
        for _ in 0..<limit {
            let isRead = try link.poll(within: waiting) { record, copy in
                if waiting > .zero { readAt = context.clock() }
                try take(record, at: readAt, copy)
            }
            guard isRead, mustRestart == nil, owned.unfinished == nil, !isCheckpointFull else { return }
            waiting = .zero
        }
    }

    /// Whether work must wait for the next cut.
    var isCheckpointFull: Bool {
        ledger.checkpoint.isUnderWay ? ledger.budget.isOverfull : ledger.budget.isFull
    }

    /// Applies a piece of the unfinished record. `poll` serves the group; reading is paused.
    private func proceed(in unfinished: InputPartition, isHeld: Bool) throws {
        _ = try link.poll(within: isHeld ? .milliseconds(2) : .zero) { record, copy in
            // No record should come while reading is paused. If one does, the unfinished one is applied first.
            while owned.unfinished != nil { try takePiece(of: unfinished) }
            try take(record, at: context.clock(), copy)
        }
        if !isHeld, !isCheckpointFull, mustRestart == nil, owned.unfinished == unfinished {
            try takePiece(of: unfinished)
        }
    }

    func takePiece(of place: InputPartition) throws {
        let now = context.clock()
        let outcome = try usingStore { try owned[place.partition]?.center.proceed(at: now) }
        try carryOut(of: place.partition, at: now)
        work += 1
        owned.notePiece(isLast: outcome != .unfinished)
        guard outcome != .unfinished else { return }
        if let outcome { context.metrics.count(outcome, of: place.input) }
        if !backPressure.isPaused { link.resumeReading() }
    }

    func apply(_ record: Intake.Record, at now: Timestamp, _ copy: () -> KafkaConsumerRecord) throws {
        // A record that was fetched before its partition left belongs to the next owner.
        guard owned.exists(record.partition), let partition = owned[record.partition] else { return }
        guard spans != nil else { return _ = try applyNow(record, in: partition, at: now, copy) }
        var named = record
        spans?.begin(&named)
        let refusal = try applyNow(named, in: partition, at: now, copy)
        spans?.end(refusal)
    }

    /// - Returns: why the record is a dead letter; nil when it is none.
    private func applyNow(
        _ record: Intake.Record,
        in partition: OwnedPartition,
        at now: Timestamp,
        _ copy: () -> KafkaConsumerRecord
    ) throws -> ModelError? {
        let number = record.partition
        var refusal: ModelError?
        let life = partition.inputs[record.input].life
        let input: CenterInput?
        do throws(ModelError) {
            input = try intake.input(from: record, life: life, at: now)
        } catch {
            input = nil
            if error.reason == .misrouted, let home = intake.home(ofMisrouted: record),
                emission.canForward(copy())
            {
                try transactions?.beginIfNeeded()
                try emission.forward(copy(), to: home)
                context.metrics.countForwarded()
            } else {
                refusal = error
                try bury(record, copy, because: error)
            }
            // Read again at another time, or with other settings, the record might be accepted.
            if error.reason == .inFuture || error.reason == .tooLarge {
                partition.center.noteUndecided(at: .init(record.input, offset: record.offset, life: life))
            }
        }
        var isUnfinished = false
        if let input {
            let outcome = try usingStore { try partition.center.apply(input, at: now) }
            context.metrics.count(outcome, of: record.input)
            if case .request = input, outcome == .applied || outcome == .superseded {
                context.metrics.count(requested: 1)
            }
            isUnfinished = outcome == .unfinished
            if case .refused(let error) = outcome {
                refusal = error
                try bury(record, copy, because: error)
            }
            if outcome == .duplicate {
                logger.debug(
                    "a duplicate is dropped: its id is known",
                    metadata: [
                        LogMetadata.requestID: "\(input.id.map { "\($0)" } ?? "")", LogMetadata.partition: "\(number)",
                        LogMetadata.offset: "\(record.offset)",
                    ]
                )
            }
        }
        try carryOut(of: partition, number, at: now, written: record.timestamp)
        work += 1
        owned.noteRead(record, in: partition, isUnfinished: isUnfinished)
        if isUnfinished { link.pauseReading() }
        return refusal
    }

    /// Publishes a record that cannot be used to the dead letters, unchanged.
    private func bury(_ record: Intake.Record, _ copy: () -> KafkaConsumerRecord, because error: ModelError) throws {
        let place = DeadLetterLog.Place(
            topic: configuration.topics[record.input],
            partition: record.partition,
            offset: record.offset
        )
        letters.note(error, at: place, link.now, logger)
        context.metrics.count(deadLetter: error.reason)
        try transactions?.beginIfNeeded()
        try emission.publishDeadLetter(copy(), because: error, group: configuration.groupID)
    }

    private func fireTimers() throws {
        // One bound for what the due windows of all partitions load in this turn.
        var room = DueWindow.loadedAtATime
        owned.rotateFiring()
        for place in owned.numbers.indices {
            let number = owned.firing(at: place)
            let now = context.clock()
            let early = try usingStore {
                room -= try owned[number]?.center.refill(at: now, limit: room) ?? 0
                return try owned[number]?.center.forget(at: now)
            }
            context.metrics.count(forgottenEarly: early ?? 0)
            if owned[number]?.isReplanning == true { try replan(number, at: now) }
            if owned[number]?.lacksZones == true { noteMissingZones(of: number) }
        }
        // A mass that is late lets no urgent timer wait, in no partition. In every tenth turn it does: a sender to whom all is urgent
        // takes no more than that from others.
        firings &+= 1
        for urgentOnly in firings % 10 == 0 ? [false] : [true, false] {
            for place in owned.numbers.indices {
                try fireTimers(of: owned.firing(at: place), urgentOnly: urgentOnly, at: context.clock())
            }
        }
    }

    /// Fires as many timers at a time as the checkpoint has room for if their contents are large.
    private func fireTimers(of number: Int32, urgentOnly: Bool, at now: Timestamp) throws {
        var left = min(Self.timersPerTurn, sends.room)
        while left > 0, !isCheckpointFull {
            let limit = min(left, ledger.budget.room(for: 2 * ModelLimits.requestBytes))
            let fired = try usingStore {
                try owned[number]?.fireDue(at: now, limit: limit, urgentOnly: urgentOnly) {
                    context.metrics.record(lateness: $0)
                }
            }
            guard let fired, fired.count > 0 else { return }
            work += fired.count
            left -= fired.count
            try carryOut(of: number, at: now)
            if fired.isAll { return }
        }
    }

    /// Every error of `body` that is not the end of the lane is one of the store.
    func usingStore<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let end as LaneEnd {
            throw end
        } catch {
            throw LaneEnd.storeFailed("\(error)")
        }
    }

    func isCheckpointDue() -> Bool {
        guard !ledger.checkpoint.isUnderWay else { return false }
        let now = context.clock()
        let isDue =
            nextCheckpoint <= link.now || ledger.budget.isFull
            || owned.dirtyCount >= configuration.lane.checkpointEntries
            || owned.numbers.contains { owned[$0]?.wantsLimit(at: now) == true }
        if isDue { nextCheckpoint = link.now.advanced(by: configuration.lane.checkpointInterval) }
        return isDue
    }
}
