import NotificationModel
import NotificationState

/// Reading for queries: changes nothing, and loads nothing into memory for later.
extension PartitionCenter {
    /// The notification under one key; nil when it has none in the sets that are asked for.
    func notification(for query: NotificationQuery) throws -> ListedNotification? {
        let clock = try clock(of: query)
        return try entry(of: query.key).flatMap { query.list(query.key, $0, clock) }
    }

    /// The devices of a recipient, or the one that the key names.
    func devices(for query: NotificationQuery, at now: Timestamp) throws -> [ListedDevice] {
        let name = query.key.identifier
        return (try record(for: query)?.registrations ?? []).filter { name.isEmpty || $0.name.hasSameUTF8(as: name) }
            .map {
                ListedDevice($0, isInForeground: $0.isInForeground(at: now, kept: rules.foregroundKept))
            }
    }

    private func record(for query: NotificationQuery) throws -> RecipientRecord? {
        let key = query.key.ofRecipient
        return try recipients.record(of: key)
            ?? store.entry(of: key.encoded).map { try RecipientRecord(json: $0.value) }
    }

    private func clock(of query: NotificationQuery) throws -> ListedNotification.Clock? {
        try rules.zones.map { .init($0, local: try record(for: query)?.timeZone) }
    }

    /// Some of what a recipient has, in the order of the hashes of keys.
    func page(for query: NotificationQuery) throws -> NotificationQuery.Page {
        var page = NotificationQuery.Page()
        let (candidates, end) = try candidates(for: query)
        let clock = try clock(of: query)
        var (last, bytes) = (Int64.min, 0)
        for candidate in candidates {
            // Equal hashes stay together: a page cannot begin between them.
            let isFull = page.notifications.count >= query.limit || bytes >= NotificationQuery.Bound.contentBytes
            if isFull, candidate.place != last {
                page.next = last
                return page
            }
            last = candidate.place
            let entry = try candidate.stored.map { try StateEntry(json: $0, zones: zones) } ?? entry(of: candidate.key)
            guard let listed = entry.flatMap({ query.list(candidate.key, $0, clock) }) else { continue }
            bytes += listed.contentBytes
            page.notifications.append(listed)
        }
        page.next = end
        return page
    }

    /// A key whose entry may be in the page.
    private struct Candidate {
        /// The hash of the key.
        let place: Int64
        let key: NotificationKey
        /// The entry, if it is not in memory.
        let stored: [UInt8]?
    }

    /// The keys after the position of the query, in order, and the position up to which they are complete; nil for all.
    private func candidates(for query: NotificationQuery) throws -> (candidates: [Candidate], end: Int64?) {
        let start = query.after ?? .min
        var cursor = RecipientCursor()
        cursor.place = start
        let bound = max(query.limit, NotificationQuery.Bound.leastStored)
        let stored = try store.entries(withPrefix: query.key.encoded, after: &cursor, limit: bound)
        let end = stored.count < bound ? nil : cursor.place
        var candidates: [Candidate] = []
        for entry in stored {
            let key = try NotificationKey(encoded: entry.key)
            // The recipient's own record is no notification, and what is in memory is newer.
            guard !key.isWholeRecipient, inUse.slot(of: key) == nil else { continue }
            candidates.append(Candidate(place: KeyHash(of: entry.key).key, key: key, stored: entry.value))
        }
        for slot in inUse.slots(ofRecipientOf: query.key) {
            let key = inUse.key(of: slot)
            let place = KeyHash(of: key.encoded).key
            guard place > start, place <= end ?? .max else { continue }
            candidates.append(Candidate(place: place, key: key, stored: nil))
        }
        candidates.sort { one, other in
            guard one.place == other.place else { return one.place < other.place }
            return one.key.encoded.lexicographicallyPrecedes(other.key.encoded)
        }
        return (candidates, end)
    }
}

extension NotificationQuery {
    fileprivate func list(
        _ key: NotificationKey,
        _ entry: StateEntry,
        _ clock: ListedNotification.Clock?
    ) -> ListedNotification? {
        ListedNotification(key: key, entry: entry, states: states, occurrences: occurrences, clock: clock)
    }
}
