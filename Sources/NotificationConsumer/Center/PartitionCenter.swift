import NotificationDelivery
import NotificationModel
import NotificationState

/// The notification centers of one partition. Entries in use are in memory (`WorkingSet`); all other committed entries
/// are in the store (`EntryStore`). The center finds the entry of an input, lets a `Turn` change it, and collects the
/// effects until the lane takes them.
///
/// Entries due within the window (`DueWindow`) are in memory; entries due later are only in the store.
struct PartitionCenter {
    /// The limits of one partition.
    struct Limits: Sendable {
        /// Entries, pending and remembered. Beyond this, the least recently touched are forgotten; when all are
        /// pending, a new request is answered `suppressed` with reason `capped`.
        var maximumEntries = 1_000_000
        /// Records of recipients and tokens that must not be forgotten, beside the entries. Beyond this, a new one is
        /// refused as `capped`.
        var maximumRecipients = 10_000_000
        /// Entries without a timer that are kept in memory.
        var maximumResident = 20_000
        /// How long closed and delivered notifications are remembered, in milliseconds.
        var retention: Int64 = 7 * 24 * 3600 * 1000
        /// Entries that the removal of all entries of a recipient changes at a time.
        var entriesPerPiece = 1000
        /// Slots of entries whose memory is kept after a burst.
        var keptSlots = 1024
        /// Notifications of a recipient that wait for a region, in an application. Beyond this, a new request is answered
        /// `suppressed` with reason `capped`.
        var regionsPerRecipient = 100
    }

    /// Whether a record is read for the first time or replayed.
    enum Reading {
        /// To decide its outcome.
        case first
        /// To reproduce what the changelog does not contain: there was room then, and its events are published.
        case again
    }

    let limits: Limits
    let rules: LifecycleRules
    var inUse: WorkingSet
    var recipients = RecipientSet()
    let store: any EntryStore
    /// The time zones of calendar triggers.
    let zones: TimeZoneDatabase?
    var window: DueWindow
    /// The slots of the current cut.
    var cutSlots: [WorkingSet.Slot] = []
    /// Keys of forgotten entries that are only in the store, until the next cut.
    var forgottenKeys: [[UInt8]] = []
    var nextForgetting = Timestamp(rawValue: 0)
    /// The change of a recipient's entries that is in progress.
    var procedure: Procedure?
    /// The number of inputs applied, the clock at the last one, and the first input since which the clock has not gone
    /// back.
    var inputs = 0
    private var lastInput = Timestamp.earliest
    /// The last record of `requests` that was applied, or read before this owner began; nil when none was.
    var lastRequest: CenterInput.Position?
    var steadyFrom = 0
    /// What surrounds all turns; the effects are in it until the lane takes them.
    var bench: Turn
    /// No timer fires, and a request that is already due is armed; see `CatchUp`.
    var holdsTimers: Bool {
        get { bench.conditions.holdsTimers }
        set { bench.conditions.holdsTimers = newValue }
    }
    /// Calendar triggers are planned again: no timer fires; nil when they are planned with the current rules.
    var replan: Replan?
    /// How many entries were read that wait for a time in a zone which the database does not have, by zone, until the lane
    /// takes them.
    var missingZones: [String: Int] = [:]
    /// Nothing is sent after this instant: first, a marker must record that it may have been sent.
    var sendLimit: Timestamp {
        get { bench.conditions.sendLimit }
        set { bench.conditions.sendLimit = newValue }
    }
    /// Sends that the channel has not answered yet.
    private(set) var inFlight = 0
    /// The applications with regions, sorted: where a fix that names none looks for its recipient.
    var locatedApplications: [String] = []
    /// Whether each notification looks for its recipient's record: some hold devices or limits.
    var keepsRecipients = false
    /// The categories of the applications.
    var categories: CategoryBook {
        get { bench.conditions.categories }
        set { bench.conditions.categories = newValue }
    }
    /// Notifications whose category was not known, until the lane takes the number.
    var unknownCategories = 0
    /// Digests that began, until the lane takes the number.
    var begunDigests = 0
    /// What recipients are shown in threads.
    var threads = ThreadIndex()
    /// Entries whose timers fired, and which may have stopped waiting for a region: their recipients' records still say so.
    var firedRegions: [NotificationKey] = []

