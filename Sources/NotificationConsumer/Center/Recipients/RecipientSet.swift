import NotificationModel
import NotificationState

/// The recipient records of one partition that are in memory. They have no timers. A turn over an entry owns its recipient's
/// record meanwhile (`exchange`).
///
/// A change is in the next cut or, when a turn over an entry made it, in the cut of that entry: a replay of the log makes
/// both again. A record without changes since its commit may be evicted.
struct RecipientSet {
    typealias Slot = SlotTable.Slot

    /// The state of a record relative to the changelog.
    private struct State: OptionSet {
        let rawValue: UInt8
        /// Changed; in the next cut.
        static let dirty = State(rawValue: 1)
        /// Changed by turns over entries; in the cut of the first of them.
        static let waiting = State(rawValue: 2)
        /// In a cut that is not committed yet.
        static let cut = State(rawValue: 4)
        /// The changelog contains it, perhaps as it was before.
        static let logged = State(rawValue: 8)
        /// Not empty: counted as an entry.
        static let filled = State(rawValue: 16)
        /// Used since the eviction hand last passed.
        static let recent = State(rawValue: 32)
        static let inUse = State(rawValue: 64)
        /// Must not be forgotten.
        static let lasting = State(rawValue: 128)
    }

    private struct Standing {
        var hash: UInt32
        var state: State
    }

    // Without identifiers.
    private var keys: [NotificationKey] = []
    private var records: [RecipientRecord] = []
    private var standings: [Standing] = []
    private var byKey = SlotTable()
    private var free: [Slot] = []
    private var dirty: [Slot] = []
    private var inCut: [Slot] = []
    /// The next slot that the eviction examines.
    private var hand = 0

    /// The number of records in the next cut, and what they add to it, in bytes: an estimate.
    var dirtyCount: Int { dirty.count }
    private(set) var dirtyBytes = 0
    /// The same since the center last took the number.
    var charge = 0
    var count: Int { keys.count - free.count }

    // MARK: - Finding

    /// The slot of a key's recipient; nil when its record is not in memory.
    ///
    /// - Parameter key: of the recipient, or of any of its notifications.
    func slot(of key: NotificationKey) -> Slot? {
        byKey.first(of: EntryIndex.recipientHash(of: key)) { keys[Int($0)].isSameRecipient(as: key) }
    }

    func record(in slot: Slot) -> RecipientRecord { records[Int(slot)] }

    /// The record of a key's recipient, if it is in memory.
    func record(of key: NotificationKey) -> RecipientRecord? { slot(of: key).map { records[Int($0)] } }

    // MARK: - Changing

    /// Adds a record that was loaded from the store; nil when the store has none.
    ///
    /// - Parameter key: of a recipient that has no slot, without an identifier.
    @discardableResult
    mutating func load(_ key: NotificationKey, _ record: RecipientRecord?) -> Slot {
        let hash = EntryIndex.recipientHash(of: key)
        let slot = free.popLast() ?? Slot(keys.count)
        var standing = Standing(hash: hash, state: [.inUse, .recent])
        if let record {
            standing.state.insert(.logged)
            if !record.isEmpty { standing.state.insert(.filled) }
            if record.touched == .latest { standing.state.insert(.lasting) }
        }
        byKey.insert(slot, of: hash)
        if Int(slot) == keys.count {
            keys.append(key)
            records.append(record ?? RecipientRecord())
            standings.append(standing)
        } else {
            (keys[Int(slot)], records[Int(slot)], standings[Int(slot)]) = (key, record ?? RecipientRecord(), standing)
        }
        return slot
    }

    /// Swaps a record with that of a turn, which owns it until the second call.
    mutating func exchange(_ slot: Slot, with record: inout RecipientRecord) {
        standings[Int(slot)].state.insert(.recent)
        swap(&records[Int(slot)], &record)
    }

    /// Replaces or adds a record; its change is in the next cut.
    ///
    /// - Parameter key: without an identifier.
    /// - Returns: the change in the numbers of records, and of those that must not be forgotten.
    mutating func set(_ record: RecipientRecord, of key: NotificationKey) -> StoreCounts {
        let slot = slot(of: key) ?? load(key, nil)
        records[Int(slot)] = record
        noteDirty(slot)
        return noteChange(slot)
    }

