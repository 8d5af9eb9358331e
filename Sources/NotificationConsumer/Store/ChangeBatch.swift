import NotificationModel

/// Changes that are accepted but not written yet: the last change of each key, found by key and by recipient.
struct ChangeBatch {
    struct Item {
        let hash: KeyHash
        var change: StoreChange
        /// Whether the key certainly did not exist before the batch.
        let isNew: Bool
        /// The previous item with the same key hash; -1 ends the chain.
        let previousOfKey: Int32
        /// The previous item with the same recipient hash.
        let previousOfRecipient: Int32
    }

    private(set) var items: [Item] = []
    private var lastOfKey: [Int64: Int32] = [:]
    private var lastOfRecipient: [Int64: Int32] = [:]
    /// The earliest due time in the batch.
    private(set) var earliestDue = Timestamp(rawValue: .max)
    /// The position of the store with these changes; nil when the batch is empty.
    var position: StorePosition?

    var isEmpty: Bool { position == nil }
    var count: Int { items.count }

    private func place(of key: [UInt8], _ hash: KeyHash) -> Int? {
        var next = lastOfKey[hash.key] ?? -1
        while next >= 0 {
            let item = items[Int(next)]
            if item.hash == hash, item.change.key == key { return Int(next) }
            next = item.previousOfKey
        }
        return nil
    }

    /// The change of a key; nil when it is not in the batch.
    func change(of key: [UInt8], _ hash: KeyHash) -> StoreChange? {
        place(of: key, hash).map { items[$0].change }
    }

    /// The changes of a recipient's keys.
    func changes(ofRecipient recipient: Int64) -> [StoreChange] {
        var found: [StoreChange] = []
        var next = lastOfRecipient[recipient] ?? -1
        while next >= 0 {
            found.append(items[Int(next)].change)
            next = items[Int(next)].previousOfRecipient
        }
        return found
    }

    /// Adds a change; it replaces an earlier change of the key.
    mutating func put(_ change: StoreChange, _ hash: KeyHash, isNew: Bool) {
        if let due = change.due, due < earliestDue { earliestDue = due }
        if let place = place(of: change.key, hash) {
            items[place].change = change
            return
        }
        let place = Int32(items.count)
        items.append(
            Item(
                hash: hash,
                change: change,
                isNew: isNew,
                previousOfKey: lastOfKey.updateValue(place, forKey: hash.key) ?? -1,
                previousOfRecipient: lastOfRecipient.updateValue(place, forKey: hash.recipient) ?? -1
            )
        )
    }
}
