import NotificationModel
import Testing

@testable import NotificationProducer

extension RuleEngine {
    /// The arrival time of the events in these tests.
    static let arrival = Timestamp(rawValue: 1_795_251_600_000)

    func apply(to event: BusinessEvent) -> Outcome { apply(to: event, arrived: Self.arrival) }
}

/// Helpers that compile rules and apply them to an event.
enum Rules {
    static func engine(_ yaml: String) throws -> RuleEngine {
        RuleEngine(rules: try RuleFile.parse(yaml, file: "rules.yaml"), defaultApplication: "shop")
    }

    /// One rule for the sample event, with the fields given line by line.
    static func rule(_ fields: String, recipient: String? = "r", file: String = "") throws -> RuleEngine {
        try engine(text(fields, recipient: recipient, file: file))
    }

    static func text(_ fields: String, recipient: String? = "r", file: String = "") -> String {
        let lines = fields.split(separator: "\n", omittingEmptySubsequences: false)
        return """
            \(file)
            rules:
              - event: com.example.order.shipped
                identifier: i
                \(recipient.map { "recipient: \($0)" } ?? "name: n")
            \(lines.map { "    " + $0 }.joined(separator: "\n"))
            """
    }

    static func apply(_ engine: RuleEngine, _ event: BusinessEvent) -> (
        outputs: [RuleEngine.Output], failures: [RuleEngine.Failure]
    ) {
        guard case .applied(let outputs, let failures) = engine.apply(to: event) else { return ([], []) }
        return (outputs, failures)
    }

    /// The only request, as JSON.
    static func request(_ engine: RuleEngine, _ event: BusinessEvent) throws -> JSONValue {
        let (outputs, failures) = apply(engine, event)
        if let error = failures.first?.error { throw error }
        #expect(outputs.count == 1)
        return try JSONValue.parse(try #require(outputs.first).value)
    }

    /// The only failure of an event without a request.
    static func failure(_ engine: RuleEngine, _ event: BusinessEvent) throws -> ModelError {
        let (outputs, failures) = apply(engine, event)
        #expect(outputs.isEmpty)
        return try #require(failures.first).error
    }

    static func problems(_ yaml: String) -> [RuleFileError.Problem] {
        do {
            _ = try RuleFile.parse(yaml, file: "rules.yaml")
            return []
        } catch {
            return error.problems
        }
    }

    /// A text in quotes that are valid YAML too.
    static func quoted(_ text: String) -> String {
        String(decoding: JSONValue.string(text).json, as: UTF8.self)
    }
}
