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

    /// What one recipient is shown.
    private struct Members {
        var all: [Member] = []

        mutating func note(_ key: UInt64, in thread: UInt64?, total: inout Int) -> Int {
            let before = all.count
            if let known = all.firstIndex(where: { $0.key == key }) { all.remove(at: known) }
            if let thread, all.count < ThreadIndex.boundOfRecipient { all.append(Member(key: key, thread: thread)) }
            total += all.count - before
            guard let thread else { return 0 }
            return max(1, all.reduce(0) { $0 + ($1.thread == thread ? 1 : 0) })
        }
    }

    private var members: [UInt64: Members] = [:]
    private var count = 0

    /// Whether no recipient's notifications were counted.
    var isEmpty: Bool { members.isEmpty }

    /// Whether the recipient's notifications were counted.
    func knows(_ recipient: UInt64) -> Bool { members[recipient] != nil }

    mutating func begin(_ recipient: UInt64) {
        if count + members.count >= Self.bound { (members, count) = ([:], 0) }
        members[recipient] = Members()
    }

    /// Notes what a key shows; nil for nothing in a thread.
    ///
    /// - Returns: the notifications in the thread, with this one.
    @discardableResult
    mutating func note(_ key: UInt64, in thread: UInt64?, of recipient: UInt64) -> Int {
        guard let place = members.index(forKey: recipient) else { return thread == nil ? 0 : 1 }
        return members.values[place].note(key, in: thread, total: &count)
    }

    /// What stands for the recipient of a key.
    static func hash(ofRecipientOf key: NotificationKey) -> UInt64 {
        key.encoded[...key.recipientEnd].withUnsafeBytes { StableHash.hash($0) }
    }

    /// The recipient's notifications are counted again when they are asked for.
    mutating func forget(_ recipient: UInt64) { count -= members.removeValue(forKey: recipient)?.all.count ?? 0 }
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
        if !threads.knows(home) { try countThreads(ofRecipientOf: event.key, home) }
        let count = threads.note(key, in: thread.identifier.withUnsafeBytes { StableHash.hash($0) }, of: home)
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
