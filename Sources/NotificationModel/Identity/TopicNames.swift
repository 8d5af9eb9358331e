/// The names of the topics. Every name can be set; what is not set is the prefix and the topic's own name.
public struct TopicNames: Sendable, Hashable {
    /// Prefix of the names that are not set one by one.
    public static let defaultPrefix = "carillon."

    /// CloudEvents of the user's systems.
    public var businessEvents: String
    /// Requests and removals.
    public var requests: String
    /// Responses, receipts, locations, app states and retirements.
    public var signals: String
    /// Device registrations.
    public var devices: String
    /// Category sets.
    public var categories: String
    /// Delivery events.
    public var deliveries: String
    /// Response events.
    public var responses: String
    /// Changelog of the centres and their markers.
    public var state: String
    /// Records that could not be used.
    public var deadLetters: String

    /// Names with a prefix, each of which can be overridden.
    public init(
        prefix: String = TopicNames.defaultPrefix,
        businessEvents: String? = nil,
        requests: String? = nil,
        signals: String? = nil,
        devices: String? = nil,
        categories: String? = nil,
        deliveries: String? = nil,
        responses: String? = nil,
        state: String? = nil,
        deadLetters: String? = nil
    ) {
        self.businessEvents = businessEvents ?? prefix + "business-events"
        self.requests = requests ?? prefix + "requests"
        self.signals = signals ?? prefix + "signals"
        self.devices = devices ?? prefix + "devices"
        self.categories = categories ?? prefix + "categories"
        self.deliveries = deliveries ?? prefix + "deliveries"
        self.responses = responses ?? prefix + "responses"
        self.state = state ?? prefix + "state"
        self.deadLetters = deadLetters ?? prefix + "dead-letters"
    }

    /// Each topic's own name, as configuration and errors call it, with its full name.
    public var all: [(name: String, topic: String)] {
        [
            ("business-events", businessEvents), ("requests", requests), ("signals", signals), ("devices", devices),
            ("categories", categories), ("deliveries", deliveries), ("responses", responses), ("state", state),
            ("dead-letters", deadLetters),
        ]
    }

    /// Throws `invalid`, the field being the topic's own name, when a name is not one Kafka accepts (1 to 249 of
    /// `a-z A-Z 0-9 . _ -`, not `.` or `..`) or when two topics share one.
    public func validate() throws(ModelError) {
        var owners: [String: String] = [:]
        for (name, topic) in all {
            guard Self.isValid(topic) else {
                throw ModelError(
                    .invalid,
                    field: name,
                    "\"\(topic)\" is no topic name: use 1 to 249 of a-z, A-Z, 0-9, '.', '_' and '-'"
                )
            }
            if let other = owners[topic] {
                throw ModelError(.invalid, field: name, "\"\(topic)\" is already the name of \(other)")
            }
            owners[topic] = name
        }
    }

    /// True for a name that Kafka accepts for a topic.
    public static func isValid(_ topic: String) -> Bool {
        guard (1...249).contains(topic.utf8.count), topic != ".", topic != ".." else { return false }
        return topic.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
            default: false
            }
        }
    }
}
