import NotificationModel

/// The entries of one partition that are in use, in memory, with the timers of what is pending. What is committed and far away is
/// in an `EntryStore` instead.
///
/// Entries are named by their slot (`EntryIndex`). What is known of a slot without its entry is apart, so that looking at it
/// copies no references.
struct WorkingSet {
    typealias Slot = EntryIndex.Slot

    /// What is known of a slot without its entry.
    struct Standing {
        /// When what is pending is due.
        var due: Timestamp?
        var state: State
        /// Whose records stand for the change of a lazy one.
        var lazyInput = InputTopic.requests
        var isUsed = true
        /// Changed since the hand of the eviction passed.
        var isRecent = true
    }

    /// How an entry stands to the changelog.
    struct State: OptionSet {
        let rawValue: UInt8
        /// Changed, and in the next cut.
        static let dirty = State(rawValue: 1)
        /// In a cut that is not committed yet.
        static let cut = State(rawValue: 2)
        /// The changelog has it, in some form.
        static let logged = State(rawValue: 4)
        /// It is unfinished, or was when it was last cut: changes are in the next cut.
        static let urgent = State(rawValue: 8)
        /// Changed by nothing but requests and removals that were finished at once; in a later cut.
        static let lazy = State(rawValue: 16)
    }

    /// What an entry changes for.
    enum Cause {
        /// The record at the position, which would have the same outcome at another time: the log can stand for the change.
        /// The number is how many inputs the partition had applied before.
        case log(CenterInput.Position, number: Int)
        /// Something that the log does not tell.
        case clock
    }

    private(set) var index = EntryIndex()
    private(set) var entries: [StateEntry] = []
    var standings: [Standing] = []
    private var alarms = Alarms()
    /// What the changelog does not contain yet.
    var unlogged = UnloggedChanges()
    /// Where the eviction looks next.
    private var hand = 0
    /// Of the whole partition, in use or in the store.
    var totals = StoreCounts()

    /// How many entries are here.
    var count: Int { index.count }
    /// How many places there are for them, taken or free.
    var slotCount: Int { index.slotCount }
    /// How many entries have a timer.
    var armed: Int { alarms.count }

    // MARK: - Finding

    func slot(of key: NotificationKey) -> Slot? { index.slot(of: key) }

    /// Every slot in use.
    var slots: [Slot] { standings.indices.filter { standings[$0].isUsed }.map { Slot($0) } }

    func key(of slot: Slot) -> NotificationKey { index.key(of: slot) }

    func entry(of slot: Slot) -> StateEntry { entries[Int(slot)] }

    /// All entries of the key's recipient in its application, in no particular order.
    func slots(ofRecipientOf key: NotificationKey) -> [Slot] { index.slots(ofRecipientOf: key) }

    // MARK: - Changing

    /// Runs a turn over the entry in a slot.
    mutating func run<Result>(
        _ turn: inout Turn,
        in slot: Slot,
        from cause: Cause,
        _ body: (inout Turn) -> Result
    ) -> Result {
        update(slot, at: turn.now, from: cause) { entry in
            // Moved, not copied: the turn is its only owner meanwhile.
            swap(&entry, &turn.entry)
            defer { swap(&entry, &turn.entry) }
            return (body(&turn), changed: turn.isChanged)
        }
    }

    /// Changes the entry in a slot, in place, and arms its timer again.
    ///
    /// - Parameter change: returns also whether it changed anything that must outlive the process.
    @discardableResult
    mutating func update<Result>(
        _ slot: Slot,
        at now: Timestamp,
        from cause: Cause,
        _ change: (inout StateEntry) -> (Result, changed: Bool)
    ) -> Result {
        let place = Int(slot)
        let (wasIdle, wasEmpty) = (entries[place].isIdle, entries[place].isEmpty)
        let (result, changed) = change(&entries[place])
        guard changed else { return result }
        entries[place].touched = now
        standings[place].isRecent = true
        totals.pending += (wasIdle ? 1 : 0) - (entries[place].isIdle ? 1 : 0)
        totals.entries += (wasEmpty ? 1 : 0) - (entries[place].isEmpty ? 1 : 0)
        noteChange(slot, at: now, from: cause)
        track(slot)
        return result
    }

    /// Empties an entry; no input says so, hence it cannot wait.
    mutating func forget(_ slot: Slot, at now: Timestamp) {
        standings[Int(slot)].state.insert(.urgent)
        update(slot, at: now, from: .clock) { entry in
            entry = StateEntry()
            return ((), changed: true)
        }
    }

