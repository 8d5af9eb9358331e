import NotificationModel
import NotificationState

/// The entries of a recipient, each once: those in memory when the walk begins, in the order of their keys, and then those that
/// only the store has.
struct EntryWalk {
    /// Entries of the store that are read at a time.
    private static let page = 100

    private struct Found {
        let key: NotificationKey
        /// As the store has it; nil when it is in memory, or was read for an earlier piece.
        var stored: StateEntry?
    }

    private let prefix: [UInt8]
    private var found: ArraySlice<Found>
    private var seen: Set<NotificationKey>
    private var cursor = RecipientCursor()
    private var isStoreRead = false

    /// - Parameter resident: the keys in memory.
    fileprivate init(_ recipient: NotificationKey, _ resident: [NotificationKey]) {
        prefix = recipient.encoded
        // The order of events must not depend on how the entries were created.
        let sorted = resident.sorted { $0.encoded.lexicographicallyPrecedes($1.encoded) }
        found = sorted.map { Found(key: $0) }[...]
        seen = Set(sorted)
    }

    /// The next entry; nil after the last.
    ///
    /// - Parameters:
    ///   - needles: only entries of the store are read whose JSON contains one of these; nil for all.
    ///   - looked: is increased by the entries that were looked at.
    fileprivate mutating func next(
        in store: any EntryStore,
        _ zones: TimeZoneDatabase?,
        containing needles: [[UInt8]]?,
        looked: inout Int
    ) throws -> (key: NotificationKey, stored: StateEntry?)? {
        if found.isEmpty, !isStoreRead { try readPage(store, zones, needles, &looked) }
        guard let first = found.popFirst() else { return nil }
        looked += 1
        return (first.key, first.stored)
    }

    private mutating func readPage(
        _ store: any EntryStore,
        _ zones: TimeZoneDatabase?,
        _ needles: [[UInt8]]?,
        _ looked: inout Int
    ) throws {
        let page = try store.entries(withPrefix: prefix, after: &cursor, limit: Self.page)
        isStoreRead = page.count < Self.page
        for stored in page {
            let key = try NotificationKey(encoded: stored.key)
            guard !key.isWholeRecipient, seen.insert(key).inserted else { continue }
            guard needles?.contains(where: stored.value.contains) ?? true else {
                looked += 1
                continue
            }
            found.append(Found(key: key, stored: try StateEntry(json: stored.value, zones: zones)))
        }
    }

    /// Whether nothing is left.
    var isOver: Bool { found.isEmpty && isStoreRead }

    /// What was read of the store may be older than what it has when the next piece begins.
    fileprivate mutating func endPiece() {
        for place in found.indices { found[place].stored = nil }
    }
}

extension PartitionCenter {
    /// - Parameter recipient: a key with an empty identifier.
    func walk(of recipient: NotificationKey) -> EntryWalk {
        EntryWalk(recipient, inUse.slots(ofRecipientOf: recipient).map { inUse.key(of: $0) })
    }

    /// Visits the next entries of a recipient, within the bounds of a piece.
    ///
    /// - Parameters:
    ///   - needles: of the entries in the store, only those whose JSON contains one of these; nil for all.
    ///   - isWanted: whether an entry is visited.
    ///   - visit: is called with the key of an entry that is in memory then.
    mutating func visit(
        _ walk: inout EntryWalk,
        containing needles: [[UInt8]]? = nil,
        at now: Timestamp,
        where isWanted: (StateEntry) -> Bool,
        _ visit: (inout PartitionCenter, NotificationKey) throws -> Void
    ) throws {
        let start = inUse.unlogged.charge
        var looked = 0
        defer { walk.endPiece() }
        while looked < limits.entriesPerPiece, inUse.unlogged.charge - start < Procedure.bytesPerPiece, !walk.isOver {
            guard let (key, stored) = try walk.next(in: store, zones, containing: needles, looked: &looked) else {
                continue
            }
            if let slot = inUse.slot(of: key) {
                guard isWanted(inUse.entry(of: slot)) else { continue }
            } else if let stored {
                guard !forgottenKeys.contains(key.encoded), isWanted(stored) else { continue }
                try bringIn(key, stored, at: now)
            } else {
                guard let slot = try slot(of: key, at: now), isWanted(inUse.entry(of: slot)) else { continue }
            }
            try visit(&self, key)
        }
        // What the pieces before brought in is committed, or soon will be.
        for _ in 0..<8 { inUse.evict(beyond: limits.maximumResident + inUse.armed) }
    }
}

extension [UInt8] {
    fileprivate func contains(_ needle: [UInt8]) -> Bool {
        guard let first = needle.first, needle.count <= count else { return needle.isEmpty }
        return withUnsafeBufferPointer { bytes in
            var start = 0
            while start <= bytes.count - needle.count {
                if bytes[start] == first, needle.indices.allSatisfy({ bytes[start + $0] == needle[$0] }) { return true }
                start += 1
            }
            return false
        }
    }
}
