import DequeModule
import HeapModule
import NotificationModel

/// The entries of one partition that are in use, in memory: found by key and by recipient, with the timers of what is pending.
/// What is committed and far away is in an `EntryStore` instead.
///
/// Entries are named by their slot in three arrays, apart so that finding one copies and counts no references of the others;
/// two dictionaries map a hash to the first slot of a chain, and the full key is compared. Slots are reused.
struct WorkingSet {
    typealias Slot = Int32

    /// What is known of a slot without looking at its entry.
    private struct Link {
        var keyHash: Int
        var recipientHash: Int
        /// The next slot with the same key hash, or of the same recipient hash; -1 ends the chain.
        var nextOfKey: Slot = -1
        var nextOfRecipient: Slot = -1
        var previousOfRecipient: Slot = -1
        /// When what is pending is due.
        var due: Timestamp?
        var state: State
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
        /// It is unfinished, or was since the changelog heard of it: changes are in the next cut.
        static let urgent = State(rawValue: 8)
        /// Changed by nothing but requests and removals that were finished at once; in a later cut.
        static let lazy = State(rawValue: 16)
    }

    /// A change that the changelog is told later: reading the log from there on makes it again.
    private struct Lazy {
        var slot: Slot
        var offset: Int64
        var since: Timestamp
    }

    private struct Alarm: Comparable {
        var due: Timestamp
        var slot: Slot
        static func < (a: Self, b: Self) -> Bool { (a.due, a.slot) < (b.due, b.slot) }
    }

    private var keys: [NotificationKey] = []
    private var entries: [StateEntry] = []
    private var links: [Link] = []
    private var free: [Slot] = []
    private var firstOfKey: [Int: Slot] = [:]
    private var firstOfRecipient: [Int: Slot] = [:]
    /// Entries cancelled or re-armed leave their alarm behind; it is dropped when it comes up.
    private var alarms = Heap<Alarm>()
    private var armedCount = 0
    private var staleAlarms = 0
    /// Where the eviction looks next.
    private var hand = 0
    /// In the next cut.
    private var dirty: [Slot] = []
    /// In later ones, in the order of the log; an entry that became urgent since is in it for nothing.
    private var lazy: Deque<Lazy> = []
    /// Where reading again must end; what changes from there on is told at once. Nil while nothing bounds it.
    private(set) var lazyEnd: Int64?
    /// The next cut takes what it can of what could wait.
    private var isHurried = false

    /// Of the whole partition, in use or in the store.
    var totals = StoreCounts()
    /// How many entries are here.
    var count: Int { links.count - free.count }
    /// How many places there are for them, taken or free.
    var slotCount: Int { links.count }
    /// How many entries have a timer.
    var armed: Int { armedCount }
    /// How many are in the next cut.
    var dirtyCount: Int { dirty.count }
    /// How many are in later ones, and since when and from which record on.
    var lazyCount: Int { lazy.count }
    var lazySince: Timestamp? { lazy.first?.since }
    var lazyOffset: Int64? { lazy.first?.offset }
    /// The record that is being applied.
    var offset: Int64 = -1
    /// Whether it would do the same at another time: only then can the log stand for it.
    var isTimeless = false

    /// Reading again must not come to the record at the offset, nor beyond it: something has a say in what becomes of it that
    /// is not in the log.
    mutating func endReplay(before offset: Int64) {
        guard !lazy.isEmpty, lazyEnd == nil else { return }
        lazyEnd = offset
    }

    /// What could wait is in the way.
    mutating func hurry() { isHurried = true }

    // MARK: - Finding

    func slot(of key: NotificationKey) -> Slot? {
        slot(of: key, hash: Self.hash(of: key))
    }

    private func slot(of key: NotificationKey, hash: Int) -> Slot? {
        var next = firstOfKey[hash] ?? -1
        while next >= 0 {
            if keys[Int(next)] == key { return next }
            next = links[Int(next)].nextOfKey
        }
        return nil
    }

