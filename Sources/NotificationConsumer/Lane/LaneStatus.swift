import Synchronization

/// What a lane tells the rest of the process: written by its thread, read by health and metrics.
package final class LaneStatus: Sendable {
    package struct Snapshot: Sendable {
        package internal(set) var assigned = 0
        package internal(set) var pending = 0
        var entries = 0
        /// Of the entries, those in memory.
        var resident = 0
        /// Changes that the stores have not written yet.
        var unwritten = 0
        /// Partitions whose stores cannot write to disk.
        var troubledStores = 0
        /// While partitions are restored, how much of how much of their changelog was read.
        var restoring: (read: Int64, of: Int64)?
        /// Events that the broker has not acknowledged yet.
        var outstanding = 0
        /// Sends that have no outcome yet.
        var sends = 0
        /// Records behind the end of the log, where known.
        package internal(set) var lag: [InputPartition: Int64] = [:]
        /// How late the oldest due timer is, in milliseconds; 0 when none is due.
        var oldestDueAge: Int64 = 0
    }

    private let current = Mutex(Snapshot())

    package init() {}

    package var snapshot: Snapshot { current.withLock { $0 } }

    func update(_ change: (inout Snapshot) -> Void) {
        current.withLock { change(&$0) }
    }
}
