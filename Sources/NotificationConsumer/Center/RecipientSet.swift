import NotificationModel

/// The recipients' records of one partition that are in use. They are changed rarely and have no timers: a change is in the next
/// cut, and what was not changed since its commit may leave memory.
struct RecipientSet {
    private struct Kept {
        var record: RecipientRecord
        var isDirty = false
        /// In a cut that is not committed yet.
        var isInCut = false
        /// The changelog has it, in some form.
        var isLogged: Bool
    }

    private var kept: [NotificationKey: Kept] = [:]
    private var dirty: [NotificationKey] = []
    private var inCut: [NotificationKey] = []

    /// How many are in the next cut.
    var dirtyCount: Int { dirty.count }
    var count: Int { kept.count }

    /// A record that is in use, under the key with an empty identifier.
    func record(of key: NotificationKey) -> RecipientRecord? { kept[key]?.record }

    /// Brings a record in that the store has.
    mutating func load(_ key: NotificationKey, _ record: RecipientRecord) {
        kept[key] = Kept(record: record, isLogged: true)
    }

    /// Replaces a record, or adds it.
    ///
    /// - Returns: by how much the number of records that hold something changes.
    mutating func set(_ record: RecipientRecord, of key: NotificationKey) -> Int {
        let before = kept[key].map { $0.record.isEmpty ? 0 : 1 } ?? 0
        kept[key, default: Kept(record: record, isLogged: false)].record = record
        if kept[key]?.isDirty == false {
            kept[key]?.isDirty = true
            dirty.append(key)
        }
        return (record.isEmpty ? 0 : 1) - before
    }

    /// Takes what changed; each record stays here until `settle`.
    mutating func cut(_ body: (NotificationKey, RecipientRecord) -> Void) {
        for key in dirty {
            guard let entry = kept[key] else { continue }
            kept[key]?.isDirty = false
            kept[key]?.isInCut = true
            inCut.append(key)
            // Born and gone since the last cut: the changelog never had it.
            if !entry.record.isEmpty || entry.isLogged { body(key, entry.record) }
            kept[key]?.isLogged = !entry.record.isEmpty
        }
        dirty.removeAll(keepingCapacity: true)
    }

    /// The cut is committed, and in the store.
    mutating func settle() {
        for key in inCut { kept[key]?.isInCut = false }
        inCut = []
    }

    /// Drops what is in the store as it is, if more than so many are here.
    mutating func evict(beyond maximum: Int) {
        guard kept.count > maximum else { return }
        kept = kept.filter { $0.value.isDirty || $0.value.isInCut }
    }
}
