/// Records that librdkafka holds and has not reported: the caller's tag and the position in the order of publication.
///
/// librdkafka reports purged records in its own order; the sequence number restores the order of publication. The
/// storage never exceeds the peak of outstanding records, and allocates only to grow.
struct OutstandingRecords {
    struct Entry: Sendable {
        var tag: UInt
        var sequence: UInt64
    }

    private var entries: [Entry?] = []
    private var free: [Int] = []
    private var nextSequence: UInt64 = 0

    var count: Int { entries.count - free.count }

    /// - Parameter sequence: nil for a new record, the first number for a record that is published again.
    /// - Returns: the slot, which librdkafka carries as the record's opaque.
    mutating func insert(tag: UInt, sequence: UInt64? = nil) -> UInt {
        let entry = Entry(tag: tag, sequence: sequence ?? nextSequence)
        if sequence == nil { nextSequence += 1 }
        guard let slot = free.popLast() else {
            entries.append(entry)
            return UInt(entries.count - 1)
        }
        entries[slot] = entry
        return UInt(slot)
    }

    /// nil for a slot that is not in use.
    mutating func remove(_ slot: UInt) -> Entry? {
        guard slot < entries.count, let entry = entries[Int(slot)] else { return nil }
        entries[Int(slot)] = nil
        free.append(Int(slot))
        return entry
    }

    /// Everything, oldest first.
    mutating func removeAll() -> [Entry] {
        defer { (entries, free) = ([], []) }
        return entries.compactMap { $0 }.sorted { $0.sequence < $1.sequence }
    }
}
