import NotificationModel

/// The notification centres of one partition: turns over entries in use (`WorkingSet`) and those that are committed and far
/// (`EntryStore`). It finds the entry that an input concerns, lets a `Turn` change it, and keeps what the turn asks for until the
/// lane takes it.
///
/// What is due within the window (`DueWindow`) is in use, what is due later is in the store alone.
struct PartitionCenter {
    /// Bounds on what one partition keeps.
    struct Limits: Sendable {
        /// Entries, pending and remembered. Beyond it the longest unused are forgotten; when all are pending a new
        /// request is answered `suppressed` with reason `capped`.
        var maximumEntries = 1_000_000
        /// Entries with nothing near that are kept in use.
        var maximumResident = 20_000
        /// Milliseconds for which closed and delivered ones are remembered.
        var retention: Int64 = 7 * 24 * 3600 * 1000
        /// Entries that a removal of everything a recipient has changes at a time.
        var entriesPerPiece = 1000
    }

    /// How a record is read.
    enum Reading {
        /// To decide what becomes of it.
        case first
        /// To make again what the changelog does not contain: it had room then, and its events are published.
        case again
    }

    let limits: Limits
    let rules: LifecycleRules
    var inUse = WorkingSet()
    var recipients = RecipientSet()
    let store: any EntryStore
    var window: DueWindow
    /// A request that was written before this instant may have been sent by the previous owner.
    private let doubtThrough: Timestamp?
    /// What turns ask for, until the lane takes it.
    private var effects: [Effect] = []
    /// Entries of the cut that is under way.
    var cutSlots: [WorkingSet.Slot] = []
    /// Forgotten in the store, and not cut yet.
    var forgottenKeys: [[UInt8]] = []
    var nextForgetting = Timestamp(rawValue: 0)
    /// The removal of everything a recipient has that is under way.
    var sweep: Sweep?
    /// How many inputs were applied, the clock at the last one, and the first one since which it has only gone forward.
    var inputs = 0
    private var lastInput = Timestamp.earliest
    var steadyFrom = 0
    /// Nothing fires, and a request that is due already is armed; see `CatchUp`.
    var holdsTimers = false
    /// Nothing is given to a channel later than this: a marker must say first that it may have been sent.
    var sendLimit = Timestamp.latest
    /// Sends that a channel has.
    private(set) var inFlight = 0

    /// Takes over a partition whose changelog was read to its end.
    ///
    /// - Parameters:
    ///   - store: holds every committed entry.
    ///   - firedThrough: no timer beyond it has fired; what was due before may be on a device, is in doubt, and comes in
    ///     first. Nil when nothing can be in doubt.
    init(
        rules: LifecycleRules,
        limits: Limits,
        store: any EntryStore,
        firedThrough: Timestamp? = nil,
        at now: Timestamp
    ) throws {
        self.limits = limits
        self.rules = rules
        self.store = store
        window = DueWindow(from: firedThrough ?? .earliest)
        doubtThrough = firedThrough
        inUse.totals = store.counts
        guard let firedThrough else { return }
        while try !load(through: firedThrough, at: now).isAll {}
        for slot in inUse.slots {
            inUse.update(slot, at: now, from: .clock) { entry in
                entry.putInDoubt(through: firedThrough, at: now)
                return ((), changed: true)
            }
        }
    }

    var pendingCount: Int { inUse.totals.pending }
    var entryCount: Int { inUse.totals.entries }
    var residentCount: Int { inUse.count }
    /// Changes that the store has not written yet.
    var unwritten: Int { store.unwritten }
    /// Why the store does not write, while that is so.
    var storeTrouble: String? { store.trouble }

    /// Gives what turns asked for since the last call, in exchange for an empty buffer.
    mutating func exchangeEffects(with buffer: inout [Effect]) { swap(&effects, &buffer) }

    // MARK: - Finding

    /// The entry's slot, brought in from the store if it is there.
    mutating func slot(of key: NotificationKey, at now: Timestamp) throws -> WorkingSet.Slot? {
        if let slot = inUse.slot(of: key) { return slot }
        guard let stored = try store.entry(of: key.encoded), !forgottenKeys.contains(key.encoded) else { return nil }
        return try bringIn(key, stored.value, at: now)
    }

