import DequeModule
import NotificationModel

/// Which slots the changelog does not contain as they are, in the order in which cuts take them.
struct UnloggedChanges {
    /// A change that may wait: reading the log from its record on makes it again.
    struct Lazy {
        var slot: EntryIndex.Slot
        var position: CenterInput.Position
        var since: Timestamp
        /// How many inputs the partition had applied before.
        var number: Int
    }

    /// In the next cut.
    var dirty: [EntryIndex.Slot] = []
    /// In later ones, in the order in which they changed; an entry that became urgent since is skipped.
    private(set) var lazy: Deque<Lazy> = []
    /// How many of them each input has.
    private var counts = PerInput { _ in 0 }
    /// Where reading again must end; what changes from there on is in the next cut. Nil while nothing bounds it.
    private(set) var lazyEnd = PerInput<Int64?> { _ in nil }
    /// The next cut takes what it can of what could wait.
    var isHurried = false

    mutating func append(_ change: Lazy) {
        lazy.append(change)
        counts[change.position.input] += 1
    }

    mutating func removeFirst() {
        counts[lazy.removeFirst().position.input] -= 1
    }

    /// The first record of an input that has finished something which is not in the changelog.
    func firstOffset(of input: InputTopic) -> Int64? {
        guard counts[input] > 0 else { return nil }
        return lazy.first { $0.position.input == input }?.position.offset
    }

    /// Reading again must not reach the record at the position: its outcome depends on something that is not in the log.
    mutating func endReplay(before position: CenterInput.Position) {
        guard counts[position.input] > 0, lazyEnd[position.input] == nil else { return }
        lazyEnd[position.input] = position.offset
    }

    /// Whether reading an input again has an end.
    var hasEnd: Bool { !lazyEnd.allSatisfy { $1 == nil } }

    mutating func noteCut() {
        for input in InputTopic.allCases where counts[input] == 0 { lazyEnd[input] = nil }
    }

    /// -1 for none.
    var lastLazySlot: Int { lazy.lazy.map { Int($0.slot) }.max() ?? -1 }

    mutating func giveBackRoom() { dirty = [] }
}

extension WorkingSet {
    /// How many are in the next cut.
    var dirtyCount: Int { unlogged.dirty.count }
    /// How many are in later ones, and since when and from which record on.
    var lazyCount: Int { unlogged.lazy.count }
    var lazySince: Timestamp? { unlogged.lazy.first?.since }
    var lazyNumber: Int? { unlogged.lazy.first?.number }
    func lazyOffset(of input: InputTopic) -> Int64? { unlogged.firstOffset(of: input) }
    func lazyEnd(of input: InputTopic) -> Int64? { unlogged.lazyEnd[input] }

    /// See `UnloggedChanges`.
    mutating func endReplay(before position: CenterInput.Position) { unlogged.endReplay(before: position) }

    /// What could wait is in the way.
    mutating func hurry() { unlogged.isHurried = true }

    /// What is finished can wait: it is in the log, and is made again from there. What is not, or was not, cannot.
    mutating func noteChange(_ slot: Slot, at now: Timestamp, from cause: Cause) {
        let place = Int(slot)
        var source: (position: CenterInput.Position, number: Int)?
        if case .log(let position, let number) = cause { source = (position, number) }
        if !entries[place].isIdle || !canWait(place, for: source?.position) { standings[place].state.insert(.urgent) }
        guard !standings[place].state.contains(.dirty) else { return }
        if standings[place].state.contains(.urgent) {
            standings[place].state.insert(.dirty)
            standings[place].state.remove(.lazy)
            unlogged.dirty.append(slot)
        } else if !standings[place].state.contains(.lazy), let source {
            standings[place].state.insert(.lazy)
            standings[place].lazyInput = source.position.input
            unlogged.append(.init(slot: slot, position: source.position, since: now, number: source.number))
        }
    }

    /// Whether reading a record again makes the change of an entry again, and with it every other one that waits.
    private func canWait(_ place: Int, for position: CenterInput.Position?) -> Bool {
        guard let position, unlogged.lazyEnd[position.input] == nil else { return false }
        return !standings[place].state.contains(.lazy) || standings[place].lazyInput == position.input
    }

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
        for slot in unlogged.dirty { _ = cut(slot, body) }
        unlogged.dirty.removeAll(keepingCapacity: true)
        var limit = max(1000, unlogged.lazy.count / 16)
        // Where reading again has an end, everything else goes to the next cut, which costs more: the end is reached soon.
        let isHurried = unlogged.isHurried || unlogged.hasEnd
        unlogged.isHurried = false
        while limit > 0, room > 0, let first = unlogged.lazy.first,
            isHurried || first.since < patience || unlogged.lazy.count > maximumLazy
        {
            unlogged.removeFirst()
            // It became urgent since, or was taken under an earlier change.
            guard standings[Int(first.slot)].state.contains(.lazy) else { continue }
            limit -= 1
            standings[Int(first.slot)].state.remove(.lazy)
            room -= cut(first.slot, body)
        }
        unlogged.noteCut()
    }

    private mutating func cut(
        _ slot: Slot,
        _ body: (Slot, NotificationKey, StateEntry, _ isLogged: Bool) -> Int
    ) -> Int {
        let place = Int(slot)
        let isLogged = standings[place].state.contains(.logged)
        standings[place].state.remove(.dirty)
        standings[place].state.insert(.cut)
        defer { noteCut(place) }
        return body(slot, key(of: slot), entries[place], isLogged)
    }

    private mutating func noteCut(_ place: Int) {
        if entries[place].isIdle { standings[place].state.remove(.urgent) }
        if entries[place].isEmpty {
            standings[place].state.remove(.logged)
        } else {
            standings[place].state.insert(.logged)
        }
    }
}