    /// Takes over a partition after its changelog was read to the end.
    ///
    /// - Parameters:
    ///   - store: contains every committed entry.
    ///   - zones: the time zones of calendar triggers; a zone that it does not have keeps the offset of the planned
    ///     occurrence.
    ///   - firedThrough: no timer due later has fired. Entries due up to this instant may be on a device: they are put
    ///     in doubt, and loaded first. Nil when nothing can be in doubt.
    init(
        rules: LifecycleRules,
        limits: Limits,
        store: any EntryStore,
        zones: TimeZoneDatabase?,
        firedThrough: Timestamp? = nil,
        isDoubtFormer: Bool = false,
        at now: Timestamp
    ) throws {
        self.limits = limits
        self.rules = rules
        self.store = store
        self.zones = zones
        window = DueWindow(from: firedThrough ?? .earliest)
        inUse = WorkingSet(rules.channels.grouping)
        bench = Turn(rules: rules, key: .none, at: now)
        (bench.conditions.doubtThrough, bench.conditions.takenOverAt) = (firedThrough, now)
        bench.conditions.isDoubtFormer = isDoubtFormer
        inUse.totals = store.counts
        guard let firedThrough else { return }
        while try !load(through: firedThrough, at: now).isAll {}
        for slot in inUse.slots {
            try putInDoubt(slot, through: firedThrough, at: now)
        }
    }

    var pendingCount: Int { inUse.totals.pending }
    /// Open requests by state.
    var openCounts: OpenCounts { inUse.totals.open }
    /// Without what must not be forgotten.
    var entryCount: Int { inUse.totals.entries - inUse.totals.lasting }
    /// Records of recipients and tokens that must not be forgotten.
    var recipientCount: Int { inUse.totals.lasting }
    var residentCount: Int { inUse.count }

    /// About the bytes that were added to the next cut since the last call.
    mutating func takeCharge() -> Int {
        defer { (inUse.unlogged.charge, recipients.charge) = (0, 0) }
        return inUse.unlogged.charge + recipients.charge
    }

    /// Swaps the effects collected since the last call with an empty buffer.
    mutating func exchangeEffects(with buffer: inout [Effect]) { swap(&bench.effects, &buffer) }

    // MARK: - Finding

    /// The slot of the key's entry, which is loaded from the store if necessary.
    mutating func slot(of key: NotificationKey, at now: Timestamp) throws -> WorkingSet.Slot? {
        if let slot = inUse.slot(of: key) { return slot }
        guard let stored = try store.entry(of: key.encoded), !forgottenKeys.contains(key.encoded) else { return nil }
        return try bringIn(key, StateEntry(json: stored.value, zones: zones), at: now)
    }

    /// Loads an entry from the store. An entry with a send in flight stays in memory, so such an entry in the store was
    /// sent by the previous owner and its outcome is lost: `firedThrough` covers timers only.
    @discardableResult
    mutating func bringIn(
        _ key: NotificationKey,
        _ stored: consuming StateEntry,
        at now: Timestamp
    ) throws -> WorkingSet.Slot {
        var entry = stored
        note(missingZoneOf: entry)
        entry.planPreparation(rules)
        let slot = inUse.load(key, entry)
        let isDue = entry.pending?.due.map { $0 <= now } ?? false
        if let pending = entry.pending, pending.content.count > rules.contentBytes, !isDue {
            // The entry is too large to be written again, so suppress it before the next cut: timers up to the last
            // marker may fire by then.
            inUse.update(slot, at: now, from: .clock) { entry in
                let due = min(now, entry.touched)
                entry.pending?.due = due
                return ((), changed: true)
            }
        }
        if entry.isUnderWay || entry.former != nil { try putInDoubt(slot, through: .earliest, at: now) }
        return slot
    }

