public import NotificationModel

/// The rules of a file, to look at what they would make of an event without Kafka.
public struct RulePreview: Sendable {
    /// A rule as a list of them shows it.
    public struct Summary: Sendable, Hashable {
        /// The rule's `name`, or its event type and place.
        public var name: String
        /// The type of the events it is for.
        public var event: String
        /// Where it begins in the file, from 1.
        public var line: Int
        /// It cancels, and requests nothing.
        public var isCancel: Bool
    }

    /// A record that would be on `requests`.
    public struct Record: Sendable, Hashable {
        /// The record's key, which also decides its partition.
        public var key: NotificationKey
        /// Derived from the event, the rule and the key: the same event gives it again.
        public var requestID: RequestID
        /// A removal, not a request.
        public var isRemoval: Bool
        /// The record's value, JSON.
        public var value: [UInt8]
    }

    /// Why a rule gives no record, or not all of its records.
    public struct Failure: Sendable, Hashable {
        /// The rule's name; nil when no rule could even be chosen.
        public var rule: String?
        /// What the dead letter would say.
        public var error: ModelError
    }

    /// What becomes of one event.
    public struct Result: Sendable, Hashable {
        /// In the order in which they would be sent.
        public var records: [Record]
        /// Not empty when the event would go to dead letters.
        public var failures: [Failure]
        /// The key of the event, under which events take effect in their order; nil when it cannot be read.
        public var eventKey: [UInt8]?

        /// Nothing comes of the event, and nothing is wrong: no `when` holds.
        public var isSkipped: Bool { records.isEmpty && failures.isEmpty }
    }

    private let engine: RuleEngine

    /// Reads a file of rules.
    ///
    /// - Parameters:
    ///   - path: The YAML file.
    ///   - defaultApplication: For rules that name no application, as the setting `application.default`.
    /// - Throws: Every problem of the file.
    public init(file path: String, defaultApplication: String) throws(RuleFileError) {
        engine = RuleEngine(rules: try RuleFile.load(path: path), defaultApplication: defaultApplication)
    }

    /// The rules in the order of the file.
    public var rules: [Summary] {
        engine.rules.all.map { rule in
            let isCancel = if case .cancel = rule.action { true } else { false }
            return Summary(name: rule.name, event: rule.event, line: rule.line, isCancel: isCancel)
        }
    }

    /// Where events can take effect in another order than they came in.
    public var overtakings: [Overtaking] { Overtaking.all(in: engine.rules) }

    /// What the rules make of a CloudEvent in structured mode, one JSON object. One that cannot be read goes to dead letters as one
    /// does that no rule is for.
    public func apply(toStructured json: [UInt8]) -> Result {
        do throws(ModelError) {
            let headers: [(name: String, value: [UInt8]?)] = [
                ("content-type", Array("application/cloudevents+json".utf8))
            ]
            return apply(to: try BusinessEvent(kafkaHeaders: headers, value: json))
        } catch {
            return Result(records: [], failures: [Failure(rule: nil, error: error)])
        }
    }

    /// What the rules make of an event that arrives now.
    public func apply(to event: BusinessEvent) -> Result {
        var result = made(of: event)
        result.eventKey = event.kafkaKey
        return result
    }

    private func made(of event: BusinessEvent) -> Result {
        switch engine.apply(to: event, arrived: SystemClock.now()) {
        case .noRule:
            return Result(records: [], failures: [Failure(rule: nil, error: RuleEngine.noRule(for: event))])
        case .skipped:
            return Result(records: [], failures: [])
        case .applied(let outputs, let failures):
            return Result(
                records: outputs.map {
                    Record(key: $0.key, requestID: $0.requestID, isRemoval: $0.isRemoval, value: $0.value)
                },
                failures: failures.map { Failure(rule: $0.rule, error: $0.error) }
            )
        }
    }
}