    /// Every slot in use.
    var slots: [Slot] { links.indices.filter { links[$0].isUsed }.map { Slot($0) } }

    func key(of slot: Slot) -> NotificationKey { keys[Int(slot)] }

    func entry(of slot: Slot) -> StateEntry { entries[Int(slot)] }

    /// All entries of the key's recipient in its application, in no order that means anything.
    func slots(ofRecipientOf key: NotificationKey) -> [Slot] {
        var found: [Slot] = []
        var next = firstOfRecipient[Self.recipientHash(of: key)] ?? -1
        while next >= 0 {
            if keys[Int(next)].isSameRecipient(as: key) { found.append(next) }
            next = links[Int(next)].nextOfRecipient
        }
        return found
    }

    // MARK: - Changing

    /// Changes the entry in a slot, in place, and arms its timer anew.
    ///
    /// - Parameter change: returns also whether it changed anything that must outlive the process.
    mutating func update<Result>(
        _ slot: Slot,
        at now: Timestamp,
        _ change: (inout StateEntry) -> (Result, changed: Bool)
    ) -> Result {
        let index = Int(slot)
        let (wasIdle, wasEmpty) = (entries[index].isIdle, entries[index].isEmpty)
        let (result, changed) = change(&entries[index])
        guard changed else { return result }
        entries[index].touched = now
        links[index].isRecent = true
        totals.pending += (wasIdle ? 1 : 0) - (entries[index].isIdle ? 1 : 0)
        totals.entries += (wasEmpty ? 1 : 0) - (entries[index].isEmpty ? 1 : 0)
        noteChange(slot, at: now)
        track(slot)
        return result
    }

    /// What is finished can wait: it is in the log, and is made again from there. What is not, or was not, cannot.
    private mutating func noteChange(_ slot: Slot, at now: Timestamp) {
        let index = Int(slot)
        if !entries[index].isIdle || !isTimeless || lazyEnd != nil { links[index].state.insert(.urgent) }
        guard !links[index].state.contains(.dirty) else { return }
        if links[index].state.contains(.urgent) {
            links[index].state.insert(.dirty)
            links[index].state.remove(.lazy)
            dirty.append(slot)
        } else if !links[index].state.contains(.lazy) {
            links[index].state.insert(.lazy)
            lazy.append(Lazy(slot: slot, offset: offset, since: now))
        }
    }

    /// Empties an entry; no input says so, hence it cannot wait.
    mutating func forget(_ slot: Slot, at now: Timestamp) {
        links[Int(slot)].state.insert(.urgent)
        update(slot, at: now) { entry in
            entry = StateEntry()
            return ((), changed: true)
        }
    }

    /// Changes an entry that is not here yet; it comes in only when there is something to keep.
    mutating func insert<Result>(
        _ key: NotificationKey,
        at now: Timestamp,
        _ change: (inout StateEntry) -> (Result, changed: Bool)
    ) -> Result {
        var entry = StateEntry()
        let (result, changed) = change(&entry)
        guard changed, !entry.isEmpty else { return result }
        entry.touched = now
        totals.entries += 1
        if !entry.isIdle { totals.pending += 1 }
        noteChange(add(key, entry, state: []), at: now)
        return result
    }

    /// Brings an entry in that the store has.
    @discardableResult
    mutating func load(_ key: NotificationKey, _ entry: StateEntry) -> Slot {
        add(key, entry, state: entry.isIdle ? .logged : [.logged, .urgent])
    }

    private mutating func add(_ key: NotificationKey, _ entry: StateEntry, state: State) -> Slot {
        let (hash, recipientHash) = (Self.hash(of: key), Self.recipientHash(of: key))
        var link = Link(keyHash: hash, recipientHash: recipientHash, state: state)
        let slot = free.popLast() ?? Slot(links.count)
        if let first = firstOfKey.updateValue(slot, forKey: hash) { link.nextOfKey = first }
        if let first = firstOfRecipient.updateValue(slot, forKey: recipientHash) {
            link.nextOfRecipient = first
            links[Int(first)].previousOfRecipient = slot
        }
        if Int(slot) == links.count {
            keys.append(key)
            entries.append(entry)
            links.append(link)
        } else {
            (keys[Int(slot)], entries[Int(slot)], links[Int(slot)]) = (key, entry, link)
        }
        track(slot)
        return slot
    }

