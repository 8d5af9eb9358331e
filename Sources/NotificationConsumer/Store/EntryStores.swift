import Synchronization

/// Where the lanes of one process get the stores of their partitions, and leave them when partitions go: an eager rebalance
/// takes every partition only to give most of them back.
package protocol EntryStores: AnyObject, Sendable {
    /// The store of a partition, with what it held when it was last given back or closed; used by one lane at a time.
    ///
    /// - Throws: what makes it unusable, with the setting to change.
    func take(_ partition: Int32) throws -> any EntryStore

    /// Takes a store back that stands for everything committed.
    func giveBack(_ store: any EntryStore, of partition: Int32)
}

/// Stores in memory: they live as long as the process.
package final class MemoryEntryStores: EntryStores {
    /// A store that nobody uses; whoever takes it out has it alone.
    private struct Parked: @unchecked Sendable {
        let store: any EntryStore
    }

    private let parked = Mutex<[Int32: Parked]>([:])

    package init() {}

    package func take(_ partition: Int32) throws -> any EntryStore {
        parked.withLock { $0.removeValue(forKey: partition) }?.store ?? MemoryEntryStore()
    }

    package func giveBack(_ store: any EntryStore, of partition: Int32) {
        let back = Parked(store: store)
        parked.withLock { $0[partition] = back }
    }
}
