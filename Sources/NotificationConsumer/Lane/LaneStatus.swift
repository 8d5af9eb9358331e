import Kafka
import Synchronization

/// What a lane tells the rest of the process: written by its thread, read by health and metrics.
final class LaneStatus: Sendable {
    struct Snapshot: Sendable {
        var assignment: Set<KafkaTopicPartition> = []
        var pending = 0
        var entries = 0
        /// Events that the broker has not acknowledged yet.
        var outstanding = 0
        /// Records behind the end of the log, by partition.
        var lag: [KafkaTopicPartition: Int64] = [:]
        /// How late the oldest due timer is, in milliseconds; 0 when none is due.
        var oldestDueAge: Int64 = 0
    }

    private let current = Mutex(Snapshot())

    var snapshot: Snapshot { current.withLock { $0 } }

    func update(_ change: (inout Snapshot) -> Void) {
        current.withLock { change(&$0) }
    }
}
