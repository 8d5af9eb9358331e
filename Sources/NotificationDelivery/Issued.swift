/// A piece of side work from the entry to its worker and back: the instance of the partition's center that asked for it gets the
/// answer, and no other.
@dynamicMemberLookup
package struct Issued<Work: Sendable & Hashable>: Sendable, Hashable {
    /// Copies share it: the work waits in queues and is passed on by closures, and a send has many members that a copy would retain.
    private final class Memory: Sendable {
        let work: Work
        let partition: Int32
        let assignmentID: UInt64

        init(_ work: Work, _ partition: Int32, _ assignmentID: UInt64) {
            (self.work, self.partition, self.assignmentID) = (work, partition, assignmentID)
        }
    }

    private var memory: Memory

    package init(_ work: Work, of partition: Int32, in assignmentID: UInt64) {
        memory = Memory(work, partition, assignmentID)
    }

    package var work: Work {
        _read { yield memory.work }
        set { memory = Memory(newValue, partition, assignmentID) }
    }
    package var partition: Int32 { memory.partition }
    /// The assignment of the partition.
    package var assignmentID: UInt64 { memory.assignmentID }

    /// What the work says of itself.
    package subscript<Value>(dynamicMember path: KeyPath<Work, Value>) -> Value { work[keyPath: path] }

    package static func == (one: Self, other: Self) -> Bool {
        one.memory === other.memory
            || one.partition == other.partition && one.assignmentID == other.assignmentID && one.work == other.work
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(work)
        hasher.combine(partition)
        hasher.combine(assignmentID)
    }
}