    /// The entry of a key, in memory or in the store.
    func entry(of key: NotificationKey) throws -> StateEntry? {
        if let slot = inUse.slot(of: key) { return inUse.entry(of: slot) }
        return try store.entry(of: key.encoded).map { try StateEntry(json: $0.value, zones: zones) }
    }

    // MARK: - Turns

    /// Runs a turn over the entry of a key.
    ///
    /// - Parameters:
    ///   - cause: whether a replay of the log reproduces the change.
    ///   - needsRecipient: false for what never sends a notification.
    mutating func turn<Result>(
        of key: NotificationKey,
        at now: Timestamp,
        from cause: WorkingSet.Cause,
        mayHaveBeenSent: Bool = false,
        needsRecipient: Bool = true,
        _ body: (inout Turn) -> Result
    ) throws -> Result {
        let slot = try slot(of: key, at: now)
        let recipient = try keepsRecipients && needsRecipient ? recipientSlot(of: key) : nil
        bench.begin(key, at: now)
        bench.mayHaveBeenSent = mayHaveBeenSent
        lend(recipient)
        defer { endTurn() }
        guard let slot else {
            let result = bench.run(body)
            takeBack(recipient)
            let region = bench.entry.waitsForRegion ? bench.entry : nil
            // What was moved in left an empty entry.
            let change = bench.change(from: cause)
            let isMoved = change.map { inUse.insert(key, &bench.entry, at: now, $0) } ?? false
            if !isMoved { bench.entry = StateEntry() }
            if let region { try noteRegion(of: key, region, at: now) }
            return result
        }
        let waited = inUse.waitsForRegion(slot)
        let result = inUse.run(&bench, in: slot, from: cause) { $0.run(body) }
        takeBack(recipient)
        // Also when it waited already: the changelog may hold the entry without the recipient's record.
        if waited || inUse.waitsForRegion(slot) { try noteRegion(of: key, inUse.entry(of: slot), at: now) }
        return result
    }

    mutating func add(_ effect: Effect) { bench.effects.append(effect) }

    /// Takes over what a turn has counted. Its entry is the center's again.
    mutating func endTurn() {
        unknownCategories += bench.unknownCategories
        inFlight += bench.attempts
        (bench.unknownCategories, bench.attempts) = (0, 0)
    }

    /// Runs a turn that has no entry: over the record of a recipient, or where there is no room for one.
    mutating func turnWithoutEntry<Result>(
        of key: NotificationKey,
        _ record: RecipientRecord = RecipientRecord(),
        at now: Timestamp,
        _ body: (inout Turn) -> Result
    ) -> (result: Result, record: RecipientRecord?) {
        bench.begin(key, at: now)
        bench.recipient = record
        let result = body(&bench)
        let changed = bench.isRecipientChanged ? bench.recipient : nil
        bench.recipient = RecipientRecord()
        bench.entry = StateEntry()
        endTurn()
        return (result, changed)
    }

    // MARK: - Inputs

    /// Applies one input, in the order of the log.
    ///
    /// - Returns: `unfinished` for what changes more entries of a recipient than one piece may: `proceed` continues it.
    /// - Throws: errors that make the store unusable.
    mutating func apply(
        _ input: CenterInput,
        at now: Timestamp,
        _ reading: Reading = .first
    ) throws -> CenterInput.Outcome {
        if now < lastInput { steadyFrom = inputs }
        lastInput = now
        let cause = input.isTimeless ? WorkingSet.Cause.log(input.position, number: inputs) : .clock
        inputs += 1
        if input.position.input == .requests, reading == .first { lastRequest = input.position }
        switch input {
        case .request(let request): return try apply(request, at: now, from: cause, reading)
        case .fix(let fix): return try apply(fix, at: now)
        case .signal(let signal):
            guard signal.mayRetire else { return try apply(signal, at: now) }
            return try follow(input, of: signal.recipient, writtenAt: signal.timestamp, at: now)
        case .registration(let registration):
            return try follow(input, of: registration.key.ofRecipient, writtenAt: registration.timestamp, at: now)
        case .claim(let claim): return try apply(claim, at: now)
        case .removal(let removal) where removal.key.isWholeRecipient:
            return try applyToAll(removal, at: now, from: cause, reading)
        case .removal(let removal):
            guard try hasRoom(for: removal.key, at: now, reading) else {
                // There is no room to remember its id.
                inUse.endReplay(before: removal.position)
                return outsideOfEntries(removal.key, at: now) { $0.apply(removal) }
            }
            return try turn(of: removal.key, at: now, from: cause) { $0.apply(removal) }
        }
    }