    /// A turn over an entry changed the record: the change is in the cut of that entry.
    ///
    /// - Returns: the change in the numbers of records, and of those that must not be forgotten.
    mutating func touch(_ slot: Slot, at now: Timestamp, since horizon: Timestamp) -> StoreCounts {
        records[Int(slot)].touch(at: now, since: horizon)
        standings[Int(slot)].state.insert(.waiting)
        return noteChange(slot)
    }

    private mutating func noteChange(_ slot: Slot) -> StoreCounts {
        let before = standings[Int(slot)].state
        standings[Int(slot)].state.subtract([.filled, .lasting])
        if !records[Int(slot)].isEmpty { standings[Int(slot)].state.formUnion([.filled, .recent]) }
        if records[Int(slot)].touched == .latest { standings[Int(slot)].state.insert(.lasting) }
        let after = standings[Int(slot)].state
        func change(_ state: State) -> Int { (after.contains(state) ? 1 : 0) - (before.contains(state) ? 1 : 0) }
        return StoreCounts(entries: change(.filled), lasting: change(.lasting))
    }

    private mutating func noteDirty(_ slot: Slot) {
        guard !standings[Int(slot)].state.contains(.dirty) else { return }
        standings[Int(slot)].state.insert(.dirty)
        dirty.append(slot)
        let bytes = records[Int(slot)].bytes
        dirtyBytes += bytes
        charge += bytes
    }

    // MARK: - Cuts

    /// An entry that changed the record of its recipient is in this cut: so is the record.
    ///
    /// - Parameter key: of the entry.
    /// - Returns: about the bytes that the record adds to the cut.
    mutating func endWaiting(ofRecipientOf key: NotificationKey) -> Int {
        guard let slot = slot(of: key), standings[Int(slot)].state.isSuperset(of: .waiting) else { return 0 }
        let before = dirtyBytes
        noteDirty(slot)
        return dirtyBytes - before
    }

    /// The recipients in this cut whose entries changed their records: all that wait of these entries are in the same cut.
    var waitingKeys: [NotificationKey] {
        dirty.lazy.filter { standings[Int($0)].state.contains(.waiting) }.map { keys[Int($0)] }
    }

    /// Passes the changed records to `body`; each stays in memory until `noteCommitted`.
    mutating func cut(_ body: (NotificationKey, RecipientRecord) -> Void) {
        for slot in dirty {
            let place = Int(slot)
            standings[place].state.subtract([.dirty, .waiting])
            standings[place].state.insert(.cut)
            inCut.append(slot)
            let isEmpty = records[place].isEmpty
            // Created and removed since the last cut: the changelog never had it.
            if !isEmpty || standings[place].state.contains(.logged) { body(keys[place], records[place]) }
            if isEmpty { standings[place].state.remove(.logged) } else { standings[place].state.insert(.logged) }
        }
        dirty.removeAll(keepingCapacity: true)
        dirtyBytes = 0
    }

    /// The cut is committed and written to the store. Records of tokens leave the memory: hardly any is used twice.
    mutating func noteCommitted() {
        for slot in inCut {
            standings[Int(slot)].state.remove(.cut)
            if records[Int(slot)].tokenOwner != nil, isUnchanged(Int(slot)) { remove(slot) }
        }
        inCut.removeAll(keepingCapacity: true)
    }

    // MARK: - Leaving

    private func isUnchanged(_ place: Int) -> Bool {
        standings[place].state.contains(.inUse) && standings[place].state.isDisjoint(with: [.dirty, .waiting, .cut])
    }

    /// Drops unchanged records until at most `maximum` remain; the store has them. Those that were not used during a whole
    /// round go first. Each call examines a bounded number.
    mutating func evict(beyond maximum: Int) {
        var looked = 0
        while count > maximum, looked < 256 {
            looked += 1
            hand = hand + 1 < standings.count ? hand + 1 : 0
            guard isUnchanged(hand) else { continue }
            if standings[hand].state.contains(.recent) {
                standings[hand].state.remove(.recent)
            } else {
                remove(Slot(hand))
            }
        }
    }

    private mutating func remove(_ slot: Slot) {
        let place = Int(slot)
        byKey.remove(slot, of: standings[place].hash)
        records[place] = RecipientRecord()
        standings[place].state = []
        free.append(slot)
    }
}
