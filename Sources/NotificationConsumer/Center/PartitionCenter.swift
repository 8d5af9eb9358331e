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

        /// Whether the clock has no say in what becomes of it.
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
    private static let maximumLazy = 100_000

    let limits: Limits
    private let rules: NotificationCenter
    private var inUse = WorkingSet()
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
    var replayOffset: Int64? { inUse.lazyOffset }
    /// Whether something has waited for its cut for long enough.
    func isImpatient(at now: Timestamp) -> Bool {
        inUse.lazySince.map { $0 < now.adding(milliseconds: -Self.patience) } ?? false
    }
    /// Changes that the store has not written yet.
    var unwritten: Int { store.unwritten }
    /// Why the store does not write, while that is so.
    var storeTrouble: String? { store.trouble }
    /// Sends that a channel has.
    private(set) var inFlight = 0

    // MARK: - Finding

    /// The entry's slot, brought in from the store if it is there.
    private mutating func slot(of key: NotificationKey, at now: Timestamp) throws -> WorkingSet.Slot? {
        if let slot = inUse.slot(of: key) { return slot }
        guard let stored = try store.entry(of: key.encoded) else { return nil }
        return try bringIn(key, stored.value, at: now)
    }

    /// Brings an entry in from the store. One that is being sent stays in use, so a send that is found there is of an owner
    /// before, which `firedThrough` tells only of its timers: nobody will hear how it ended.
    @discardableResult
    private mutating func bringIn(_ key: NotificationKey, _ json: [UInt8], at now: Timestamp) throws -> WorkingSet.Slot
    {
        let entry = try CenterEntry(json: json)
        let slot = inUse.load(key, entry)
        if let sending = entry.sending, case .inFlight = sending.phase {
            inUse.update(slot, at: now) { entry in
                entry.putInDoubt(through: .earliest, at: now)
                return ((), changed: true)
            }
        }
        return slot
    }

    /// What is kept of a key.
    func entry(of key: NotificationKey) throws -> CenterEntry? {
        if let slot = inUse.slot(of: key) { return inUse.entry(of: slot) }
        return try store.entry(of: key.encoded).map { try CenterEntry(json: $0.value) }
    }

    private mutating func change<Result>(
        _ key: NotificationKey,
        at now: Timestamp,
        _ body: (inout CenterEntry) -> (Result, changed: Bool)
    ) throws -> Result {
        guard let slot = try slot(of: key, at: now) else { return inUse.insert(key, at: now, body) }
        return inUse.update(slot, at: now, body)
    }

    // MARK: - Inputs

    /// Applies one input, in the order of the log.
    ///
    /// - Throws: what makes the store unusable.
    mutating func apply(
        _ input: Input,
        at now: Timestamp,
        effects: inout NotificationCenter.Effects
    ) throws -> NotificationCenter.Outcome {
        let sends = effects.sends.count
        (inUse.offset, inUse.isTimeless) = (input.offset, input.isTimeless)
        defer {
            inFlight += effects.sends.count - sends
            inUse.isTimeless = false
        }
        switch input {
        case .request(var request):
            if let doubtThrough { request.mayHaveBeenSent = request.timestamp <= doubtThrough }
            return try apply(request, at: now, effects: &effects)
        case .removal(let removal) where removal.key.isWholeRecipient:
            return try applyToAll(removal, at: now, effects: &effects)
        case .removal(let removal):
            return try change(removal.key, at: now) { [rules] entry in
                let outcome = rules.apply(removal, key: removal.key, to: &entry, at: now, effects: &effects).outcome
                return (outcome, outcome != .duplicate)
            }
        }
    }

    private mutating func apply(
        _ request: NotificationCenter.Request,
        at now: Timestamp,
        effects: inout NotificationCenter.Effects
    ) throws -> NotificationCenter.Outcome {
        if inUse.totals.entries >= limits.maximumEntries, try slot(of: request.key, at: now) == nil {
            _ = try forget(at: now, isForced: true)
            if inUse.totals.pending >= limits.maximumEntries {
                var event = DeliveryEvent(name: .suppressed, requestID: request.id, key: request.key, closes: true)
                event.reason = .capped
                effects.events.append(.init(event: event, trace: request.trace))
                return .applied
            }
        }
        return try change(request.key, at: now) { [rules] entry in
            let outcome = rules.apply(request, to: &entry, at: now, effects: &effects)
            return (outcome, outcome != .duplicate)
        }
    }

    private mutating func applyToAll(
        _ removal: NotificationCenter.Removal,
        at now: Timestamp,
        effects: inout NotificationCenter.Effects
    ) throws -> NotificationCenter.Outcome {
        let prefix = Array(removal.key.encoded[...removal.key.recipientEnd])
        for stored in try store.entries(withPrefix: prefix) {
            let key = try NotificationKey(encoded: stored.key)
            if inUse.slot(of: key) == nil { try bringIn(key, stored.value, at: now) }
        }
        var found = false
        // By key, so that the order of events is the same however the entries came to be.
        let slots = inUse.slots(ofRecipientOf: removal.key).map { (key: inUse.key(of: $0), slot: $0) }
            .sorted { $0.key.encoded.lexicographicallyPrecedes($1.key.encoded) }
        for (key, slot) in slots where !inUse.entry(of: slot).isEmpty {
            let one = inUse.update(slot, at: now) { [rules] entry in
                let one = rules.apply(removal, key: key, answersMiss: false, to: &entry, at: now, effects: &effects)
                return (one, one.outcome != .duplicate)
            }
            found = found || one.found
        }
        if !found { effects.events.append(rules.miss(removal, known: .unknown)) }
        return .applied
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

    /// Fires at most `limit` of what is due, the earliest first.
    ///
    /// - Returns: how many fired; `lateness` is called with how late each was, in milliseconds.
    mutating func fireDue(
        at now: Timestamp,
        limit: Int,
        effects: inout NotificationCenter.Effects,
        lateness: (Int64) -> Void = { _ in }
    ) -> Int {
        var fired = 0
        let sends = effects.sends.count
        while fired < limit, let due = inUse.nextDue(), due <= now, let slot = inUse.popDue(at: now) {
            let key = inUse.key(of: slot)
            inUse.update(slot, at: now) { [rules] entry in
                (rules.fire(key: key, in: &entry, at: now, effects: &effects), changed: true)
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
        inUse.evict(beyond: limits.maximumResident + inUse.armed)
        guard now >= nextForgetting.adding(milliseconds: isForced ? -990 : 0) else { return 0 }
        nextForgetting = now.adding(milliseconds: 1000)
        if cutSlots.isEmpty { inUse.shrink() }
        // What the store is yet to hear of is found at the next call.
        guard forgottenKeys.isEmpty else { return 0 }
        let old = now.adding(milliseconds: -limits.retention)
        // Mostly there is nothing to forget, and the longest untouched one tells.
        let isFull = inUse.totals.entries >= limits.maximumEntries
        guard try isFull || store.idle(limit: 1).contains(where: { $0.touched < old }) else { return 0 }
        var early = 0
        for idle in try store.idle(limit: 512) {
            let isOld = idle.touched < old
            guard isOld || inUse.totals.entries >= limits.maximumEntries else { break }
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
}

// MARK: - The changelog

extension PartitionCenter {
    /// Takes what the changelog is to have now: everything unfinished that changed. What was finished at once can be read again
    /// from `replayOffset` on, and follows after a while, however often it changed. The same changes go to `settle` once they
    /// are committed.
    ///
    /// - Parameter all: nothing waits.
    mutating func cut(at now: Timestamp, all: Bool = false) -> [StoreChange] {
        var changes: [StoreChange] = []
        changes.reserveCapacity(dirtyCount)
        let patience = all ? Timestamp.latest : now.adding(milliseconds: -Self.patience)
        inUse.cut(patience: patience, maximumLazy: Self.maximumLazy) { slot, key, entry, isLogged in
            cutSlots.append(slot)
            // Born and gone since the last cut: the changelog never hears of it.
            guard !entry.isEmpty || isLogged else { return }
            changes.append(
                StoreChange(
                    key: key.encoded,
                    value: entry.isEmpty ? nil : entry.json,
                    due: entry.dueAfterRestart,
                    touched: entry.touched
                )
            )
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
        var effects = NotificationCenter.Effects()
        var input = input
        if case .request(var request) = input {
            request.mayHaveBeenSent = true
            input = .request(request)
        }
        let doubt = doubtThrough
        doubtThrough = nil
        defer { doubtThrough = doubt }
        _ = try apply(input, at: now, effects: &effects)
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
