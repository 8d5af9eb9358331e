import NotificationDelivery
import NotificationModel
import NotificationState

/// The entries of one partition in memory, with the timers of pending ones. All other committed entries are in an
/// `EntryStore`.
///
/// Entries are identified by their slot (`EntryIndex`). The state of a slot is separate from its entry, so that reading
/// it copies no references.
struct WorkingSet {
    typealias Slot = EntryIndex.Slot

    /// The state of a slot, without its entry.
    struct Standing {
        /// When the pending notification is due.
        var due: Timestamp?
        var state: State
        /// It goes before others that are due.
        var isUrgent: Bool { state.contains(.timeCritical) }
        var open = OpenRequests.none
        /// The input whose log represents a lazy change.
        var lazyInput = InputTopic.requests
        var isUsed = true
        /// Changed since the eviction hand last passed.
        var isRecent = true
        /// The bytes of the next cut that were charged for it.
        var charged: Int32 = 0
    }

    /// The state of an entry relative to the changelog.
    struct State: OptionSet {
        let rawValue: UInt16
        /// Changed; in the next cut.
        static let dirty = State(rawValue: 1)
        /// In a cut that is not committed yet.
        static let cut = State(rawValue: 2)
        /// The changelog contains it, perhaps as it was before.
        static let logged = State(rawValue: 4)
        /// Unfinished, or was at its last cut: changes go to the next cut.
        static let urgent = State(rawValue: 8)
        /// Changed only by requests and removals that finished at once; in a later cut.
        static let lazy = State(rawValue: 16)
        /// Waits for a region.
        static let region = State(rawValue: 32)
        /// Its recipient's record changed with it: both are in the same cut.
        static let recipient = State(rawValue: 64)
        /// As the entry says of itself.
        static let idle = State(rawValue: 128)
        static let empty = State(rawValue: 256)
        /// Its timer was postponed in memory: the store would load it when it was due.
        static let postponed = State(rawValue: 512)
        /// What is pending, or waits for its next attempt, is time-sensitive or critical.
        static let timeCritical = State(rawValue: 1024)

        /// When an entry whose timer is due at an instant is loaded from the store.
        func loadTime(of due: Timestamp?) -> Timestamp? {
            contains(.timeCritical) ? due?.adding(milliseconds: -DueWindow.urgentLead) : due
        }
    }

    /// The cause of a change.
    enum Cause {
        /// The record at the position, whose outcome does not depend on time: a replay reproduces the change. The
        /// number is how many inputs the partition had applied before.
        case log(CenterInput.Position, number: Int)
        /// Something outside the log.
        case clock
    }

    /// A change of an entry.
    struct Change {
        var cause: Cause
        /// Whether the record of its recipient changed with it.
        var isOfRecipient = false
    }

    private(set) var index = EntryIndex()
    private(set) var entries: [StateEntry] = []
    var standings: [Standing] = []
    private var alarms = Alarms()
    /// What the changelog does not contain yet.
    var unlogged = UnloggedChanges()
    /// The next slot the eviction examines.
    private var hand = 0
    /// How the targets of channels are grouped.
    let grouping: (ChannelName) -> Screen.Grouping?
    /// Totals of the whole partition, in memory or in the store.
    var totals = StoreCounts()

    init(_ grouping: @escaping (ChannelName) -> Screen.Grouping?) { self.grouping = grouping }

    /// The number of entries in memory.
    var count: Int { index.count }
    /// The number of slots, used or free.
    var slotCount: Int { index.slotCount }
    /// The number of entries with a timer.
    var armed: Int { alarms.count }

    // MARK: - Finding

    func slot(of key: NotificationKey) -> Slot? { index.slot(of: key) }

    /// Every slot in use.
    var slots: [Slot] { standings.indices.filter { standings[$0].isUsed }.map { Slot($0) } }

    func key(of slot: Slot) -> NotificationKey { index.key(of: slot) }

    func entry(of slot: Slot) -> StateEntry { entries[Int(slot)] }

    /// What the entry in a slot shows; copies nothing else of it.
    func delivered(_ slot: Slot) -> StateEntry.Delivered? { entries[Int(slot)].delivered }

    func waitsForRegion(_ slot: Slot) -> Bool { standings[Int(slot)].state.contains(.region) }

    /// Whether what waits or is on its way may be a Live Activity.
    func mayBeActivity(_ slot: Slot) -> Bool {
        (entries[Int(slot)].pending?.content).map(LiveActivityFacts.mayBe) ?? false
            || (entries[Int(slot)].handover?.content).map(LiveActivityFacts.mayBe) ?? false
    }