    /// Brings an entry in from the store. An entry with a send in flight stays in use, so one that is found in the store is the
    /// previous owner's, and its outcome is lost: `firedThrough` covers timers only.
    @discardableResult
    mutating func bringIn(_ key: NotificationKey, _ json: [UInt8], at now: Timestamp) throws -> WorkingSet.Slot {
        let entry = try StateEntry(json: json)
        let slot = inUse.load(key, entry)
        let isDue = entry.pending?.due.map { $0 <= now } ?? false
        if let pending = entry.pending, pending.content.count > rules.contentBytes, !isDue {
            // It cannot be written again, so it is suppressed before the next cut: timers up to the last marker may fire by then.
            inUse.update(slot, at: now, from: .clock) { entry in
                entry.pending?.due = min(now, entry.touched)
                return ((), changed: true)
            }
        }
        if let sending = entry.sending, case .inFlight = sending.phase {
            inUse.update(slot, at: now, from: .clock) { entry in
                entry.putInDoubt(through: .earliest, at: now)
                return ((), changed: true)
            }
        }
        return slot
    }

    /// What is kept of a key.
    func entry(of key: NotificationKey) throws -> StateEntry? {
        if let slot = inUse.slot(of: key) { return inUse.entry(of: slot) }
        return try store.entry(of: key.encoded).map { try StateEntry(json: $0.value) }
    }

    // MARK: - Turns

    /// Runs a turn over the entry of a key.
    ///
    /// - Parameter cause: whether reading the log again makes the change again.
    mutating func turn<Result>(
        of key: NotificationKey,
        at now: Timestamp,
        from cause: WorkingSet.Cause,
        mayHaveBeenSent: Bool = false,
        _ body: (inout Turn) -> Result
    ) throws -> Result {
        let slot = try slot(of: key, at: now)
        var turn = beginTurn(of: key, at: now)
        turn.mayHaveBeenSent = mayHaveBeenSent
        defer { end(&turn) }
        guard let slot else {
            let result = body(&turn)
            if turn.isChanged { inUse.insert(key, turn.entry, at: now, from: cause) }
            return result
        }
        return inUse.run(&turn, in: slot, from: cause, body)
    }

    mutating func beginTurn(of key: NotificationKey, at now: Timestamp) -> Turn {
        var turn = Turn(rules: rules, key: key, at: now)
        turn.holdsTimers = holdsTimers
        turn.holdsSends = rules.handover.isBySend && (holdsTimers || now > sendLimit)
        swap(&turn.effects, &effects)
        return turn
    }

    mutating func end(_ turn: inout Turn) {
        swap(&turn.effects, &effects)
        inFlight += turn.sends
    }

    // MARK: - Inputs

