import DequeModule
import HeapModule
import NotificationModel

/// The entries of one partition, in memory: found by key and by recipient, with the timers of what is pending.
///
/// Entries are named by their slot in three arrays, apart so that finding one copies and counts no references of the others;
/// two dictionaries map a hash to the first slot of a chain, and the full key is compared. Slots are reused.
struct CenterStore {
    typealias Slot = Int32

    /// What is known of a slot without looking at its entry.
    private struct Link {
        var keyHash: Int
        var recipientHash: Int
        /// The next slot with the same key hash, or of the same recipient hash; -1 ends the chain.
        var nextOfKey: Slot = -1
        var nextOfRecipient: Slot = -1
        var previousOfRecipient: Slot = -1
        /// When it was last applied to, for forgetting.
        var touched: Timestamp
        /// When what is pending is due.
        var due: Timestamp?
    }

    private struct Alarm: Comparable {
        var due: Timestamp
        var slot: Slot
        static func < (a: Self, b: Self) -> Bool { (a.due, a.slot) < (b.due, b.slot) }
    }

    private var keys: [NotificationKey] = []
    private var entries: [CenterEntry] = []
    private var links: [Link] = []
    private var free: [Slot] = []
    private var firstOfKey: [Int: Slot] = [:]
    private var firstOfRecipient: [Int: Slot] = [:]
    /// Entries cancelled or re-armed leave their alarm behind; it is dropped when it comes up.
    private var alarms = Heap<Alarm>()
    private var staleAlarms = 0
    /// In the order in which they may be forgotten; each entry is in it once.
    private var forgetting: Deque<Slot> = []

    /// How many are pending.
    private(set) var pendingCount = 0
    /// How many entries are kept, pending or only remembered.
    var count: Int { links.count - free.count }

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

    func key(of slot: Slot) -> NotificationKey { keys[Int(slot)] }

    func entry(of slot: Slot) -> CenterEntry { entries[Int(slot)] }

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

    /// Changes the entry of a key, made when there was none; an entry left empty is forgotten at once.
    mutating func update<Result>(
        _ key: NotificationKey,
        at now: Timestamp,
        _ change: (inout CenterEntry) -> Result
    ) -> Result {
        let hash = Self.hash(of: key)
        if let slot = slot(of: key, hash: hash) { return update(slot, at: now, change) }
        var entry = CenterEntry()
        let result = change(&entry)
        if !entry.isEmpty { insert(key, hash: hash, entry, at: now) }
        return result
    }

    /// Changes the entry in a slot, in place, and arms its timer anew.
    mutating func update<Result>(_ slot: Slot, at now: Timestamp, _ change: (inout CenterEntry) -> Result) -> Result {
        let result = change(&entries[Int(slot)])
        links[Int(slot)].touched = now
        track(slot)
        return result
    }

    private mutating func insert(_ key: NotificationKey, hash: Int, _ entry: CenterEntry, at now: Timestamp) {
        let recipientHash = Self.recipientHash(of: key)
        var link = Link(keyHash: hash, recipientHash: recipientHash, touched: now)
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
        forgetting.append(slot)
        track(slot)
    }

    /// Follows what became of the entry's timer.
    private mutating func track(_ slot: Slot) {
        let (before, after) = (links[Int(slot)].due, entries[Int(slot)].due)
        guard before != after else { return }
        links[Int(slot)].due = after
        if before != nil {
            pendingCount -= 1
            staleAlarms += 1
        }
        if let after {
            pendingCount += 1
            alarms.insert(Alarm(due: after, slot: slot))
        }
        // Keeps the heap within twice what is pending, however often requests are replaced.
        if staleAlarms > pendingCount + 1024 { rebuildAlarms() }
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

    /// Forgets entries that were not touched since `horizon` and have nothing pending, and beyond `maximum` entries the
    /// oldest of them before that. Looks at a bounded number at each call.
    ///
    /// - Returns: how many were forgotten before their time.
    mutating func forget(since horizon: Timestamp, beyond maximum: Int) -> Int {
        var early = 0
        for _ in 0..<64 {
            guard let slot = forgetting.first else { break }
            let isOld = links[Int(slot)].touched < horizon
            guard isOld || count > maximum else { break }
            forgetting.removeFirst()
            guard links[Int(slot)].due == nil else {
                forgetting.append(slot)
                continue
            }
            if !isOld { early += 1 }
            remove(slot)
        }
        return early
    }

    private mutating func remove(_ slot: Slot) {
        let (nextOfKey, nextOfRecipient) = (links[Int(slot)].nextOfKey, links[Int(slot)].nextOfRecipient)
        var before: Slot = -1
        var next = firstOfKey[links[Int(slot)].keyHash] ?? -1
        while next >= 0, next != slot {
            before = next
            next = links[Int(next)].nextOfKey
        }
        if before >= 0 {
            links[Int(before)].nextOfKey = nextOfKey
        } else {
            firstOfKey[links[Int(slot)].keyHash] = nextOfKey >= 0 ? nextOfKey : nil
        }
        let previous = links[Int(slot)].previousOfRecipient
        if previous >= 0 {
            links[Int(previous)].nextOfRecipient = nextOfRecipient
        } else {
            firstOfRecipient[links[Int(slot)].recipientHash] = nextOfRecipient >= 0 ? nextOfRecipient : nil
        }
        if nextOfRecipient >= 0 { links[Int(nextOfRecipient)].previousOfRecipient = previous }
        entries[Int(slot)] = CenterEntry()
        links[Int(slot)].due = nil
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