    /// Adds what became of an entry that is not here yet, if there is something to keep.
    mutating func insert(_ key: NotificationKey, _ entry: StateEntry, at now: Timestamp, from cause: Cause) {
        guard !entry.isEmpty else { return }
        var entry = entry
        entry.touched = now
        totals.entries += 1
        if !entry.isIdle { totals.pending += 1 }
        noteChange(add(key, entry, state: []), at: now, from: cause)
    }

    /// Brings an entry in that the store has.
    @discardableResult
    mutating func load(_ key: NotificationKey, _ entry: StateEntry) -> Slot {
        add(key, entry, state: entry.isIdle ? .logged : [.logged, .urgent])
    }

    private mutating func add(_ key: NotificationKey, _ entry: StateEntry, state: State) -> Slot {
        let slot = index.insert(key)
        if Int(slot) == entries.count {
            entries.append(entry)
            standings.append(Standing(state: state))
        } else {
            (entries[Int(slot)], standings[Int(slot)]) = (entry, Standing(state: state))
        }
        track(slot)
        return slot
    }

    // MARK: - Time

    /// Follows what became of the entry's timer.
    private mutating func track(_ slot: Slot) {
        let (before, after) = (standings[Int(slot)].due, entries[Int(slot)].due)
        guard before != after else { return }
        standings[Int(slot)].due = after
        if before != nil { alarms.invalidate() }
        if let after { alarms.insert(.init(due: after, slot: slot)) }
        if alarms.isStale { rebuildAlarms() }
    }

    private mutating func rebuildAlarms() {
        alarms.rebuild(
            standings.indices.compactMap { place in
                standings[place].due.map { .init(due: $0, slot: Slot(place)) }
            }
        )
    }

    private mutating func nextAlarm() -> Alarms.Alarm? {
        alarms.next { [standings] in standings[Int($0.slot)].due == $0.due }
    }

    /// The earliest instant at which something is due.
    mutating func nextDue() -> Timestamp? { nextAlarm()?.due }

    /// The next slot that is due; its timer is armed again by the update that fires it.
    mutating func popDue(at now: Timestamp) -> Slot? {
        guard let alarm = nextAlarm(), alarm.due <= now else { return nil }
        return alarm.slot
    }

    // MARK: - Leaving

    /// The cut is committed: what of it is not needed here may leave.
    ///
    /// - Parameter horizon: what is due later is far, and in the store.
    mutating func settle(_ slots: [Slot], horizon: Timestamp) {
        for slot in slots {
            let place = Int(slot)
            standings[place].state.remove(.cut)
            guard standings[place].state.isDisjoint(with: [.dirty, .lazy]) else { continue }
            if entries[place].isEmpty || standings[place].due.map({ $0 > horizon }) == true { remove(slot) }
        }
    }

    /// Lets entries leave that are in the store and have no timer, those first that were not changed for a round, until no more
    /// than `maximum` are here. Looks at a bounded number at each call.
    mutating func evict(beyond maximum: Int) {
        var looked = 0
        while count > maximum, looked < 256 {
            looked += 1
            hand = hand + 1 < standings.count ? hand + 1 : 0
            guard standings[hand].isUsed, standings[hand].due == nil, entries[hand].sending == nil,
                standings[hand].state.subtracting(.urgent) == .logged
            else { continue }
            if standings[hand].isRecent {
                standings[hand].isRecent = false
            } else {
                remove(Slot(hand))
            }
        }
    }

    /// Gives back the room of a burst: the slots at the end, once most are free. Not while slots are in a cut.
    mutating func shrink() {
        guard slotCount > 1024, count < slotCount / 4 else { return }
        index.fillFromTheStart()
        let last = max(standings.lastIndex { $0.isUsed } ?? -1, unlogged.lastLazySlot)
        guard last < slotCount / 2 else { return }
        index.truncate(to: last + 1)
        (entries, standings) = (Array(entries.prefix(last + 1)), Array(standings.prefix(last + 1)))
        if count == 0 { unlogged.giveBackRoom() }
        hand = 0
        rebuildAlarms()
    }

    /// Drops an entry without a trace: the changelog has a newer one.
    mutating func drop(_ key: NotificationKey) {
        guard let slot = slot(of: key) else { return }
        remove(slot)
    }

    private mutating func remove(_ slot: Slot) {
        index.remove(slot)
        let place = Int(slot)
        if standings[place].due != nil { alarms.invalidate() }
        entries[place] = StateEntry()
        (standings[place].due, standings[place].state, standings[place].isUsed) = (nil, [], false)
    }
}
