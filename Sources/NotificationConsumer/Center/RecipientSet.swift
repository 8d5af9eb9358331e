import NotificationModel

/// The recipient records of one partition that are in memory. They change rarely and have no timers: the next cut takes
/// every change, and a record without changes since its commit may be evicted.
struct RecipientSet {
    private struct Kept {
        var record: RecipientRecord
        var isDirty = false
        /// The changelog contains it, perhaps as it was before.
        var isLogged: Bool
    }

    private var kept: [NotificationKey: Kept] = [:]
    private var dirty: [NotificationKey] = []
    /// In a cut that is not committed yet.
    private var inCut: Set<NotificationKey> = []

    /// The number of records in the next cut, and what they add to it, in bytes: an estimate.
    var dirtyCount: Int { dirty.count }
    private(set) var dirtyBytes = 0
    var count: Int { kept.count }

    /// A record in memory, by the key with an empty identifier.
    func record(of key: NotificationKey) -> RecipientRecord? { kept[key]?.record }

    /// Adds a record that was loaded from the store; nil when the store has none.
    mutating func load(_ key: NotificationKey, _ record: RecipientRecord?) {
        kept[key] = Kept(record: record ?? RecipientRecord(), isLogged: record != nil)
    }

    /// Replaces or adds a record.
    ///
    /// - Returns: the change in the number of non-empty records.
    mutating func set(_ record: RecipientRecord, of key: NotificationKey) -> Int {
        let before = kept[key].map { $0.record.isEmpty ? 0 : 1 } ?? 0
        kept[key, default: Kept(record: record, isLogged: false)].record = record
        if kept[key]?.isDirty == false {
            kept[key]?.isDirty = true
            dirty.append(key)
            dirtyBytes += record.bytes
        }
        return (record.isEmpty ? 0 : 1) - before
    }

    /// Passes the changed records to `body`; each stays in memory until `noteCommitted`.
    mutating func cut(_ body: (NotificationKey, RecipientRecord) -> Void) {
        for key in dirty {
            guard let entry = kept[key] else { continue }
            kept[key]?.isDirty = false
            inCut.insert(key)
            // Created and removed since the last cut: the changelog never had it.
            if !entry.record.isEmpty || entry.isLogged { body(key, entry.record) }
            kept[key]?.isLogged = !entry.record.isEmpty
        }
        dirty.removeAll(keepingCapacity: true)
        dirtyBytes = 0
    }

    /// The cut is committed and written to the store.
    mutating func noteCommitted() {
        inCut = []
    }

    /// Drops unchanged records when there are more than `maximum`; the store has them.
    mutating func evict(beyond maximum: Int) {
        guard count > maximum else { return }
        kept = kept.filter { $0.value.isDirty || inCut.contains($0.key) }
    }
}
