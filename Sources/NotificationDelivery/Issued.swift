/// A piece of side work from the entry to its worker and back: the instance of the partition's center that asked for it gets the
/// answer, and no other.
@dynamicMemberLookup
package struct Issued<Work: Sendable & Hashable>: Sendable, Hashable {
    package var work: Work
    package var partition: Int32
    /// The assignment of the partition.
    package var assignmentID: UInt64

    package init(_ work: Work, of partition: Int32, in assignmentID: UInt64) {
        (self.work, self.partition, self.assignmentID) = (work, partition, assignmentID)
    }

    /// What the work says of itself.
    package subscript<Value>(dynamicMember path: KeyPath<Work, Value>) -> Value { work[keyPath: path] }
}
