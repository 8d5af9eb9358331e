import NotificationModel

/// A topic whose events the rules may turn into requests.
package enum IngestInput: Int, Sendable {
    /// Events of the user's systems: each must be for a rule.
    case businessEvents
    /// What persons did with their notifications: a rule may want it, and then it is read.
    case responses

    func name(in topics: TopicNames) -> String {
        switch self {
        case .businessEvents: topics.businessEvents
        case .responses: topics.responses
        }
    }
}

/// A partition of an input of the ingest.
package struct IngestPartition: Hashable, Comparable, Sendable {
    package var input: IngestInput
    package var number: Int32

    package init(_ input: IngestInput, _ number: Int32) { (self.input, self.number) = (input, number) }

    package static func < (one: Self, other: Self) -> Bool {
        (one.input.rawValue, one.number) < (other.input.rawValue, other.number)
    }
}
