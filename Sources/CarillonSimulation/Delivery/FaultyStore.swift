import NotificationConsumer
import NotificationModel
import NotificationState

/// Adds a planted bug to another store.
final class FaultyStore: EntryStore {
    private let store: any EntryStore
    private let bug: PlantedBug
    private var random: SeededGenerator
    /// By key: the entry before its last change.
    private var stale: [[UInt8]: StoredEntry] = [:]

    init(_ store: any EntryStore, _ bug: PlantedBug, random: SeededGenerator) {
        (self.store, self.bug, self.random) = (store, bug, random)
    }

    var position: StorePosition? { store.position }
    var counts: StoreCounts { store.counts }
    var unwritten: Int { store.unwritten }
    var trouble: String? { store.trouble }

    func entry(of key: [UInt8]) throws -> StoredEntry? {
        if bug == .storeIsStale, let old = stale[key] { return old }
        return try store.entry(of: key).flatMap { entry in
            bug == .storeForgets && isIdle(entry) && random.chance(500) ? nil : entry
        }
    }

    func entries(withPrefix prefix: [UInt8], after cursor: inout RecipientCursor, limit: Int) throws -> [StoredEntry] {
        try store.entries(withPrefix: prefix, after: &cursor, limit: limit)
    }

    func due(after cursor: inout DueCursor, through: Timestamp, limit: Int) throws -> [StoredEntry] {
        var found = try store.due(after: &cursor, through: through, limit: limit)
        if bug == .storeMissesDue, !found.isEmpty, random.chance(300) { found.removeLast() }
        return found
    }

    func idle(limit: Int) throws -> [IdleEntry] { try store.idle(limit: limit) }

    func write(_ changes: [StoreChange], position: StorePosition) throws {
        if bug == .storeIsStale {
            for change in changes { stale[change.key] = try store.entry(of: change.key) }
        }
        try store.write(changes, position: position)
    }

    func beginFlush() { store.beginFlush() }
    func flush() throws { try store.flush() }

    func discard() throws {
        stale = [:]
        try store.discard()
    }

    func close(flushing: Bool, by deadline: ContinuousClock.Instant?) {
        store.close(flushing: flushing, by: deadline)
    }

    private func isIdle(_ entry: StoredEntry) -> Bool {
        (try? StateEntry(json: entry.value, zones: nil))?.isIdle == true
    }
}
