import Dispatch
import Logging
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
    func giveBack(_ store: any EntryStore, of partition: Int32)

    /// Ends the use of all that was given back; blocking. What is on disk is whole then.
    func closeAll()
}

extension EntryStores {
    package func take(_ partitions: [Int32]) throws -> [Int32: any EntryStore] {
        var taken: [Int32: any EntryStore] = [:]
        do {
            for partition in partitions { taken[partition] = try take(partition) }
        } catch {
            for (partition, store) in taken { giveBack(store, of: partition) }
            throw error
        }
        return taken
    }
}

/// A store that nobody uses; whoever takes it out has it alone.
private struct Parked: @unchecked Sendable {
    let store: any EntryStore
}

/// Stores in memory: they live as long as the process.
package final class MemoryEntryStores: EntryStores {
    private let parked = Mutex<[Int32: Parked]>([:])

    package init() {}

    package func take(_ partition: Int32) throws -> any EntryStore {
        parked.withLock { $0.removeValue(forKey: partition) }?.store ?? MemoryEntryStore()
    }

    package func giveBack(_ store: any EntryStore, of partition: Int32) {
        let back = Parked(store: store)
        parked.withLock { $0[partition] = back }
    }

    package func closeAll() {
        parked.withLock { $0 = [:] }
    }
}

/// Stores on disk, a file a partition; they stay open while the process may get the partition again.
final class DiskEntryStores: EntryStores {
    private let parked = Mutex<[Int32: Parked]>([:])
    private let directory: String
    private let topic: String
    private let cluster: String
    private let limits: SQLiteEntryStore.Limits
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger

    init(
        directory: String,
        topic: String,
        cluster: String,
        limits: SQLiteEntryStore.Limits,
        clock: @escaping @Sendable () -> Timestamp,
        logger: Logger
    ) {
        self.directory = directory
        self.topic = topic
        self.cluster = cluster
        self.limits = limits
        self.clock = clock
        self.logger = logger
    }

    func take(_ partition: Int32) throws -> any EntryStore {
        if let found = parked.withLock({ $0.removeValue(forKey: partition) }) { return found.store }
        let (store, discarded) = try SQLiteEntryStore.open(
            directory: directory,
            topic: topic,
            partition: partition,
            cluster: cluster,
            limits: limits,
            now: clock()
        )
        if let discarded {
            logger.notice(
                "a file of the store was not kept; the changelog is read from its beginning",
                metadata: ["partition": "\(partition)", "reason": "\(discarded)"]
            )
        }
        return store
    }

    /// Several at a time: to open a file is to go through its keys, and a lane has many.
    func take(_ partitions: [Int32]) throws -> [Int32: any EntryStore] {
        let results = Mutex<[Int32: Result<Parked, any Error>]>([:])
        DispatchQueue.concurrentPerform(iterations: partitions.count) { index in
            let result = Result { Parked(store: try take(partitions[index])) }
            results.withLock { $0[partitions[index]] = result }
        }
        let all = results.withLock(\.self)
        do {
            return try all.mapValues { try $0.get().store }
        } catch {
            for (partition, result) in all {
                if case .success(let taken) = result { giveBack(taken.store, of: partition) }
            }
            throw error
        }
    }

    func giveBack(_ store: any EntryStore, of partition: Int32) {
        let back = Parked(store: store)
        parked.withLock { $0[partition] = back }
    }

    func closeAll() {
        let all = parked.withLock { parked in
            defer { parked = [:] }
            return parked
        }
        for (_, parked) in all.sorted(by: { $0.key < $1.key }) { parked.store.close(flushing: true) }
    }
}
