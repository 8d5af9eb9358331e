import Dispatch
import NotificationModel
import Synchronization

/// Where the lanes of one process get the stores of their partitions, and leave them when partitions go: an eager rebalance
/// takes every partition only to give most of them back.
package protocol EntryStores: AnyObject, Sendable {
    /// The store of a partition, with what it held when it was last given back or closed; used by one lane at a time.
    ///
    /// - Throws: what makes it unusable, with the setting to change.
    func take(_ partition: Int32) throws -> any EntryStore

    /// Those of many partitions; blocking. When one cannot be had, none is.
    func take(_ partitions: [Int32]) throws -> [Int32: any EntryStore]

    /// Takes a store back that stands for everything committed.
    func giveBack(_ store: any EntryStore, of partition: Int32, at now: ContinuousClock.Instant)

    /// Lets go of what was given back long ago, or is too much; called now and then.
    func tend(at now: ContinuousClock.Instant)

    /// Ends the use of all that was given back; blocking. What is on disk is whole then.
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

/// Stores in memory: they live as long as the process has their partitions, and a while longer.
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

/// Stores on disk, a file a partition.
final class DiskEntryStores: EntryStores {
    private let disk: StoreDisk
    private let parked: ParkedStores

    init(_ disk: StoreDisk, parked: ParkedStores = ParkedStores()) {
        (self.disk, self.parked) = (disk, parked)
    }

    func take(_ partition: Int32) throws -> any EntryStore {
        try parked.take(partition) ?? DiskEntryStore(disk, partition)
    }

    /// A store that another thread has opened.
    private struct Taken: @unchecked Sendable {
        let store: any EntryStore
    }

    /// Several at a time: to open a file is to go through its keys, and a lane has many.
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
