import DequeModule
import NotificationModel

/// Which slots the changelog does not contain as they are, in the order in which cuts take them.
struct UnloggedChanges {
    /// A change that may wait: reading the log from its record on makes it again.
    struct Lazy {
        var slot: EntryIndex.Slot
        var offset: Int64
        var since: Timestamp
    }

    /// In the next cut.
    var dirty: [EntryIndex.Slot] = []
    /// In later ones, in the order of the log; an entry that became urgent since is skipped.
    var lazy: Deque<Lazy> = []
    /// Where reading again must end; what changes from there on is in the next cut. Nil while nothing bounds it.
    private(set) var lazyEnd: Int64?
    /// The next cut takes what it can of what could wait.
    var isHurried = false

    /// Reading again must not reach the record at the offset: its outcome depends on something that is not in the log.
    mutating func endReplay(before offset: Int64) {
        guard !lazy.isEmpty, lazyEnd == nil else { return }
        lazyEnd = offset
    }

    mutating func noteCut() {
        if lazy.isEmpty { lazyEnd = nil }
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
    var lazyOffset: Int64? { unlogged.lazy.first?.offset }
    var lazyEnd: Int64? { unlogged.lazyEnd }

    /// See `UnloggedChanges`.
    mutating func endReplay(before offset: Int64) { unlogged.endReplay(before: offset) }

    /// What could wait is in the way.
    mutating func hurry() { unlogged.isHurried = true }

    /// What is finished can wait: it is in the log, and is made again from there. What is not, or was not, cannot.
    mutating func noteChange(_ slot: Slot, at now: Timestamp, from cause: Cause) {
        let place = Int(slot)
        var offset: Int64?
        if case .log(let place) = cause { offset = place }
        if !entries[place].isIdle || offset == nil || unlogged.lazyEnd != nil {
            standings[place].state.insert(.urgent)
        }
        guard !standings[place].state.contains(.dirty) else { return }
        if standings[place].state.contains(.urgent) {
            standings[place].state.insert(.dirty)
            standings[place].state.remove(.lazy)
            unlogged.dirty.append(slot)
        } else if !standings[place].state.contains(.lazy), let offset {
            standings[place].state.insert(.lazy)
            unlogged.lazy.append(.init(slot: slot, offset: offset, since: now))
        }
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
        let isHurried = unlogged.isHurried || unlogged.lazyEnd != nil
        unlogged.isHurried = false
        while limit > 0, room > 0, let first = unlogged.lazy.first,
            isHurried || first.since < patience || unlogged.lazy.count > maximumLazy
        {
            unlogged.lazy.removeFirst()
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
