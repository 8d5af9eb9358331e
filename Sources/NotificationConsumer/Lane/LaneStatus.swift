package import NotificationState
import Synchronization

/// What a lane reports to the rest of the process: its thread writes it, health and metrics read it.
package final class LaneStatus: Sendable {
    package struct Snapshot: Sendable {
        package internal(set) var assigned = 0
        /// The partitions of each input topic; 0 before they are known.
        var partitions = 0
        package internal(set) var pending = 0
        /// Open requests by state.
        package internal(set) var open = OpenCounts()
        var entries = 0
        /// Records of recipients and tokens that must not be forgotten.
        var recipients = 0
        /// The entries in memory.
        var resident = 0
        /// Changes that the stores have not written yet.
        var unwritten = 0
        /// Partitions whose stores cannot write to disk.
        var troubledStores = 0
        /// During a restore: the changelog offsets read, and the total.
        var restoring: (read: Int64, of: Int64)?
        /// Events that the broker has not acknowledged yet.
        var outstanding = 0
        /// Sends without an outcome.
        var sends = 0
        /// Records between the read position and the end of the log, where known.
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
