import NotificationModel
import NotificationState

/// The notifications that recipients are shown in threads: how many a thread has is told with each delivery.
///
/// It is derived from the entries, and never written: what is not in memory is counted when it is first asked for.
struct ThreadIndex {
    /// Notifications of all recipients together; beyond it everything is forgotten, and counted again.
    static let bound = 200_000
    /// Notifications of one recipient that are counted.
    static let boundOfRecipient = 256

    private struct Member {
        let key: UInt64
        let thread: UInt64
    }

    /// What one recipient is shown. Most have one: it needs no memory of its own.
    private struct Members {
        var first: Member?
        var others: [Member] = []

        var count: Int { (first == nil ? 0 : 1) + others.count }

        /// - Returns: how many others are in the thread, and itself; 0 without a thread.
        mutating func note(_ key: UInt64, in thread: UInt64?, total: inout Int) -> Int {
            let before = count
            var (known, same) = (nil as Int?, 0)
            if let first, first.key == key { self.first = nil } else if first?.thread == thread { same = 1 }
            for place in others.indices {
                if others[place].key == key { known = place } else if others[place].thread == thread { same += 1 }
            }
            if let known { others.remove(at: known) }
            if let thread, count < ThreadIndex.boundOfRecipient {
                if first == nil {
                    first = Member(key: key, thread: thread)
                } else {
                    others.append(Member(key: key, thread: thread))
                }
            } else if first == nil {
                first = others.popLast()
            }
            total += count - before
            return thread == nil ? 0 : same + 1
        }
    }

    private var members: [UInt64: Members] = [:]
    private var count = 0

    /// Whether no recipient's notifications were counted.
    var isEmpty: Bool { members.isEmpty }

    mutating func begin(_ recipient: UInt64) {
        if count + members.count >= Self.bound { (members, count) = ([:], 0) }
        members[recipient] = Members()
    }

    /// Notes what a key shows; nil for nothing in a thread.
    ///
    /// - Returns: the notifications in the thread, with this one; nil when the recipient's were not counted.
    @discardableResult
    mutating func note(_ key: UInt64, in thread: UInt64?, of recipient: UInt64) -> Int? {
        guard let place = members.index(forKey: recipient) else { return nil }
        return members.values[place].note(key, in: thread, total: &count)
    }

    /// What stands for the recipient of a key.
    static func hash(ofRecipientOf key: NotificationKey) -> UInt64 {
        key.encoded[...key.recipientEnd].withUnsafeBytes { StableHash.hash($0) }
    }

    /// The recipient's notifications are counted again when they are asked for.
    mutating func forget(_ recipient: UInt64) { count -= members.removeValue(forKey: recipient)?.count ?? 0 }
}

extension PartitionCenter {
    /// Notes what the key of an event shows since, and counts the notifications of the thread for it.
    mutating func count(_ event: inout DeliveryEvent) throws {
        switch event.name {
        case .delivered: break
        case .removed, .failed: if threads.isEmpty { return }
        default: return
        }
        guard event.thread != nil || !threads.isEmpty else { return }
        let home = ThreadIndex.hash(ofRecipientOf: event.key)
        let key = event.key.encoded.withUnsafeBytes { StableHash.hash($0) }
        guard let thread = event.thread else {
            // What failed may not be what is shown.
            let isHidden = try event.name == .delivered || entry(of: event.key)?.delivered == nil
            if isHidden { threads.note(key, in: nil, of: home) }
            return
        }
        let hash = thread.identifier.withUnsafeBytes { StableHash.hash($0) }
        var known = threads.note(key, in: hash, of: home)
        if known == nil {
            try countThreads(ofRecipientOf: event.key, home)
            known = threads.note(key, in: hash, of: home)
        }
        let count = known ?? 1
        event.thread?.count = count
        event.thread?.isUpdate = thread.isUpdate || count > 1
    }

    /// Counts what the recipient is shown beside a key, in memory and in the store.
    private mutating func countThreads(ofRecipientOf key: NotificationKey, _ home: UInt64) throws {
        threads.begin(home)
        let own = inUse.slot(of: key)
        for slot in inUse.slots(ofRecipientOf: key) where slot != own {
            note(inUse.key(of: slot), shows: inUse.delivered(slot), home)
        }
        let recipient = key.ofRecipient
        var cursor = RecipientCursor()
        for stored in try store.entries(
            withPrefix: recipient.encoded,
            after: &cursor,
            limit: ThreadIndex.boundOfRecipient
        ) {
            let key = try NotificationKey(encoded: stored.key)
            guard !key.isWholeRecipient, inUse.slot(of: key) == nil else { continue }
            note(key, shows: try StateEntry(json: stored.value, zones: zones).delivered, home)
        }
    }

    private mutating func note(_ key: NotificationKey, shows delivered: StateEntry.Delivered?, _ home: UInt64) {
        guard let content = delivered?.details?.content, let thread = ContentFacts(content).thread else { return }
        let hash = thread.json(in: content).withUnsafeBytes { StableHash.hash($0) }
        threads.note(key.encoded.withUnsafeBytes { StableHash.hash($0) }, in: hash, of: home)
    }
}
