package import NotificationModel
import NotificationState

/// An entry store in memory: for the embedded broker, and when no directory is set.
///
/// It starts empty, so each start reads the whole changelog.
package final class MemoryEntryStore: EntryStore {
    private struct Slot {
        let hash: KeyHash
        var entry: StoredEntry
        var due: Timestamp?
        var touched: Timestamp
        var open = OpenRequests.none
        /// The next slot with the same key hash; -1 ends the chain.
        var nextOfKey: Int32 = -1
        /// The neighbors in the list of the recipient's slots.
        var nextOfRecipient: Int32 = -1
        var previousOfRecipient: Int32 = -1
    }

    // Unchecked: what each lookup or write uses. One lane uses a store at a time.
    @exclusivity(unchecked) private var slots: [Slot] = []
    @exclusivity(unchecked) private var free: [Int32] = []
    @exclusivity(unchecked) private var firstOfKey: [Int64: Int32] = [:]
    @exclusivity(unchecked) private var firstOfRecipient: [Int64: Int32] = [:]
    /// Ordered by instant and slot.
    @exclusivity(unchecked) private var dues = SortedChunks()
    @exclusivity(unchecked) private var idles = SortedChunks()
    /// Those of `idles` that must not be forgotten.
    private var lasting = 0
    @exclusivity(unchecked) private var open = OpenCounts()
    private var isClosed = false
    /// The bytes of keys and values.
    @exclusivity(unchecked) private var contentBytes = 0
    /// The memory per entry in addition to key and value: slot, indexes, array headers.
    private static let entryBytes = 256
    /// The slots of the recipient being read in pages, in page order.
    private var paged: (prefix: [UInt8], places: [(hash: Int64, slot: Int32)])?

    package private(set) var position: StorePosition?

    package init() {}

    package var counts: StoreCounts {
        StoreCounts(entries: slots.count - free.count, pending: dues.count, lasting: lasting, open: open)
    }
    package var unwritten: Int { 0 }
    package var memoryBytes: Int { contentBytes + counts.entries * Self.entryBytes }

    // MARK: - Reading

    package func entry(of key: [UInt8]) -> StoredEntry? {
        slot(of: key, KeyHash(of: key)).map { slots[$0].entry }
    }

    package func entries(withPrefix prefix: [UInt8], after cursor: inout RecipientCursor, limit: Int) -> [StoredEntry] {
        guard limit > 0 else { return [] }
        // Sorted once for all pages; entries added later need not be included.
        if cursor == RecipientCursor() || paged?.prefix != prefix { paged = (prefix, places(withPrefix: prefix)) }
        let places = paged?.places ?? []
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].hash > cursor.place { high = middle } else { low = middle + 1 }
        }
        var found: [StoredEntry] = []
        for (hash, slot) in places[low...] {
            guard found.count < limit || hash == cursor.place else { return found }
            let (kept, entry) = (slots[Int(slot)].hash, slots[Int(slot)].entry)
            // It was removed meanwhile, and its slot was reused.
            guard kept.key == hash, entry.key.starts(with: prefix) else { continue }
            found.append(entry)
            cursor.place = hash
        }
        paged = nil
        return found
    }

    private func places(withPrefix prefix: [UInt8]) -> [(hash: Int64, slot: Int32)] {
        var found: [(hash: Int64, slot: Int32)] = []
        var next = firstOfRecipient[KeyHash.recipient(ofPrefix: prefix)] ?? -1
        while next >= 0 {
            let slot = slots[Int(next)]
            if slot.entry.key.starts(with: prefix) { found.append((slot.hash.key, next)) }
            next = slot.nextOfRecipient
        }
        return found.sorted { ($0.hash, $0.slot) < ($1.hash, $1.slot) }
    }

    package func due(after cursor: inout DueCursor, through: Timestamp, limit: Int) -> [StoredEntry] {
        guard limit > 0 else { return [] }
        var found: [StoredEntry] = []
        var last = cursor
        let start = SortedChunks.Element(first: cursor.due.rawValue, second: cursor.tiebreak)
        dues.forEach(from: start) { element in
            guard element.first <= through.rawValue, found.count < limit else { return false }
            guard element != start else { return true }
            found.append(slots[Int(element.second)].entry)
            last = DueCursor(due: Timestamp(rawValue: element.first), tiebreak: element.second)
            return true
        }
        cursor = last
        return found
    }

    package func idle(limit: Int) -> [IdleEntry] {
        var found: [IdleEntry] = []
        idles.forEach(from: .init(first: .min, second: .min)) { element in
            guard found.count < limit else { return false }
            let slot = slots[Int(element.second)]
            found.append(IdleEntry(key: slot.entry.key, touched: slot.touched))
            return true
        }
        return found
    }

    /// The contents of the next slots, for a copy; changes behind the cursor are not seen again.
    ///
    /// - Returns: at most `limit` changes; none at the end.
    func changes(from cursor: inout Int, limit: Int) -> [StoreChange] {
        var found: [StoreChange] = []
        while cursor < slots.count, found.count < limit {
            let slot = slots[cursor]
            cursor += 1
            // A free slot has no key.
            guard !slot.entry.key.isEmpty else { continue }
            found.append(
                StoreChange(
                    key: slot.entry.key,
                    value: slot.entry.value,
                    due: slot.due,
                    touched: slot.touched,
                    open: slot.open
                )
            )
        }
        return found
    }

    private func slot(of key: [UInt8], _ hash: KeyHash) -> Int? {
        var next = firstOfKey[hash.key] ?? -1
        while next >= 0 {
            if slots[Int(next)].entry.key == key { return Int(next) }
            next = slots[Int(next)].nextOfKey
        }
        return nil
    }

    // MARK: - Writing

    package func write(_ changes: [StoreChange], position: StorePosition) {
        guard !isClosed else { return }
        self.position = position
        for change in changes {
            let hash = KeyHash(of: change.key)
            let slot = slot(of: change.key, hash)
            guard let value = change.value else {
                if let slot { remove(slot) }
                continue
            }
            let place = slot ?? add(change.key, hash)
            if slot != nil { unorder(place) }
            contentBytes += value.count - slots[place].entry.value.count
            slots[place].entry.value = value
            slots[place].due = change.due
            slots[place].touched = change.touched
            slots[place].open = change.open
            order(place)
        }
    }

    private func order(_ slot: Int) {
        open.add(slots[slot].open)
        if let due = slots[slot].due {
            dues.insert(.init(first: due.rawValue, second: Int64(slot)))
        } else {
            idles.insert(.init(first: slots[slot].touched.rawValue, second: Int64(slot)))
            if slots[slot].touched == .latest { lasting += 1 }
        }
    }

    private func unorder(_ slot: Int) {
        open.add(slots[slot].open, -1)
        if let due = slots[slot].due {
            dues.remove(.init(first: due.rawValue, second: Int64(slot)))
        } else {
            idles.remove(.init(first: slots[slot].touched.rawValue, second: Int64(slot)))
            if slots[slot].touched == .latest { lasting -= 1 }
        }
    }

    private func add(_ key: [UInt8], _ hash: KeyHash) -> Int {
        let place = free.popLast() ?? Int32(slots.count)
        var slot = Slot(hash: hash, entry: StoredEntry(key: key, value: []), touched: Timestamp(rawValue: 0))
        if let next = firstOfKey.updateValue(place, forKey: hash.key) { slot.nextOfKey = next }
        if let next = firstOfRecipient.updateValue(place, forKey: hash.recipient) {
            slot.nextOfRecipient = next
            slots[Int(next)].previousOfRecipient = place
        }
        contentBytes += key.count
        if Int(place) == slots.count { slots.append(slot) } else { slots[Int(place)] = slot }
        return Int(place)
    }

    private func remove(_ place: Int) {
        unorder(place)
        let slot = slots[place]
        if let first = firstOfKey[slot.hash.key], first != Int32(place) {
            var before = Int(first)
            while slots[before].nextOfKey != Int32(place) { before = Int(slots[before].nextOfKey) }
            slots[before].nextOfKey = slot.nextOfKey
        } else {
            firstOfKey[slot.hash.key] = slot.nextOfKey >= 0 ? slot.nextOfKey : nil
        }
        if slot.nextOfRecipient >= 0 {
            slots[Int(slot.nextOfRecipient)].previousOfRecipient = slot.previousOfRecipient
        }
        if slot.previousOfRecipient >= 0 {
            slots[Int(slot.previousOfRecipient)].nextOfRecipient = slot.nextOfRecipient
        } else {
            firstOfRecipient[slot.hash.recipient] = slot.nextOfRecipient >= 0 ? slot.nextOfRecipient : nil
        }
        contentBytes -= slot.entry.key.count + slot.entry.value.count
        slots[place].entry = StoredEntry(key: [], value: [])
        free.append(Int32(place))
    }

    package func flush() {}

    package func discard() {
        slots = []
        free = []
        (contentBytes, lasting, open) = (0, 0, OpenCounts())
        firstOfKey = [:]
        firstOfRecipient = [:]
        dues = SortedChunks()
        idles = SortedChunks()
        position = nil
        paged = nil
    }

    package func close(flushing: Bool, by deadline: ContinuousClock.Instant?) {
        isClosed = true
        discard()
    }
}