    /// Follows what became of the entry's timer.
    private mutating func track(_ slot: Slot) {
        let (before, after) = (links[Int(slot)].due, entries[Int(slot)].due)
        guard before != after else { return }
        links[Int(slot)].due = after
        if before != nil {
            armedCount -= 1
            staleAlarms += 1
        }
        if let after {
            armedCount += 1
            alarms.insert(Alarm(due: after, slot: slot))
        }
        // Keeps the heap within twice what is armed, however often requests are replaced.
        if staleAlarms > armedCount + 1024 { rebuildAlarms() }
    }

    private mutating func rebuildAlarms() {
        let live = links.indices.compactMap { index in
            links[index].due.map { Alarm(due: $0, slot: Slot(index)) }
        }
        alarms = Heap(live)
        staleAlarms = 0
    }

    // MARK: - Time

    /// The earliest instant at which something is due.
    mutating func nextDue() -> Timestamp? {
        while let alarm = alarms.min {
            if links[Int(alarm.slot)].due == alarm.due { return alarm.due }
            alarms.removeMin()
            staleAlarms -= 1
        }
        return nil
    }

    /// The next slot that is due; its timer is armed again by the update that fires it.
    mutating func popDue(at now: Timestamp) -> Slot? {
        guard let due = nextDue(), due <= now else { return nil }
        return alarms.min?.slot
    }

    // MARK: - The changelog

    /// Takes what is urgent, and of the rest what is older than `patience` or more than `maximumLazy`, a bounded number of it
    /// and until `room` is taken; each entry is kept here until `settle`.
    ///
    /// - Parameter body: returns how much of the room the entry takes.
    mutating func cut(
        patience: Timestamp,
        maximumLazy: Int,
        room: inout Int,
        _ body: (Slot, NotificationKey, StateEntry, _ isLogged: Bool) -> Int
    ) {
        for slot in dirty { _ = cut(slot, body) }
        dirty.removeAll(keepingCapacity: true)
        var limit = max(1000, lazy.count / 16)
        // Whatever is told at once costs more: where reading again has an end, it is reached soon.
        let isHurried = isHurried || lazyEnd != nil
        self.isHurried = false
        while limit > 0, room > 0, let first = lazy.first,
            isHurried || first.since < patience || lazy.count > maximumLazy
        {
            lazy.removeFirst()
            // It became urgent since, or was taken under an earlier change.
            guard links[Int(first.slot)].state.contains(.lazy) else { continue }
            limit -= 1
            links[Int(first.slot)].state.remove(.lazy)
            room -= cut(first.slot, body)
        }
        if lazy.isEmpty { lazyEnd = nil }
    }

    private mutating func cut(
        _ slot: Slot,
        _ body: (Slot, NotificationKey, StateEntry, _ isLogged: Bool) -> Int
    ) -> Int {
        let index = Int(slot)
        let isLogged = links[index].state.contains(.logged)
        links[index].state.remove(.dirty)
        links[index].state.insert(.cut)
        defer { noteCut(index) }
        return body(slot, keys[index], entries[index], isLogged)
    }

    private mutating func noteCut(_ index: Int) {
        if entries[index].isIdle { links[index].state.remove(.urgent) }
        if entries[index].isEmpty { links[index].state.remove(.logged) } else { links[index].state.insert(.logged) }
    }

