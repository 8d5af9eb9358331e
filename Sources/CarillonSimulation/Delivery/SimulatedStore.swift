import NotificationConsumer
import NotificationModel
import NotificationState

/// An `EntryStore` on a `SimulatedDisk`: writes reach the disk later, atomically and in order; a process that ends loses those
/// that have not.
final class SimulatedStore: EntryStore {
    private struct Batch {
        var changes: [StoreChange]
        var position: StorePosition
    }

    private let disk: SimulatedDisk
    private let partition: Int32
    private let timeline: Timeline
    private let process: SimulatedProcess
    /// The contents for readers: those of the disk with all writes.
    private var seen: SimulatedDisk.Contents
    private var batches: [Batch] = []
    private(set) var isClosed = false
    private var random: SeededGenerator
    private let writesPositionFirst: Bool

    /// - Parameter writesPositionFirst: A planted bug.
    init(
        disk: SimulatedDisk,
        partition: Int32,
        timeline: Timeline,
        process: SimulatedProcess,
        random: SeededGenerator,
        writesPositionFirst: Bool = false
    ) {
        self.writesPositionFirst = writesPositionFirst
        (self.disk, self.partition, self.timeline, self.process) = (disk, partition, timeline, process)
        self.random = random
        seen = disk.contents[partition] ?? .init()
    }

    var position: StorePosition? { seen.position }

    var counts: StoreCounts {
        StoreCounts(
            entries: seen.entries.count,
            pending: seen.entries.values.count { $0.due != nil },
            lasting: seen.entries.values.count { $0.due == nil && $0.touched == .latest },
            open: seen.entries.values.reduce(into: OpenCounts()) { $0.add($1.open) }
        )
    }

    var unwritten: Int { batches.reduce(0) { $0 + $1.changes.count } }

    func entry(of key: [UInt8]) -> StoredEntry? {
        seen.entries[key].map { StoredEntry(key: key, value: $0.value) }
    }

    func entries(withPrefix prefix: [UInt8], after cursor: inout RecipientCursor, limit: Int) -> [StoredEntry] {
        let start = cursor.place
        let found = seen.entries.filter { $0.key.starts(with: prefix) && $0.value.number > start }
            .sorted { $0.value.number < $1.value.number }
            .prefix(limit)
        if let last = found.last { cursor.place = last.value.number }
        return found.map { StoredEntry(key: $0.key, value: $0.value.value) }
    }

    func due(after cursor: inout DueCursor, through: Timestamp, limit: Int) -> [StoredEntry] {
        let start = cursor
        let found = seen.entries.compactMap { key, entry -> (DueCursor, StoredEntry)? in
            guard let due = entry.due, due <= through else { return nil }
            guard (due, entry.number) > (start.due, start.tiebreak) else { return nil }
            return (DueCursor(due: due, tiebreak: entry.number), StoredEntry(key: key, value: entry.value))
        }
        let first = found.sorted { ($0.0.due, $0.0.tiebreak) < ($1.0.due, $1.0.tiebreak) }.prefix(limit)
        if let last = first.last { cursor = last.0 }
        return first.map(\.1)
    }

    func idle(limit: Int) -> [IdleEntry] {
        seen.entries.filter { $0.value.due == nil }
            .sorted { ($0.value.touched, $0.value.number) < ($1.value.touched, $1.value.number) }
            .prefix(limit)
            .map { IdleEntry(key: $0.key, touched: $0.value.touched) }
    }

    func write(_ changes: [StoreChange], position: StorePosition) {
        guard !isClosed, !process.isDead else { return }
        let batch = Batch(changes: changes, position: position)
        apply(batch, to: &seen)
        if writesPositionFirst { disk.contents[partition, default: .init()].position = position }
        batches.append(batch)
        guard batches.count == 1 else { return }
        timeline.add(after: random.number(1_000...400_000)) { [weak self] in self?.writeBehind() }
    }

    private func writeBehind() {
        guard !process.isDead, !isClosed else { return }
        flush()
    }

    func flush() {
        guard !process.isDead, !isClosed else { return }
        var contents = disk.contents[partition] ?? .init()
        for batch in batches { apply(batch, to: &contents) }
        disk.contents[partition] = contents
        batches = []
    }

    func discard() {
        guard !isClosed, !process.isDead else { return }
        (seen, batches) = (.init(), [])
        disk.contents[partition] = nil
    }

    func close(flushing: Bool, by deadline: ContinuousClock.Instant?) {
        if flushing, !isClosed { flush() }
        isClosed = true
        batches = []
    }

    private func apply(_ batch: Batch, to contents: inout SimulatedDisk.Contents) {
        for change in batch.changes.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            guard let value = change.value else {
                contents.entries[change.key] = nil
                continue
            }
            let number = contents.entries[change.key]?.number ?? next()
            contents.entries[change.key] = .init(
                value: value,
                due: change.due,
                touched: change.touched,
                open: change.open,
                number: number
            )
        }
        contents.position = batch.position
    }

    private func next() -> Int64 {
        disk.nextNumber += 1
        return disk.nextNumber
    }
}

/// The stores of one process, on its machine's disk. Only the simulation's thread uses it, although the protocol requires
/// `Sendable`.
final class SimulatedStores: EntryStores, @unchecked Sendable {
    private let disk: SimulatedDisk
    private let timeline: Timeline
    private let process: SimulatedProcess
    private var random: SeededGenerator
    private var parked: [Int32: any EntryStore] = [:]
    private let bugs: Set<PlantedBug>

    init(
        disk: SimulatedDisk,
        timeline: Timeline,
        process: SimulatedProcess,
        random: SeededGenerator,
        bugs: Set<PlantedBug>
    ) {
        self.bugs = bugs
        (self.disk, self.timeline, self.process, self.random) = (disk, timeline, process, random)
    }

    func take(_ partition: Int32) -> any EntryStore {
        if let store = parked.removeValue(forKey: partition) { return store }
        let store = SimulatedStore(
            disk: disk,
            partition: partition,
            timeline: timeline,
            process: process,
            random: random.split(),
            writesPositionFirst: bugs.contains(.storePositionFirst)
        )
        let faulty: [PlantedBug] = [.storeIsStale, .storeForgets, .storeMissesDue]
        guard let bug = faulty.first(where: bugs.contains) else { return store }
        return FaultyStore(store, bug, random: random.split())
    }

    func giveBack(_ store: any EntryStore, of partition: Int32, at _: ContinuousClock.Instant) {
        parked[partition] = store
    }

    func closeAll() {
        for partition in parked.keys.sorted() { parked[partition]?.close(flushing: true) }
        parked = [:]
    }
}