    /// Whether it waits for the end of a digest's window, which may be over.
    func isInDigest(_ slot: Slot, at now: Timestamp) -> Bool {
        guard entries[Int(slot)].handover == nil, let pending = entries[Int(slot)].pending,
            case .digest = pending.timer
        else { return false }
        return pending.due.map { $0 <= now } ?? true
    }

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
        change(slot, at: turn.now) { entry in
            // Move instead of copy: meanwhile the turn is the only owner.
            swap(&entry, &turn.entry)
            defer { swap(&entry, &turn.entry) }
            return (body(&turn), turn.change(from: cause))
        }
    }

    /// Changes the entry in a slot in place, and rearms its timer.
    ///
    /// - Parameter change: also returns whether it changed anything that must outlive the process.
    @discardableResult
    mutating func update<Result>(
        _ slot: Slot,
        at now: Timestamp,
        from cause: Cause,
        _ change: (inout StateEntry) -> (Result, changed: Bool)
    ) -> Result {
        self.change(slot, at: now) { entry in
            let (result, isChanged) = change(&entry)
            return (result, isChanged ? Change(cause: cause) : nil)
        }
    }

    /// - Parameter change: also returns nil when it changed nothing that must outlive the process.
    private mutating func change<Result>(
        _ slot: Slot,
        at now: Timestamp,
        _ change: (inout StateEntry) -> (Result, Change?)
    ) -> Result {
        let place = Int(slot)
        let (result, made) = change(&entries[place])
        guard let made else { return result }
        entries[place].touched = now
        let (before, wasOpen) = (standings[place].state, standings[place].open)
        track(slot)
        standings[place].isRecent = true
        let (after, isOpen) = (standings[place].state, standings[place].open)
        if isOpen != wasOpen {
            totals.open.add(wasOpen, -1)
            totals.open.add(isOpen)
        }
        totals.pending += (before.contains(.idle) ? 1 : 0) - (after.contains(.idle) ? 1 : 0)
        totals.entries += (before.contains(.empty) ? 1 : 0) - (after.contains(.empty) ? 1 : 0)
        noteChange(slot, at: now, made)
        return result
    }

    /// What the entries of a recipient became so far goes into the next cut.
    mutating func endWaiting(ofRecipientOf key: NotificationKey) {
        for slot in index.slots(ofRecipientOf: key) where standings[Int(slot)].state.contains(.lazy) {
            standings[Int(slot)].state.insert([.urgent, .dirty])
            standings[Int(slot)].state.remove(.lazy)
            unlogged.dirty.append(slot)
            unlogged.charge += entries[Int(slot)].bytes
        }
    }

    /// Empties an entry. No input causes this, so it cannot wait.
    mutating func forget(_ slot: Slot, at now: Timestamp) {
        standings[Int(slot)].state.insert(.urgent)
        update(slot, at: now, from: .clock) { entry in
            entry = StateEntry()
            return ((), changed: true)
        }
    }

    /// Moves a new entry in, unless it is empty.
    ///
    /// - Returns: whether it did.
    @discardableResult
    mutating func insert(_ key: NotificationKey, _ entry: inout StateEntry, at now: Timestamp, _ change: Change) -> Bool
    {
        guard !entry.isEmpty else { return false }
        entry.touched = now
        totals.entries += 1
        if !entry.isIdle { totals.pending += 1 }
        let slot = add(key, &entry, state: [])
        totals.open.add(standings[Int(slot)].open)
        noteChange(slot, at: now, change)
        return true
    }

    /// Adds an entry that was loaded from the store.
    @discardableResult
    mutating func load(_ key: NotificationKey, _ entry: StateEntry) -> Slot {
        var entry = entry
        return add(key, &entry, state: entry.isIdle ? .logged : [.logged, .urgent])
    }

    private mutating func add(_ key: NotificationKey, _ entry: inout StateEntry, state: State) -> Slot {
        let slot = index.insert(key)
        if Int(slot) == entries.count {
            entries.append(StateEntry())
            standings.append(Standing(state: state))
        } else {
            standings[Int(slot)] = Standing(state: state)
        }
        swap(&entries[Int(slot)], &entry)
        track(slot)
        return slot
    }

    // MARK: - Time

    /// Updates the alarm of the entry's timer, and what the state says of it.
    private mutating func track(_ slot: Slot) {
        let outline = Self.outline(of: &entries[Int(slot)], grouping)
        var state = standings[Int(slot)].state.subtracting([.region, .idle, .empty, .postponed])
        if outline.isIdle { state.insert(.idle) }
        if outline.isEmpty { state.insert(.empty) }
        if outline.open.waiting == .region { state.insert(.region) }
        standings[Int(slot)].open = outline.open
        let (before, after) = (standings[Int(slot)].due, outline.due)
        guard before != after else { return standings[Int(slot)].state = state }
        state.remove(.timeCritical)
        if after != nil, entries[Int(slot)].isTimeCritical { state.insert(.timeCritical) }
        (standings[Int(slot)].state, standings[Int(slot)].due) = (state, after)
        if before != nil { alarms.invalidate() }
        if let after { alarms.insert(.init(due: after, isUrgent: state.contains(.timeCritical), slot: slot)) }
        if alarms.isStale { rebuildAlarms() }
    }

    /// Inout, so that the array lends the entry and does not copy it.
    private static func outline(
        of entry: inout StateEntry,
        _ grouping: (ChannelName) -> Screen.Grouping?
    ) -> StateEntry.Outline {
        entry.outline(grouping)
    }

    /// Lets the timer of an entry fire later, until its next change; nothing of it is written. What its targets wait for stays
    /// due.
    mutating func rearm(_ slot: Slot, at instant: Timestamp) {
        let instant = min(instant, entries[Int(slot)].screen?.nextAttempt(grouping) ?? instant)
        guard standings[Int(slot)].due != nil else { return }
        standings[Int(slot)].due = instant
        standings[Int(slot)].state.insert(.postponed)
        alarms.invalidate()
        alarms.insert(.init(due: instant, isUrgent: standings[Int(slot)].isUrgent, slot: slot))
        if alarms.isStale { rebuildAlarms() }
    }

    private mutating func rebuildAlarms() {
        alarms.rebuild(
            standings.indices.compactMap { place in
                standings[place].due.map {
                    .init(due: $0, isUrgent: standings[place].isUrgent, slot: Slot(place))
                }
            }
        )
    }

    /// The earliest due time.
    mutating func nextDue() -> Timestamp? {
        alarms.next { [standings] in Self.isCurrent($0, standings) }?.due
    }

    /// The due slot to fire next, and its due time: the earliest, of those at one instant the urgent one. The update that fires it
    /// rearms its timer.
    ///
    /// - Parameter urgentOnly: passes over the others.
    mutating func nextToFire(at now: Timestamp, urgentOnly: Bool = false) -> (slot: Slot, due: Timestamp)? {
        let isCurrent = { [standings] in Self.isCurrent($0, standings) }
        guard let alarm = urgentOnly ? alarms.nextUrgent(isCurrent) : alarms.next(isCurrent), alarm.due <= now else {
            return nil
        }
        return (alarm.slot, alarm.due)
    }

    private static func isCurrent(_ alarm: Alarms.Alarm, _ standings: [Standing]) -> Bool {
        let standing = standings[Int(alarm.slot)]
        return standing.due == alarm.due && standing.isUrgent == alarm.isUrgent
    }

    // MARK: - Leaving

    /// The cut is committed: evicts its entries that are not needed in memory.
    ///
    /// - Parameter reach: entries due later are only kept in the store.
    mutating func noteCommitted(_ slots: [Slot], reach: Timestamp) {
        for slot in slots {
            let place = Int(slot)
            standings[place].state.remove(.cut)
            guard standings[place].state.isDisjoint(with: [.dirty, .lazy]) else { continue }
            let isLater =
                standings[place].state.loadTime(of: standings[place].due).map { $0 > reach } ?? false
                && !standings[place].state.contains(.postponed)
            let isEmpty = standings[place].state.contains(.empty)
            if isEmpty || isLater && !entries[place].isUnderWay { remove(slot) }
        }
    }

    /// Evicts entries that are in the store and have no timer, until at most `maximum` remain. Entries that did not
    /// change during a whole round go first. Each call examines a bounded number.
    mutating func evict(beyond maximum: Int) {
        var looked = 0
        while count > maximum, looked < 256 {
            looked += 1
            hand = hand + 1 < standings.count ? hand + 1 : 0
            guard standings[hand].isUsed, standings[hand].due == nil, !entries[hand].hasHandover,
                !entries[hand].hasScreen,
                standings[hand].state.subtracting([.urgent, .region, .idle]) == .logged
            else { continue }
            if standings[hand].isRecent {
                standings[hand].isRecent = false
            } else {
                remove(Slot(hand))
            }
        }
    }

    /// Releases the memory of a burst: the slots at the end, once most are free. Must not run while slots are in a cut.
    ///
    /// - Parameter kept: a number of slots whose memory is not worth it.
    mutating func shrink(keeping kept: Int) {
        guard slotCount > kept, count < slotCount / 4 else { return }
        index.fillFromTheStart()
        let last = max(standings.lastIndex { $0.isUsed } ?? -1, unlogged.lastLazySlot)
        guard last < slotCount / 2 else { return }
        index.truncate(to: last + 1)
        (entries, standings) = (Array(entries.prefix(last + 1)), Array(standings.prefix(last + 1)))
        if count == 0 { unlogged.giveBackRoom() }
        hand = 0
        rebuildAlarms()
    }

    private mutating func remove(_ slot: Slot) {
        index.remove(slot)
        let place = Int(slot)
        if standings[place].due != nil { alarms.invalidate() }
        entries[place] = StateEntry()
        (standings[place].due, standings[place].state, standings[place].isUsed) = (nil, [], false)
        standings[place].open = .none
    }
}

extension StateEntry {
    fileprivate var isTimeCritical: Bool {
        func isUrgent(_ content: ArraySlice<UInt8>?) -> Bool {
            content.flatMap(InterruptionLevel.init(ofContent:))?.isUrgent ?? false
        }
        return isUrgent(pending?.content) || isUrgent(handover?.content)
    }
}
