import NotificationModel
package import NotificationState

/// The partition counts of the topics that must have equal counts: the inputs and `state`. Then all data of a recipient
/// has the same partition number.
package struct PartitionCounts: Hashable, Sendable {
    /// The counts by role name, such as `requests`.
    package let topics: [String: Int32]

    package init(state: Int32, _ inputs: (InputTopic) throws -> Int32) rethrows {
        self.init(
            topics: try Dictionary(uniqueKeysWithValues: InputTopic.allCases.map { ("\($0)", try inputs($0)) })
                .merging(["state": state]) { $1 }
        )
    }

    init(topics: [String: Int32]) { self.topics = topics }

    /// The common count.
    ///
    /// - Throws: `ConsumerRefusal.partitionCountsDiffer`.
    func common() throws(ConsumerRefusal) -> Int32 {
        guard let first = topics.values.first, topics.values.allSatisfy({ $0 == first }) else {
            throw .partitionCountsDiffer(self)
        }
        return first
    }
}

extension PartitionCounts: CustomStringConvertible {
    package var description: String {
        topics.sorted { $0.key < $1.key }.map { "`\($0.key)` has \($0.value) partitions" }.joined(separator: ", ")
    }
}
