/// What a topic must be like, and what happens otherwise.
struct TopicExpectation: Sendable, Hashable {
    /// How a setting of Kafka is judged.
    enum Rule: Sendable, Hashable {
        /// Of numbers.
        case atLeast(Int64)
        case atMost(Int64)
        /// Of a list such as `compact,delete`.
        case has(String)
        case lacks(String)

        /// - Returns: Nil for a value that cannot be read.
        func holds(for value: String) -> Bool? {
            switch self {
            case .atLeast(let bound): Int64(value).map { $0 < 0 || $0 >= bound }
            case .atMost(let bound): Int64(value).map { (0...bound).contains($0) }
            case .has(let item): Self.items(value).contains(item)
            case .lacks(let item): !Self.items(value).contains(item)
            }
        }

        private static func items(_ list: String) -> [String] {
            list.split(separator: ",").map { String($0.filter { $0 != " " }) }
        }
    }

    /// The setting by its name in Kafka. Negative numbers mean no limit there.
    var setting: String
    var rule: Rule
    /// Whether something is lost, and not only kept for longer or read more slowly.
    var isSerious: Bool
    /// What happens otherwise.
    var consequence: String
}