    /// The cut is committed: what of it is not needed here may leave.
    ///
    /// - Parameter horizon: what is due later is far, and in the store.
    mutating func settle(_ slots: [Slot], horizon: Timestamp) {
        for slot in slots {
            let index = Int(slot)
            links[index].state.remove(.cut)
            guard links[index].state.isDisjoint(with: [.dirty, .lazy]) else { continue }
            if entries[index].isEmpty || links[index].due.map({ $0 > horizon }) == true { remove(slot) }
        }
    }

    /// Lets entries leave that are in the store and have no timer, those first that were not changed for a round, until no more
    /// than `maximum` are here. Looks at a bounded number at each call.
    mutating func evict(beyond maximum: Int) {
        var looked = 0
        while count > maximum, looked < 256 {
            looked += 1
            hand = hand + 1 < links.count ? hand + 1 : 0
            guard links[hand].isUsed, links[hand].state == .logged, entries[hand].isIdle else { continue }
            if links[hand].isRecent {
                links[hand].isRecent = false
            } else {
                remove(Slot(hand))
            }
        }
    }

    /// Gives back the room of a burst: the slots at the end, once most are free. Not while slots are in a cut.
    mutating func shrink() {
        guard links.count > 1024, count < links.count / 4 else { return }
        // The lowest are taken first from here on, so that the next time more is free at the end.
        free.sort(by: >)
        let last = max(links.lastIndex { $0.isUsed } ?? -1, lazy.lazy.map { Int($0.slot) }.max() ?? -1)
        guard last < links.count / 2 else { return }
        (keys, entries, links) = (
            Array(keys.prefix(last + 1)), Array(entries.prefix(last + 1)), Array(links.prefix(last + 1))
        )
        free = Array(free.drop { $0 > last })
        if count == 0 { (firstOfKey, firstOfRecipient, dirty) = ([:], [:], []) }
        hand = 0
        rebuildAlarms()
    }

    /// Drops an entry without a trace: the changelog has a newer one.
    mutating func drop(_ key: NotificationKey) {
        guard let slot = slot(of: key) else { return }
        remove(slot)
    }

    private mutating func remove(_ slot: Slot) {
        let index = Int(slot)
        let (nextOfKey, nextOfRecipient) = (links[index].nextOfKey, links[index].nextOfRecipient)
        var before: Slot = -1
        var next = firstOfKey[links[index].keyHash] ?? -1
        while next >= 0, next != slot {
            before = next
            next = links[Int(next)].nextOfKey
        }
        if before >= 0 {
            links[Int(before)].nextOfKey = nextOfKey
        } else {
            firstOfKey[links[index].keyHash] = nextOfKey >= 0 ? nextOfKey : nil
        }
        let previous = links[index].previousOfRecipient
        if previous >= 0 {
            links[Int(previous)].nextOfRecipient = nextOfRecipient
        } else {
            firstOfRecipient[links[index].recipientHash] = nextOfRecipient >= 0 ? nextOfRecipient : nil
        }
        if nextOfRecipient >= 0 { links[Int(nextOfRecipient)].previousOfRecipient = previous }
        if links[index].due != nil {
            armedCount -= 1
            staleAlarms += 1
        }
        entries[index] = StateEntry()
        links[index].due = nil
        links[index].state = []
        links[index].isUsed = false
        free.append(slot)
    }

    // MARK: - Hashes

    /// Seeded anew in each process, so that keys cannot be made to collide.
    private static func hash(of key: NotificationKey) -> Int {
        var hasher = Hasher()
        key.encoded.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    private static func recipientHash(of key: NotificationKey) -> Int {
        var hasher = Hasher()
        key.encoded.withUnsafeBytes { hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: $0[..<key.recipientEnd])) }
        return hasher.finalize()
    }
}

extension NotificationKey {
    /// Where application and recipient end in the encoded form: the second `/`.
    var recipientEnd: Int { encoded.lastIndex(of: UInt8(ascii: "/")) ?? encoded.count }

    func isSameRecipient(as other: NotificationKey) -> Bool {
        encoded[..<recipientEnd] == other.encoded[..<other.recipientEnd]
    }
}
