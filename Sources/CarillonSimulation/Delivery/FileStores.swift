import Foundation
import NotificationConsumer
import NotificationModel

/// The production store in files. Its thread writes only while a flush waits for it, so that the contents of the disk when a
/// process ends do not depend on real time. Only the simulation's thread uses it, although the protocol requires `Sendable`.
final class FileStores: EntryStores, @unchecked Sendable {
    private let disk: SimulatedDisk
    private let process: SimulatedProcess
    private let timeline: Timeline
    private var random: SeededGenerator
    private var parked: [Int32: any EntryStore] = [:]
    private var limits = SQLiteEntryStore.Limits()

    init(_ disk: SimulatedDisk, process: SimulatedProcess, timeline: Timeline, random: SeededGenerator) {
        (self.disk, self.process, self.timeline, self.random) = (disk, process, timeline, random)
        // The thread writes only when it is asked to flush.
        (limits.batchSize, limits.batchAge) = (.max / 2, .seconds(1_000_000))
    }

    func take(_ partition: Int32) throws -> any EntryStore {
        if let store = parked.removeValue(forKey: partition) { return store }
        return FileStore(try open(partition), process: process, timeline: timeline, random: random.split())
    }

    /// The writer thread of a process that has just ended may still have the file open. Waits in real time, because that is
    /// no simulated event.
    private func open(_ partition: Int32) throws -> SQLiteEntryStore {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            do {
                return try SQLiteEntryStore.open(
                    directory: disk.directory ?? "",
                    topic: "requests",
                    partition: partition,
                    cluster: "simulated",
                    limits: limits,
                    now: process.clock.wall
                ).store
            } catch EntryStoreError.inUse(let reason) {
                guard ContinuousClock.now < deadline else { throw EntryStoreError.inUse(reason) }
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
    }

    func giveBack(_ store: any EntryStore, of partition: Int32, at _: ContinuousClock.Instant) {
        parked[partition] = store
    }

    func closeAll() {
        for partition in parked.keys.sorted() { parked[partition]?.close(flushing: true) }
        parked = [:]
    }
}

/// A store in a file: when its process ends, the file stays as it is.
private final class FileStore: EntryStore {
    /// nil after the process has ended.
    private var store: SQLiteEntryStore?
    private let timeline: Timeline
    private var random: SeededGenerator
    private var isWriting = false

    init(_ store: SQLiteEntryStore, process: SimulatedProcess, timeline: Timeline, random: SeededGenerator) {
        (self.store, self.timeline, self.random) = (store, timeline, random)
        // A store without references writes nothing more.
        process.observe(pause: {}, death: { [weak self] in self?.store = nil })
    }

    var position: StorePosition? { store?.position }
    var counts: StoreCounts { store?.counts ?? StoreCounts() }
    var unwritten: Int { store?.unwritten ?? 0 }
    var trouble: String? { store?.trouble }

    func entry(of key: [UInt8]) throws -> StoredEntry? { try store?.entry(of: key) }

    func entries(withPrefix prefix: [UInt8], after cursor: inout RecipientCursor, limit: Int) throws -> [StoredEntry] {
        try store?.entries(withPrefix: prefix, after: &cursor, limit: limit) ?? []
    }

    func due(after cursor: inout DueCursor, through: Timestamp, limit: Int) throws -> [StoredEntry] {
        try store?.due(after: &cursor, through: through, limit: limit) ?? []
    }

    func idle(limit: Int) throws -> [IdleEntry] { try store?.idle(limit: limit) ?? [] }

    func write(_ changes: [StoreChange], position: StorePosition) throws {
        try store?.write(changes, position: position)
        guard !isWriting else { return }
        isWriting = true
        timeline.add(after: random.number(1_000...400_000)) { [weak self] in
            self?.isWriting = false
            try? self?.store?.flush()
        }
    }

    func flush() throws { try store?.flush() }
    func discard() throws { try store?.discard() }
    func close(flushing: Bool, by deadline: ContinuousClock.Instant?) {
        store?.close(flushing: flushing, by: deadline)
    }
}
