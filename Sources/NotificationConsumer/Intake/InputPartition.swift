import NotificationModel
package import NotificationState

/// A partition of an input topic.
package struct InputPartition: Hashable, Comparable, Sendable {
    package var input: InputTopic
    package var partition: Int32

    package init(_ input: InputTopic, _ partition: Int32) { (self.input, self.partition) = (input, partition) }

    package static func < (one: Self, other: Self) -> Bool {
        (one.partition, one.input.rawValue) < (other.partition, other.input.rawValue)
    }

    /// The given partitions of every input topic.
    static func all(of numbers: some Sequence<Int32>) -> [InputPartition] {
        numbers.flatMap { number in InputTopic.allCases.map { InputPartition($0, number) } }
    }
}

/// The next offset to read, or the offset to commit, of each partition.
package typealias InputOffsets = [InputPartition: Int64]

/// The first offset that a partition holds, and the offset after its last record.
package typealias OffsetBounds = (low: Int64, high: Int64)

/// A value for each input topic.
struct PerInput<Value> {
    private var values: [Value]

    init(_ value: (InputTopic) throws -> Value) rethrows { values = try InputTopic.allCases.map(value) }

    subscript(input: InputTopic) -> Value {
        get { values[input.rawValue] }
        _modify { yield &values[input.rawValue] }
    }

    func map<Other>(_ transform: (Value) throws -> Other) rethrows -> PerInput<Other> {
        try PerInput<Other> { try transform(self[$0]) }
    }

    func allSatisfy(_ condition: (InputTopic, Value) -> Bool) -> Bool {
        InputTopic.allCases.allSatisfy { condition($0, self[$0]) }
    }

    /// The values by topic name, as in markers; topics without a value are omitted.
    func named<Named>(_ topics: TopicNames, _ value: (Value) -> Named?) -> [String: Named] {
        var named: [String: Named] = [:]
        for input in InputTopic.allCases {
            if let value = value(self[input]) { named[topics[input]] = value }
        }
        return named
    }
}

extension PerInput: Sendable where Value: Sendable {}