    private mutating func apply(
        _ request: CenterInput.Request,
        at now: Timestamp,
        from cause: WorkingSet.Cause,
        _ reading: Reading
    ) throws -> CenterInput.Outcome {
        let hasRoom = try hasRoom(for: request.key, at: now, reading)
        let isCapped = !hasRoom || inUse.totals.pending >= limits.maximumEntries && reading == .first
        let isInDoubt = reading == .again || mayHaveBeenHandedOver(request)
        if isCapped, try slot(of: request.key, at: now) == nil {
            // What may have been sent is taken back, and its answer needs an entry.
            guard hasRoom || isInDoubt else {
                inUse.endReplay(before: request.position)
                return outsideOfEntries(request.key, at: now) { $0.refuseCapped(request) }
            }
            // The limit decided, not the log.
            return try turn(of: request.key, at: now, from: .clock, mayHaveBeenSent: isInDoubt) {
                $0.refuseCapped(request)
            }
        }
        if request.limits != nil { keepsRecipients = true }
        var hasRegion = true
        if case .region = request.plan { hasRegion = try hasRoomForRegion(of: request.key, at: now) }
        let outcome = try turn(of: request.key, at: now, from: cause, mayHaveBeenSent: isInDoubt) { turn in
            turn.hasRoomForRegion = hasRegion
            return turn.apply(request)
        }
        // The zone of the recipient decided, not the log, and no entry has a trace of it.
        if case .refused = outcome { noteUndecided(at: request.position) }
        return outcome
    }

    private func mayHaveBeenHandedOver(_ request: CenterInput.Request) -> Bool {
        bench.conditions.mayHaveBeenRead(request.timestamp) && rules.mayHaveBeenHandedOver(request.channel)
    }

    /// Runs a turn whose entry has no room: its events count, but the entry is dropped. So nothing is sent, whose answer nobody would
    /// expect.
    @discardableResult
    mutating func outsideOfEntries<Result>(
        _ key: NotificationKey,
        at now: Timestamp,
        _ body: (inout Turn) -> Result
    ) -> Result {
        turnWithoutEntry(of: key, at: now, body).result
    }

    /// Applies the result of an attempt.
    ///
    /// - Returns: false for a late or duplicate answer.
    mutating func apply(_ result: ChannelResult, to send: ChannelSend, at now: Timestamp) throws -> Bool {
        guard try slot(of: send.key, at: now) != nil else { return false }
        return try turn(of: send.key, at: now, from: .clock) { $0.apply(result, to: send) }
    }

    /// Applies the result of an enrichment.
    ///
    /// - Returns: false when nothing waits for it.
    mutating func apply(_ result: EnrichedContent, to work: EnrichmentWork, at now: Timestamp) throws -> Bool {
        // What waits for an enrichment stays in memory.
        guard inUse.slot(of: work.key) != nil else { return false }
        return try turn(of: work.key, at: now, from: .clock) { $0.apply(result, of: work.requestID) }
    }

    func close(flushing: Bool) { store.close(flushing: flushing) }
}

extension PartitionCenter {
    /// Marks what was pending up to an instant, or under way, as possibly on the devices.
    private mutating func putInDoubt(_ slot: WorkingSet.Slot, through instant: Timestamp, at now: Timestamp) throws {
        let key = inUse.key(of: slot)
        // Where a Live Activity may be follows from the tokens of the recipient.
        let recipient = inUse.mayBeActivity(slot) ? try recipientSlot(of: key) : nil
        bench.begin(key, at: now)
        lend(recipient)
        inUse.run(&bench, in: slot, from: .clock) { $0.putInDoubt(through: instant) }
        takeBack(recipient)
        endTurn()
    }
}
