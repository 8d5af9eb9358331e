import NotificationModel

/// The notification centres of one partition: the rules of `NotificationCenter` over entries in use (`WorkingSet`) and those
/// that are committed and far (`EntryStore`).
///
/// What is due up to the horizon is in use, what is due later is in the store alone; the horizon moves ahead of the clock.
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

    /// What a record asks for.
    enum Input: Sendable {
        case request(NotificationCenter.Request)
        case removal(NotificationCenter.Removal)

        /// The record's.
        var offset: Int64 {
            switch self {
            case .request(let request): request.offset
            case .removal(let removal): removal.offset
            }
        }

        /// What its repeats are known by.
        var id: RequestID {
            switch self {
            case .request(let request): request.id
            case .removal(let removal): removal.id
            }
        }

        /// Whether what becomes of it follows from the log and the entry alone. What has a trigger, a collapse window or an
        /// expiration is decided by the clock.
        var isTimeless: Bool {
            guard case .request(let request) = self else { return true }
            if case .immediate(collapseWindow: 0) = request.plan { return request.expiration == nil }
            return false
        }
    }

    /// How far ahead of the clock timers are brought in, in milliseconds, and when the next ones are.
    private static let horizonAhead: Int64 = 10_000
    private static let horizonRefill: Int64 = 5_000
    /// Timers brought in at a time, and at most in use.
    static let loadedAtATime = 256
    private static let maximumArmed = 200_000
    /// How long a finished entry may wait for its place in the changelog, in milliseconds, and how many may.
    private static let patience: Int64 = 10_000
    /// Timers fire by a clock that may be as far behind, in milliseconds.
    private static let steadiness: Int64 = 60_000
    private static let maximumLazy = 100_000

    let limits: Limits
    let rules: NotificationCenter
    var inUse = WorkingSet()
    let store: any EntryStore
    /// Everything due at or before it is in use.
    private var horizon: Timestamp
    /// Where the horizon goes, while timers up to it are brought in.
    private var target: Timestamp
    private var cursor: DueCursor
    /// A request that was written before this instant may have been sent by the owner before.
    private var doubtThrough: Timestamp?
    /// Entries of the cut that is under way.
    private var cutSlots: [WorkingSet.Slot] = []
    /// Forgotten in the store, and not cut yet.
    private var forgottenKeys: [[UInt8]] = []
    private var nextForgetting = Timestamp(rawValue: 0)
    /// The removal of everything a recipient has that is under way.
    var sweep: Sweep?
    /// The clock at the last input, and the first record since which it has only gone forward.
    private var lastInput = Timestamp.earliest
    private var steadyFrom: Int64 = 0
    /// What is read again had room when it was read first.
    private var isReplaying = false
    /// Nothing fires, and what a request brings is armed although it is due already.
    var holdsTimers = false

    /// Takes over a partition whose changelog was read to its end.
    ///
    /// - Parameters:
    ///   - store: holds every committed entry.
    ///   - firedThrough: no timer beyond it has fired; what was due before may be on a device, is in doubt, and comes in
    ///     first. Nil when nothing can be in doubt.
    init(
        rules: NotificationCenter,
        limits: Limits,
        store: any EntryStore,
        firedThrough: Timestamp? = nil,
        at now: Timestamp
    ) throws {
        self.limits = limits
        self.rules = rules
        self.store = store
        horizon = firedThrough ?? Timestamp.earliest
        target = horizon
        cursor = DueCursor(before: Timestamp.earliest)
        doubtThrough = firedThrough
        inUse.totals = store.counts
        guard let firedThrough else { return }
        while try !load(through: firedThrough, at: now).isAll {}
        for slot in inUse.slots {
            inUse.update(slot, at: now) { entry in
                entry.putInDoubt(through: firedThrough, at: now)
                return ((), changed: true)
            }
        }
    }

    var pendingCount: Int { inUse.totals.pending }
    var entryCount: Int { inUse.totals.entries }
    var residentCount: Int { inUse.count }
    /// Entries that the next cut must have.
    var dirtyCount: Int { inUse.dirtyCount + forgottenKeys.count }
    /// The first request that has finished something which the changelog is not told yet; nil when it knows all.
    ///
    /// Reading again from there makes it again, exactly: what is read again is applied only when it is timeless, everything
    /// else has its trace in the changelog. What left none, since something decided that is not in the log (a dead letter for
    /// its time or its size, no room), ends the range: see `noteUndecided`. A repeat that was dropped leaves its trace in the
    /// entry that knows it, and no entry is forgotten that the range concerns: see `mayForget`.
    var replayOffset: Int64? { inUse.lazyOffset }
    /// Where reading again ends; nil for the next request to read.
    var replayEnd: Int64? { inUse.lazyOffset == nil ? nil : inUse.lazyEnd }

    /// What becomes of a record was decided by something that is neither in the log nor in an entry, and has no trace.
    mutating func noteUndecided(at offset: Int64) { inUse.endReplay(before: offset) }

    /// Whether something has waited for its cut for long enough.
    func isImpatient(at now: Timestamp) -> Bool {
        inUse.lazySince.map { $0 < now.adding(milliseconds: -Self.patience) } ?? false
    }
    /// Changes that the store has not written yet.
    var unwritten: Int { store.unwritten }
    /// Why the store does not write, while that is so.
    var storeTrouble: String? { store.trouble }
    /// Sends that a channel has.
    var inFlight = 0

    // MARK: - Finding

    /// The entry's slot, brought in from the store if it is there.
    mutating func slot(of key: NotificationKey, at now: Timestamp) throws -> WorkingSet.Slot? {
        if let slot = inUse.slot(of: key) { return slot }
        guard let stored = try store.entry(of: key.encoded), !forgottenKeys.contains(key.encoded) else { return nil }
        return try bringIn(key, stored.value, at: now)
    }

    /// Brings an entry in from the store. One that is being sent stays in use, so a send that is found there is of an owner
    /// before, which `firedThrough` tells only of its timers: nobody will hear how it ended.
    @discardableResult
    mutating func bringIn(_ key: NotificationKey, _ json: [UInt8], at now: Timestamp) throws -> WorkingSet.Slot {
        let entry = try StateEntry(json: json)
        let slot = inUse.load(key, entry)
        if let pending = entry.pending, pending.content.count > rules.contentBytes, pending.due > now {
            // It cannot be written again, so it is suppressed before the next cut: timers up to the last marker may fire by then.
            inUse.update(slot, at: now) { entry in
                entry.pending?.due = min(now, entry.touched)
                return ((), changed: true)
            }
        }
        if let sending = entry.sending, case .inFlight = sending.phase {
            inUse.update(slot, at: now) { entry in
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

    mutating func change<Result>(
        _ key: NotificationKey,
        at now: Timestamp,
        _ body: (inout StateEntry) -> (Result, changed: Bool)
    ) throws -> Result {
        guard let slot = try slot(of: key, at: now) else { return inUse.insert(key, at: now, body) }
        return inUse.update(slot, at: now, body)
    }

    // MARK: - Inputs

    /// Applies one input, in the order of the log.
    ///
    /// - Returns: `unfinished` for a removal of everything a recipient has that is larger than one piece: `proceed` goes on
    ///   with it.
    /// - Throws: what makes the store unusable.
    mutating func apply(
        _ input: Input,
        at now: Timestamp,
        effects: inout NotificationCenter.Effects
    ) throws -> NotificationCenter.Outcome {
        let sends = effects.sends.count
        (inUse.offset, inUse.isTimeless) = (input.offset, input.isTimeless)
        if now < lastInput { steadyFrom = input.offset }
        lastInput = now
        defer {
            inFlight += effects.sends.count - sends
            inUse.isTimeless = false
        }
        switch input {
        case .request(var request):
            if let doubtThrough { request.mayHaveBeenSent = request.timestamp <= doubtThrough }
            request.firesWhenDue = !holdsTimers
            return try apply(request, at: now, effects: &effects)
        case .removal(let removal) where removal.key.isWholeRecipient:
            return try applyToAll(removal, at: now, effects: &effects)
        case .removal(let removal):
            guard try makeRoom(for: removal.key, at: now) else {
                // Its id cannot be remembered.
                inUse.endReplay(before: removal.offset)
                var entry = StateEntry()
                return rules.apply(removal, to: &entry, at: now, effects: &effects)
            }
            let isTimeless = inUse.isTimeless
            return try change(removal.key, at: now) { [rules] entry in
                let outcome = rules.apply(removal, to: &entry, at: now, effects: &effects)
                guard outcome == .duplicate else { return (outcome, true) }
                return (outcome, isTimeless && entry.noteRepeat(removal.offset, in: rules.life))
            }
        }
    }

    private mutating func apply(
        _ request: NotificationCenter.Request,
        at now: Timestamp,
        effects: inout NotificationCenter.Effects
    ) throws -> NotificationCenter.Outcome {
        let hasRoom = try makeRoom(for: request.key, at: now)
        let isCapped = !hasRoom || inUse.totals.pending >= limits.maximumEntries && !isReplaying
        if isCapped, try slot(of: request.key, at: now) == nil {
            var event = DeliveryEvent(name: .suppressed, requestID: request.id, key: request.key, closes: true)
            event.reason = .capped
            effects.events.append(.init(event: event, trace: request.trace))
            guard hasRoom else {
                inUse.endReplay(before: request.offset)
                return .applied
            }
            // Room, and not the log, has decided.
            inUse.isTimeless = false
            inUse.insert(request.key, at: now) { [rules] entry in
                entry.noteApplied(request.offset, in: rules.life)
                rules.close(request.id, in: &entry, at: now)
                return ((), true)
            }
            return .applied
        }
        let isTimeless = inUse.isTimeless
        return try change(request.key, at: now) { [rules] entry in
            let outcome = rules.apply(request, to: &entry, at: now, effects: &effects)
            guard outcome == .duplicate else { return (outcome, true) }
            return (outcome, isTimeless && entry.noteRepeat(request.offset, in: rules.life))
        }
    }

    /// Entries that may be kept: the bound, and a tenth of it for what is closed even while all of that is pending, so that
    /// repeats of what had no room are known.
    private var room: Int { max(limits.maximumEntries, inUse.totals.pending + limits.maximumEntries / 10) }

    /// Forgets something when a key has no entry and there is no room for another one.
    ///
    /// - Returns: whether the key has an entry, or may have one.
    mutating func makeRoom(for key: NotificationKey, at now: Timestamp) throws -> Bool {
        guard inUse.totals.entries >= room, !isReplaying, try slot(of: key, at: now) == nil else { return true }
        _ = try forget(at: now, isForced: true)
        // What is on its way out, or kept a little longer for the replay, may be more than the bound.
        return inUse.totals.pending < limits.maximumEntries || inUse.totals.entries < room
    }

    /// Applies what a channel answered.
    ///
    /// - Returns: false when it is late, or came twice.
    mutating func apply(
        _ outcome: ChannelOutcome,
        at now: Timestamp,
        effects: inout NotificationCenter.Effects
    ) throws -> Bool {
        guard outcome.send.epoch == rules.epoch, let slot = try slot(of: outcome.send.key, at: now) else {
            return false
        }
        let sends = effects.sends.count
        let isCurrent = inUse.update(slot, at: now) { [rules] entry in
            let isCurrent = rules.apply(outcome, to: &entry, at: now, effects: &effects)
            return (isCurrent, isCurrent)
        }
        inFlight += effects.sends.count - sends - (isCurrent ? 1 : 0)
        return isCurrent
    }

    // MARK: - Time

    /// When the next timer is due; nil when none is near.
    mutating func nextDue() -> Timestamp? { inUse.nextDue() }

    /// When the horizon wants to move on; nil when the store holds nothing pending beyond it.
    var nextRefill: Timestamp? {
        inUse.totals.pending > inUse.armed + inFlight ? horizon.adding(milliseconds: -Self.horizonRefill) : nil
    }

    /// Brings in a bounded number of the timers that come near.
    ///
    /// - Returns: how many came; where keys are due at one instant they may be more than `limit`.
    @discardableResult
    mutating func refill(at now: Timestamp, limit: Int = loadedAtATime) throws -> Int {
        if target <= horizon {
            guard now >= horizon.adding(milliseconds: -Self.horizonRefill) else { return 0 }
            target = now.adding(milliseconds: Self.horizonAhead)
        }
        guard limit > 0, inUse.armed < Self.maximumArmed else { return 0 }
        let (count, isAll) = try load(through: target, limit: limit, at: now)
        if isAll { horizon = target }
        return count
    }

    /// - Returns: how many came, and whether nothing is left up to the instant.
    private mutating func load(
        through instant: Timestamp,
        limit: Int = loadedAtATime,
        at now: Timestamp
    ) throws -> (count: Int, isAll: Bool) {
        let found = try store.due(after: &cursor, through: instant, limit: limit)
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
        effects: inout NotificationCenter.Effects,
        lateness: (Int64) -> Void = { _ in }
    ) -> Int {
        var fired = 0
        let end = min(now, end ?? now)
        // What a removal is about to take must not be sent before it gets there.
        guard sweep == nil, !holdsTimers else { return 0 }
        let sends = effects.sends.count
        while fired < limit, let due = inUse.nextDue(), due <= end, let slot = inUse.popDue(at: end) {
            let key = inUse.key(of: slot)
            inUse.update(slot, at: now) { [rules] entry in
                (rules.fire(key: key, in: &entry, at: now, through: end, effects: &effects), changed: true)
            }
            lateness(now.rawValue - due.rawValue)
            fired += 1
        }
        inFlight += effects.sends.count - sends
        return fired
    }

    /// Forgets what is old, and what is more than the bound; called often, does little at a time.
    ///
    /// - Returns: how many were forgotten before their time.
    mutating func forget(at now: Timestamp, isForced: Bool = false) throws -> Int {
        guard sweep == nil else { return 0 }
        inUse.evict(beyond: limits.maximumResident + inUse.armed)
        guard now >= nextForgetting.adding(milliseconds: isForced ? -990 : 0) else { return 0 }
        nextForgetting = now.adding(milliseconds: 1000)
        if cutSlots.isEmpty { inUse.shrink() }
        // What the store is yet to hear of is found at the next call.
        guard forgottenKeys.isEmpty else { return 0 }
        let old = now.adding(milliseconds: -limits.retention)
        // Mostly there is nothing to forget, and the longest untouched one tells.
        let isFull = inUse.totals.entries >= room
        guard try isFull || store.idle(limit: 1).contains(where: { $0.touched < old }) else { return 0 }
        var early = 0
        for idle in try store.idle(limit: 512) {
            let isOld = idle.touched < old
            guard isOld || inUse.totals.entries >= room else { break }
            guard mayForget(idle.touched) else {
                inUse.hurry()
                break
            }
            let key = try NotificationKey(encoded: idle.key)
            if let slot = inUse.slot(of: key) {
                let entry = inUse.entry(of: slot)
                guard entry.isIdle, !entry.isEmpty, entry.touched <= idle.touched else { continue }
                inUse.forget(slot, at: now)
            } else {
                forgottenKeys.append(idle.key)
                inUse.totals.entries -= 1
            }
            if !isOld { early += 1 }
        }
        return early
    }

    /// Whether no record that may be read again concerns what was touched then: it would be met as something new. Where the
    /// clock went back, or the range is of an owner before, the instant does not tell.
    private func mayForget(_ touched: Timestamp) -> Bool {
        guard let offset = inUse.lazyOffset, let since = inUse.lazySince else { return true }
        return offset >= steadyFrom && touched < since.adding(milliseconds: -Self.steadiness)
    }
}

// MARK: - The changelog

extension PartitionCenter {
    /// Takes what the changelog is to have now: everything unfinished that changed. What was finished at once can be read again
    /// from `replayOffset` on, and follows after a while, however often it changed. The same changes go to `settle` once they
    /// are committed.
    ///
    /// - Parameters:
    ///   - all: nothing waits.
    ///   - room: bytes that what could wait may fill; what was taken is taken off.
    mutating func cut(at now: Timestamp, all: Bool, room: inout Int) -> [StoreChange] {
        var changes: [StoreChange] = []
        changes.reserveCapacity(dirtyCount)
        let patience = all ? Timestamp.latest : now.adding(milliseconds: -Self.patience)
        inUse.cut(patience: patience, maximumLazy: Self.maximumLazy, room: &room) { slot, key, entry, isLogged in
            cutSlots.append(slot)
            // Born and gone since the last cut: the changelog never hears of it.
            guard !entry.isEmpty || isLogged else { return 0 }
            let change = StoreChange(
                key: key.encoded,
                value: entry.isEmpty ? nil : entry.json,
                due: entry.dueAfterRestart,
                touched: entry.touched
            )
            changes.append(change)
            return change.key.count + (change.value?.count ?? 0)
        }
        if !forgottenKeys.isEmpty {
            // One that came back meanwhile is in the cut already.
            let cut = Set(changes.map(\.key))
            for key in forgottenKeys where !cut.contains(key) {
                changes.append(StoreChange(key: key, value: nil, due: nil, touched: Timestamp(rawValue: 0)))
            }
            forgottenKeys = []
        }
        return changes
    }

    /// Makes again what the changelog was not told: the events of it are published, and its sends are in the changelog.
    mutating func replay(_ input: Input, at now: Timestamp) throws {
        steadyFrom = max(steadyFrom, input.offset + 1)
        // Whatever else came of it is in the changelog.
        guard input.isTimeless else { return }
        var effects = NotificationCenter.Effects()
        var input = input
        if case .request(var request) = input {
            request.mayHaveBeenSent = true
            input = .request(request)
        }
        let doubt = doubtThrough
        (doubtThrough, isReplaying) = (nil, true)
        defer { (doubtThrough, isReplaying) = (doubt, false) }
        var outcome = try apply(input, at: now, effects: &effects)
        while outcome == .unfinished {
            effects = NotificationCenter.Effects()
            outcome = try proceed(at: now, effects: &effects)
        }
    }

    /// Everything was read again that may be.
    ///
    /// - Parameter end: where that ended, and the next request to read; equal when nothing was left out.
    mutating func endReplay(_ end: (replay: Int64, position: Int64)) {
        if end.replay < end.position { inUse.endReplay(before: end.replay) }
    }

    /// The cut is committed: the store takes it, and what is far leaves.
    mutating func settle(_ changes: [StoreChange], position: StorePosition) throws {
        try store.write(changes, position: position)
        inUse.settle(cutSlots, horizon: max(horizon, target))
        cutSlots = []
    }

    /// Ends the use of the store.
    func close(flushing: Bool) { store.close(flushing: flushing) }
}

extension StateEntry {
    /// What was pending up to the instant, or being sent, may be on the device.
    mutating func putInDoubt(through instant: Timestamp, at now: Timestamp) {
        if let pending, pending.due <= instant { self.pending?.isInDoubt = true }
        guard sending != nil else { return }
        sending?.isInDoubt = true
        if case .inFlight = sending?.phase { sending?.phase = .waiting(until: now) }
    }
}