    /// Applies one input, in the order of the log.
    ///
    /// - Returns: `unfinished` for a removal of everything a recipient has that is larger than one piece: `proceed` continues it.
    /// - Throws: what makes the store unusable.
    mutating func apply(
        _ input: CenterInput,
        at now: Timestamp,
        _ reading: Reading = .first
    ) throws -> CenterInput.Outcome {
        if now < lastInput { steadyFrom = inputs }
        lastInput = now
        let cause = input.isTimeless ? WorkingSet.Cause.log(input.position, number: inputs) : .clock
        inputs += 1
        switch input {
        case .request(let request): return try apply(request, at: now, from: cause, reading)
        case .removal(let removal) where removal.key.isWholeRecipient:
            return try applyToAll(removal, at: now, from: cause, reading)
        case .removal(let removal):
            guard try hasRoom(for: removal.key, at: now, reading) else {
                // Its id cannot be remembered.
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
        if isCapped, try slot(of: request.key, at: now) == nil {
            guard hasRoom else {
                inUse.endReplay(before: request.position)
                return outsideOfEntries(request.key, at: now) { $0.refuseCapped(request) }
            }
            // Room, and not the log, has decided.
            return try turn(of: request.key, at: now, from: .clock) { $0.refuseCapped(request) }
        }
        let isInDoubt = reading == .again || doubtThrough.map { request.timestamp <= $0 } ?? false
        return try turn(of: request.key, at: now, from: cause, mayHaveBeenSent: isInDoubt) { $0.apply(request) }
    }

    /// A turn whose entry has no room: its effects count, the entry is dropped.
    @discardableResult
    mutating func outsideOfEntries<Result>(
        _ key: NotificationKey,
        at now: Timestamp,
        _ body: (inout Turn) -> Result
    ) -> Result {
        var turn = beginTurn(of: key, at: now)
        defer { end(&turn) }
        return body(&turn)
    }

    /// Applies what a channel answered.
    ///
    /// - Returns: false when it is late, or came twice.
    mutating func apply(_ outcome: ChannelOutcome, at now: Timestamp) throws -> Bool {
        guard try slot(of: outcome.send.key, at: now) != nil else { return false }
        let isCurrent = try turn(of: outcome.send.key, at: now, from: .clock) { $0.apply(outcome) }
        if isCurrent { inFlight -= 1 }
        return isCurrent
    }

    // MARK: - Time

    /// When the next timer is due; nil when none is near.
    mutating func nextDue() -> Timestamp? { inUse.nextDue() }

    /// When the window is to move on; nil when the store holds nothing pending beyond it.
    var nextRefill: Timestamp? { inUse.totals.pending > inUse.armed + inFlight ? window.nextRefill : nil }

    /// Brings in a bounded number of the timers that come near.
    ///
    /// - Returns: how many came; where keys are due at one instant they may be more than `limit`.
    @discardableResult
    mutating func refill(at now: Timestamp, limit: Int = DueWindow.loadedAtATime) throws -> Int {
        guard window.moves(at: now), limit > 0, inUse.armed < DueWindow.maximumArmed else { return 0 }
        let (count, isAll) = try load(through: window.target, limit: limit, at: now)
        if isAll { window.reachTarget() }
        return count
    }

    /// - Returns: how many came, and whether nothing is left up to the instant.
    private mutating func load(
        through instant: Timestamp,
        limit: Int = DueWindow.loadedAtATime,
        at now: Timestamp
    ) throws -> (count: Int, isAll: Bool) {
        let found = try store.due(after: &window.cursor, through: instant, limit: limit)
        for stored in found {
            let key = try NotificationKey(encoded: stored.key)
            if inUse.slot(of: key) == nil { try bringIn(key, stored.value, at: now) }
        }
        return (found.count, found.count < limit)
    }

    /// Fires at most `limit` of what is due, the earliest first; what is too late or expired is so by the clock.
    ///
    /// - Parameter end: nothing that is due later is sent; nil for `now`.
    /// - Returns: how many fired; `lateness` is called with how late each was, in milliseconds.
    mutating func fireDue(
        at now: Timestamp,
        through end: Timestamp? = nil,
        limit: Int,
        lateness: (Int64) -> Void = { _ in }
    ) -> Int {
        // What a removal is about to take must not be sent before it gets there.
        guard sweep == nil, !holdsTimers else { return 0 }
        var fired = 0
        let end = min(now, end ?? now)
        while fired < limit, let due = inUse.nextDue(), due <= end, let slot = inUse.popDue(at: end) {
            var turn = beginTurn(of: inUse.key(of: slot), at: now)
            inUse.run(&turn, in: slot, from: .clock) { $0.fire(through: end) }
            self.end(&turn)
            lateness(now.rawValue - due.rawValue)
            fired += 1
        }
        return fired
    }

    /// Ends the use of the store.
    func close(flushing: Bool) { store.close(flushing: flushing) }
}

extension StateEntry {
    /// What was pending up to the instant, or being sent, may be on the device.
    mutating func putInDoubt(through instant: Timestamp, at now: Timestamp) {
        if let due = pending?.due, due <= instant { self.pending?.isInDoubt = true }
        guard sending != nil else { return }
        sending?.isInDoubt = true
        if case .inFlight = sending?.phase { sending?.phase = .waiting(until: now) }
    }
}
