import NotificationModel

/// Finds slots by key and by recipient. Lookups compare the full key, so each key is stored only once. Slots are numbered from 0 and
/// reused.
struct EntryIndex {
    typealias Slot = SlotTable.Slot

    private struct Link {
        var keyHash: UInt32
        var recipientHash: UInt32
        /// The slots with the same hash of the recipient; -1 where there is none.
        var next: Slot = -1
        var previous: Slot = -1
    }

    private var keys: [NotificationKey] = []
    private var links: [Link] = []
    private var free: [Slot] = []
    private var byKey = SlotTable()
    /// The first slot of each hash of a recipient.
    private var byRecipient = SlotTable()

    /// Slots in use.
    var count: Int { links.count - free.count }
    /// Slots, used or free.
    var slotCount: Int { links.count }

    func key(of slot: Slot) -> NotificationKey { keys[Int(slot)] }

    func slot(of key: NotificationKey) -> Slot? {
        byKey.first(of: Self.hash(of: key)) { keys[Int($0)] == key }
    }

    /// All slots of the key's recipient in its application, in no particular order.
    func slots(ofRecipientOf key: NotificationKey) -> [Slot] {
        var found: [Slot] = []
        var next = firstSlot(ofRecipient: Self.recipientHash(of: key)) ?? -1
        while next >= 0 {
            if keys[Int(next)].isSameRecipient(as: key) { found.append(next) }
            next = links[Int(next)].next
        }
        return found
    }

    private func firstSlot(ofRecipient hash: UInt32) -> Slot? { byRecipient.first(of: hash) { _ in true } }

    /// Assigns a slot to a key that has none. A new slot has the number that `slotCount` had before.
    mutating func insert(_ key: NotificationKey) -> Slot {
        var link = Link(keyHash: Self.hash(of: key), recipientHash: Self.recipientHash(of: key))
        let slot = free.popLast() ?? Slot(links.count)
        byKey.insert(slot, of: link.keyHash)
        if let first = firstSlot(ofRecipient: link.recipientHash) {
            // Behind the first one, which the table has.
            (link.previous, link.next) = (first, links[Int(first)].next)
            links[Int(first)].next = slot
            if link.next >= 0 { links[Int(link.next)].previous = slot }
        } else {
            byRecipient.insert(slot, of: link.recipientHash)
        }
        if Int(slot) == links.count {
            keys.append(key)
            links.append(link)
        } else {
            (keys[Int(slot)], links[Int(slot)]) = (key, link)
        }
        return slot
    }

    mutating func remove(_ slot: Slot) {
        let link = links[Int(slot)]
        byKey.remove(slot, of: link.keyHash)
        if link.next >= 0 { links[Int(link.next)].previous = link.previous }
        if link.previous >= 0 {
            links[Int(link.previous)].next = link.next
        } else if link.next >= 0 {
            byRecipient.replace(slot, of: link.recipientHash, by: link.next)
        } else {
            byRecipient.remove(slot, of: link.recipientHash)
        }
        free.append(slot)
    }

    /// Uses the lowest free slots first from now on, so that more slots at the end become free.
    mutating func fillFromTheStart() { free.sort(by: >) }

    /// Releases the memory of the slots from `end` on; all of them must be free.
    mutating func truncate(to end: Int) {
        (keys, links) = (Array(keys.prefix(end)), Array(links.prefix(end)))
        free = Array(free.drop { $0 >= end })
        if count == 0 { (byKey, byRecipient) = (SlotTable(), SlotTable()) }
    }

    // MARK: - Hashes

    /// Each process has its own seed, so an attacker cannot construct colliding keys.
    private static func hash(of key: NotificationKey) -> UInt32 { hash(key.encoded[...]) }

    static func recipientHash(of key: NotificationKey) -> UInt32 { hash(key.encoded[..<key.recipientEnd]) }

    private static func hash(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var hasher = Hasher()
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }
}
