public import NotificationModel
import ServiceSupport

/// The rules of a file, to preview their effect on an event without Kafka.
public struct RulePreview: Sendable {
    /// A rule for a list of rules.
    public struct Summary: Sendable, Hashable {
        /// The rule's `name`, or its event type and index.
        public var name: String
        /// The event type of the rule.
        public var event: String
        /// The line where it begins, from 1.
        public var line: Int
        /// Whether it cancels notifications instead of requesting them.
        public var isCancel: Bool
    }

    /// A record that would be written to `requests`.
    public struct Record: Sendable, Hashable {
        /// The record's key, which also decides its partition.
        public var key: NotificationKey
        /// Derived from the event, the rule and the key: the same event gives the same id.
        public var requestID: RequestID
        /// Whether it is a removal.
        public var isRemoval: Bool
        /// The record's value, JSON.
        public var value: [UInt8]
        /// The members of a payload of APNs that no content says, as paths from it: `aps.url-args`.
        public var notConverted: [String] = []
    }

    /// Why a rule gives no record, or not all of its records.
    public struct Failure: Sendable, Hashable {
        /// The rule's name; nil if no rule could be selected.
        public var rule: String?
        /// The error for the dead letter.
        public var error: ModelError
    }

    /// The result for one event.
    public struct Result: Sendable, Hashable {
        /// In the order of sending.
        public var records: [Record]
        /// Not empty if the event would go to dead letters.
        public var failures: [Failure]
        /// The event's key, which determines the order of events; nil if it cannot be read.
        public var eventKey: [UInt8]?

        /// Whether no rule is for its type, and it has no effect by the file or the setting.
        public var isIgnored = false

        /// Whether the event has no effect without an error: no `when` holds.
        public var isSkipped: Bool { records.isEmpty && failures.isEmpty && !isIgnored }
    }

    private let engine: RuleEngine

    /// Reads a file of rules.
    ///
    /// - Parameters:
    ///   - path: The YAML file.
    ///   - defaultApplication: For rules that name no application, as the setting `application.default`.
    ///   - unmatched: What happens to other events, as the setting `rules.unmatched`.
    /// - Throws: Every problem of the file.
    public init(
        file path: String,
        defaultApplication: String,
        unmatched: UnmatchedEvents = .deadLetter
    ) throws(RuleFileError) {
        engine = RuleEngine(
            rules: try RuleFile.load(path: path),
            defaultApplication: defaultApplication,
            unmatched: unmatched
        )
    }

    /// What the file may say, and probably does not mean.
    public var warnings: [RuleFileError.Problem] { engine.rules.warnings }

    /// The rules in the order of the file.
    public var rules: [Summary] {
        engine.rules.all.map { rule in
            let isCancel = if case .cancel = rule.action { true } else { false }
            return Summary(name: rule.name, event: rule.event, line: rule.line, isCancel: isCancel)
        }
    }

    /// Pairs of rules whose events may take effect in another order than they arrived.
    public var overtakings: [Overtaking] { Overtaking.all(in: engine.rules) }

    /// Applies the rules to a CloudEvent in structured mode, one JSON object. An event that cannot be read goes to dead
    /// letters, as does an event without a matching rule.
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

    /// Applies the rules to an event that arrives now.
    public func apply(to event: BusinessEvent) -> Result {
        var result = made(of: event)
        result.eventKey = event.kafkaKey
        return result
    }

    private func made(of event: BusinessEvent) -> Result {
        switch engine.apply(to: event, arrived: SystemClock.now()) {
        case .noRule:
            return Result(records: [], failures: [Failure(rule: nil, error: RuleEngine.noRule(for: event))])
        case .ignored:
            return Result(records: [], failures: [], isIgnored: true)
        case .skipped:
            return Result(records: [], failures: [])
        case .applied(let outputs, let failures):
            return Result(
                records: outputs.map {
                    Record(
                        key: $0.key,
                        requestID: $0.requestID,
                        isRemoval: $0.isRemoval,
                        value: $0.value,
                        notConverted: $0.notConverted
                    )
                },
                failures: failures.map { Failure(rule: $0.rule, error: $0.error) }
            )
        }
    }
}
