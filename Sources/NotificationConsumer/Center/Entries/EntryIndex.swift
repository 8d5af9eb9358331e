import NotificationModel

/// Finds slots by key and by recipient. Two dictionaries map a hash to the first slot of a chain. Lookups compare the
/// full key, so each key is stored only once. Slots are numbered from 0 and reused.
struct EntryIndex {
    typealias Slot = Int32

    private struct Link {
        var keyHash: Int
        var recipientHash: Int
        /// The next slot with the same hash of the key, or of the recipient; -1 ends the chain.
        var nextOfKey: Slot = -1
        var nextOfRecipient: Slot = -1
        var previousOfRecipient: Slot = -1
    }

    private var keys: [NotificationKey] = []
    private var links: [Link] = []
    private var free: [Slot] = []
    private var firstOfKey: [Int: Slot] = [:]
    private var firstOfRecipient: [Int: Slot] = [:]

    /// Slots in use.
    var count: Int { links.count - free.count }
    /// Slots, used or free.
    var slotCount: Int { links.count }

    func key(of slot: Slot) -> NotificationKey { keys[Int(slot)] }

    func slot(of key: NotificationKey) -> Slot? {
        var next = firstOfKey[Self.hash(of: key)] ?? -1
        while next >= 0 {
            if keys[Int(next)] == key { return next }
            next = links[Int(next)].nextOfKey
        }
        return nil
    }

    /// All slots of the key's recipient in its application, in no particular order.
    func slots(ofRecipientOf key: NotificationKey) -> [Slot] {
        var found: [Slot] = []
        var next = firstOfRecipient[Self.recipientHash(of: key)] ?? -1
        while next >= 0 {
            if keys[Int(next)].isSameRecipient(as: key) { found.append(next) }
            next = links[Int(next)].nextOfRecipient
        }
        return found
    }

    /// Assigns a slot to a key that has none. A new slot has the number that `slotCount` had before.
    mutating func insert(_ key: NotificationKey) -> Slot {
        var link = Link(keyHash: Self.hash(of: key), recipientHash: Self.recipientHash(of: key))
        let slot = free.popLast() ?? Slot(links.count)
        if let first = firstOfKey.updateValue(slot, forKey: link.keyHash) { link.nextOfKey = first }
        if let first = firstOfRecipient.updateValue(slot, forKey: link.recipientHash) {
            link.nextOfRecipient = first
            links[Int(first)].previousOfRecipient = slot
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
        var before: Slot = -1
        var next = firstOfKey[link.keyHash] ?? -1
        while next >= 0, next != slot {
            before = next
            next = links[Int(next)].nextOfKey
        }
        if before >= 0 {
            links[Int(before)].nextOfKey = link.nextOfKey
        } else {
            firstOfKey[link.keyHash] = link.nextOfKey >= 0 ? link.nextOfKey : nil
        }
        if link.previousOfRecipient >= 0 {
            links[Int(link.previousOfRecipient)].nextOfRecipient = link.nextOfRecipient
        } else {
            firstOfRecipient[link.recipientHash] = link.nextOfRecipient >= 0 ? link.nextOfRecipient : nil
        }
        if link.nextOfRecipient >= 0 {
            links[Int(link.nextOfRecipient)].previousOfRecipient = link.previousOfRecipient
        }
        free.append(slot)
    }

    /// Uses the lowest free slots first from now on, so that more slots at the end become free.
    mutating func fillFromTheStart() { free.sort(by: >) }

    /// Releases the memory of the slots from `end` on; all of them must be free.
    mutating func truncate(to end: Int) {
        (keys, links) = (Array(keys.prefix(end)), Array(links.prefix(end)))
        free = Array(free.drop { $0 >= end })
        if count == 0 { (firstOfKey, firstOfRecipient) = ([:], [:]) }
    }

    // MARK: - Hashes

    /// Each process has its own seed, so an attacker cannot construct colliding keys.
    private static func hash(of key: NotificationKey) -> Int {
        var hasher = Hasher()
        key.encoded.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    static func recipientHash(of key: NotificationKey) -> Int {
        var hasher = Hasher()
        key.encoded.withUnsafeBytes { hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: $0[..<key.recipientEnd])) }
        return hasher.finalize()
    }
}
