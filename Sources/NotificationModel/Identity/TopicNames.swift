/// The names of the topics. Each name can be set; the default is the prefix and the topic's own name.
public struct TopicNames: Sendable, Hashable {
    /// Default prefix of the topic names.
    public static let defaultPrefix = "carillon."

    /// CloudEvents of the user's systems.
    public var businessEvents: String
    /// Requests and removals.
    public var requests: String
    /// Responses, receipts, locations, app states and retirements.
    public var signals: String
    /// Device registrations.
    public var devices: String
    /// For each token of a device, whose it is.
    public var tokens: String
    /// Category sets.
    public var categories: String
    /// Delivery events.
    public var deliveries: String
    /// Response events.
    public var responses: String
    /// Changelog of the notification centers and their markers.
    public var state: String
    /// Records that could not be processed.
    public var deadLetters: String

    /// Names with a prefix; each can be overridden.
    public init(
        prefix: String = TopicNames.defaultPrefix,
        businessEvents: String? = nil,
        requests: String? = nil,
        signals: String? = nil,
        devices: String? = nil,
        tokens: String? = nil,
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
        self.tokens = tokens ?? prefix + "tokens"
        self.categories = categories ?? prefix + "categories"
        self.deliveries = deliveries ?? prefix + "deliveries"
        self.responses = responses ?? prefix + "responses"
        self.state = state ?? prefix + "state"
        self.deadLetters = deadLetters ?? prefix + "dead-letters"
    }

    /// Each topic's own name, as in settings and errors, with its full name.
    public var all: [(name: String, topic: String)] {
        [
            ("business-events", businessEvents), ("requests", requests), ("signals", signals), ("devices", devices),
            ("tokens", tokens), ("categories", categories), ("deliveries", deliveries), ("responses", responses),
            ("state", state), ("dead-letters", deadLetters),
        ]
    }

    /// Throws `invalid` with the topic's own name as the field, when Kafka does not accept a name (1 to 249 of `a-z A-Z
    /// 0-9 . _ -`, not `.` or `..`) or two topics share one.
    public func validate() throws(ModelError) {
        var owners: [String: String] = [:]
        for (name, topic) in all {
            guard Self.isValid(topic) else {
                throw ModelError(
                    .invalid,
                    field: name,
                    "\"\(topic)\" is not a topic name: use 1 to 249 of a-z, A-Z, 0-9, '.', '_' and '-'"
                )
            }
            if let other = owners[topic] {
                throw ModelError(.invalid, field: name, "\"\(topic)\" is already the name of \(other)")
            }
            owners[topic] = name
        }
    }

    /// Whether Kafka accepts the name for a topic.
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
