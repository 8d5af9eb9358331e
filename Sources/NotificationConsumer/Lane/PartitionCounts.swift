package import NotificationModel

/// How many partitions the topics have that must have equally many: the inputs and `state`, so that what concerns one recipient
/// meets in one partition number.
package struct PartitionCounts: Hashable, Sendable {
    /// By the topic's own name.
    package let topics: [String: Int32]

    package init(state: Int32, _ inputs: (InputTopic) throws -> Int32) rethrows {
        self.init(
            topics: try Dictionary(uniqueKeysWithValues: InputTopic.allCases.map { ("\($0)", try inputs($0)) })
                .merging(["state": state]) { $1 }
        )
    }

    init(topics: [String: Int32]) { self.topics = topics }

    /// The number that all of them have.
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
