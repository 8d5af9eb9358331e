import DequeModule
import NotificationModel
import NotificationState

/// The slots whose current contents the changelog does not have, in the order in which cuts take them.
struct UnloggedChanges {
    /// A change that may wait: a replay of the log from its record reproduces it.
    struct Lazy {
        var slot: EntryIndex.Slot
        var position: CenterInput.Position
        var since: Timestamp
        /// The number of inputs the partition had applied before.
        var number: Int
    }

    /// Slots in the next cut.
    var dirty: [EntryIndex.Slot] = []
    /// Changes for later cuts, in the order in which they occurred; an entry that became urgent since is skipped.
    private(set) var lazy: Deque<Lazy> = []
    /// The number of lazy changes per input.
    private var counts = PerInput { _ in 0 }
    /// Where the replay must end; changes from there on are in the next cut. Nil when there is no limit.
    private(set) var lazyEnd = PerInput<Int64?> { _ in nil }
    /// The next cut takes as many lazy changes as it can.
    var isHurried = false
    /// About the bytes that were added to the next cut, until the center takes the number.
    var charge = 0

    mutating func append(_ change: Lazy) {
        lazy.append(change)
        counts[change.position.input] += 1
    }

    mutating func removeFirst() {
        counts[lazy.removeFirst().position.input] -= 1
    }

    /// The first record of an input that finished an entry which the changelog does not contain.
    func firstOffset(of input: InputTopic) -> Int64? {
        guard counts[input] > 0 else { return nil }
        return lazy.first { $0.position.input == input }?.position.offset
    }

    /// The replay must not reach this record: its outcome depends on something outside the log.
    mutating func endReplay(before position: CenterInput.Position) {
        guard counts[position.input] > 0, lazyEnd[position.input] == nil else { return }
        lazyEnd[position.input] = position.offset
    }

    /// Whether the replay of any input is limited.
    var hasEnd: Bool { !lazyEnd.allSatisfy { $1 == nil } }

    mutating func noteCut() {
        for input in InputTopic.allCases where counts[input] == 0 { lazyEnd[input] = nil }
    }

    /// -1 if there is none.
    var lastLazySlot: Int { lazy.lazy.map { Int($0.slot) }.max() ?? -1 }

    mutating func giveBackRoom() { dirty = [] }
}

extension WorkingSet {
    /// The number of entries in the next cut.
    var dirtyCount: Int { unlogged.dirty.count }
    /// The time and record of the first entry in a later cut.
    var lazySince: Timestamp? { unlogged.lazy.first?.since }
    var lazyNumber: Int? { unlogged.lazy.first?.number }
    func lazyOffset(of input: InputTopic) -> Int64? { unlogged.firstOffset(of: input) }
    func lazyEnd(of input: InputTopic) -> Int64? { unlogged.lazyEnd[input] }

    /// See `UnloggedChanges`.
    mutating func endReplay(before position: CenterInput.Position) { unlogged.endReplay(before: position) }

    /// Makes the next cut take lazy changes as well.
    mutating func hurry() { unlogged.isHurried = true }

    /// Schedules a change for a cut. A finished entry can wait, because a replay of the log reproduces it. An entry
    /// that is unfinished, or was, cannot.
    mutating func noteChange(_ slot: Slot, at now: Timestamp, _ change: Change) {
        let place = Int(slot)
        if change.isOfRecipient { standings[place].state.insert(.recipient) }
        var source: (position: CenterInput.Position, number: Int)?
        if case .log(let position, let number) = change.cause { source = (position, number) }
        if !standings[place].state.contains(.idle) || !canWait(place, for: source?.position) {
            standings[place].state.insert(.urgent)
        }
        guard !standings[place].state.contains(.dirty) else { return charge(place) }
        if standings[place].state.contains(.urgent) {
            standings[place].state.insert(.dirty)
            standings[place].state.remove(.lazy)
            unlogged.dirty.append(slot)
            charge(place)
        } else if !standings[place].state.contains(.lazy), let source {
            standings[place].state.insert(.lazy)
            standings[place].lazyInput = source.position.input
            unlogged.append(.init(slot: slot, position: source.position, since: now, number: source.number))
        }
    }

    /// Whatever the input's own size is: the whole entry is written.
    private mutating func charge(_ place: Int) {
        let more = entries[place].bytes - Int(standings[place].charged)
        guard more > 0 else { return }
        unlogged.charge += more
        standings[place].charged += Int32(clamping: more)
    }

    /// Whether a replay of the record reproduces the change, and all other waiting changes of the entry.
    private func canWait(_ place: Int, for position: CenterInput.Position?) -> Bool {
        guard let position, unlogged.lazyEnd[position.input] == nil else { return false }
        return !standings[place].state.contains(.lazy) || standings[place].lazyInput == position.input
    }

    /// Takes all urgent changes. Of the others it takes those older than `patience` or beyond `maximumLazy`: a bounded
    /// number, until `room` is used up. Each entry is kept here until `noteCommitted`.
    ///
    /// - Parameter body: returns how much of the room the entry uses.
    mutating func cut(
        patience: Timestamp,
        maximumLazy: Int,
        room: inout Int,
        _ body: (Slot, NotificationKey, StateEntry, State) -> Int
    ) {
        for slot in unlogged.dirty { _ = cut(slot, body) }
        unlogged.dirty.removeAll(keepingCapacity: true)
        var limit = max(1000, unlogged.lazy.count / 16)
        // While the replay is limited, all other changes go to the next cut, which costs more: take lazy changes to
        // reach the limit soon.
        let isHurried = unlogged.isHurried || unlogged.hasEnd
        unlogged.isHurried = false
        while limit > 0, room > 0, let first = unlogged.lazy.first,
            isHurried || first.since < patience || unlogged.lazy.count > maximumLazy
        {
            unlogged.removeFirst()
            // It became urgent since, or an earlier change already took it.
            guard standings[Int(first.slot)].state.contains(.lazy) else { continue }
            limit -= 1
            standings[Int(first.slot)].state.remove(.lazy)
            room -= cut(first.slot, body)
        }
        unlogged.noteCut()
    }

    /// Takes the lazy changes of a recipient's entries: the recipient's record is in this cut, and a replay of them would
    /// change it twice.
    mutating func cutWaiting(
        ofRecipientOf key: NotificationKey,
        _ body: (Slot, NotificationKey, StateEntry, State) -> Int
    ) {
        for slot in index.slots(ofRecipientOf: key) where standings[Int(slot)].state.contains(.lazy) {
            standings[Int(slot)].state.remove(.lazy)
            _ = cut(slot, body)
        }
    }

    private mutating func cut(_ slot: Slot, _ body: (Slot, NotificationKey, StateEntry, State) -> Int) -> Int {
        let place = Int(slot)
        let state = standings[place].state
        standings[place].state.subtract([.dirty, .recipient])
        standings[place].charged = 0
        standings[place].state.insert(.cut)
        defer { noteCut(place) }
        return body(slot, key(of: slot), entries[place], state)
    }

    private mutating func noteCut(_ place: Int) {
        if standings[place].state.contains(.idle) { standings[place].state.remove(.urgent) }
        if standings[place].state.contains(.empty) {
            standings[place].state.remove(.logged)
        } else {
            standings[place].state.insert(.logged)
        }
    }
}
