import Dispatch
import NotificationModel
import Synchronization

/// Provides the lanes of one process with the stores of their partitions, and takes them back when partitions are
/// revoked: an eager rebalance revokes every partition and reassigns most of them.
package protocol EntryStores: AnyObject, Sendable {
    /// The store of a partition, with the contents it had when it was last given back or closed. One lane uses it at a
    /// time.
    ///
    /// - Throws: why it cannot be used, with the setting to change.
    func take(_ partition: Int32) throws -> any EntryStore

    /// The stores of several partitions; blocking. All or none are taken.
    func take(_ partitions: [Int32]) throws -> [Int32: any EntryStore]

    /// Takes back a store that contains everything committed.
    func giveBack(_ store: any EntryStore, of partition: Int32, at now: ContinuousClock.Instant)

    /// Releases stores that were given back long ago or use too much memory; called periodically.
    func tend(at now: ContinuousClock.Instant)

    /// Closes all stores that were given back, leaving complete files on disk; blocking.
    func closeAll()
}

extension EntryStores {
    package func take(_ partitions: [Int32]) throws -> [Int32: any EntryStore] {
        var taken: [Int32: any EntryStore] = [:]
        do {
            for partition in partitions { taken[partition] = try take(partition) }
        } catch {
            for (_, store) in taken { store.close(flushing: true) }
            throw error
        }
        return taken
    }

    package func tend(at now: ContinuousClock.Instant) {}
}

/// Stores in memory: kept while the process owns their partitions, and some time longer.
package final class MemoryEntryStores: EntryStores {
    private let parked: ParkedStores

    package convenience init() { self.init(parked: ParkedStores()) }

    init(parked: ParkedStores) { self.parked = parked }

    package func take(_ partition: Int32) throws -> any EntryStore { parked.take(partition) ?? MemoryEntryStore() }

    package func giveBack(_ store: any EntryStore, of partition: Int32, at now: ContinuousClock.Instant) {
        parked.park(store, of: partition, at: now)
    }

    package func tend(at now: ContinuousClock.Instant) { parked.tend(at: now) }

    package func closeAll() { parked.closeAll() }
}

/// Stores on disk, one file per partition.
final class DiskEntryStores: EntryStores {
    private let disk: StoreDisk
    private let parked: ParkedStores

    init(_ disk: StoreDisk, parked: ParkedStores = ParkedStores()) {
        (self.disk, self.parked) = (disk, parked)
    }

    func take(_ partition: Int32) throws -> any EntryStore {
        try parked.take(partition) ?? DiskEntryStore(disk, partition)
    }

    /// A store opened by another thread.
    private struct Taken: @unchecked Sendable {
        let store: any EntryStore
    }

    /// Opens several files in parallel: opening a file scans its keys, and a lane has many files.
    func take(_ partitions: [Int32]) throws -> [Int32: any EntryStore] {
        let results = Mutex<[Int32: Result<Taken, any Error>]>([:])
        DispatchQueue.concurrentPerform(iterations: partitions.count) { index in
            let result = Result { Taken(store: try take(partitions[index])) }
            results.withLock { $0[partitions[index]] = result }
        }
        let all = results.withLock(\.self)
        do {
            return try all.mapValues { try $0.get().store }
        } catch {
            for (_, result) in all { try? result.get().store.close(flushing: true) }
            throw error
        }
    }

    func giveBack(_ store: any EntryStore, of partition: Int32, at now: ContinuousClock.Instant) {
        parked.park(store, of: partition, at: now)
    }

    func tend(at now: ContinuousClock.Instant) { parked.tend(at: now) }

    func closeAll() { parked.closeAll() }
}
