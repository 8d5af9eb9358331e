import NotificationModel

/// One rule of the file, ready to be applied.
struct Rule: Sendable {
    enum Action: Sendable {
        /// The members of a request that follow `identifier`, comma first: `,"content":{…},"trigger":{…}`.
        case notify(JSONTemplate)
        case cancel(RemovalScope)
    }

    /// What the request id is derived from: the rule's `name`, or its place among the rules of its event type, so that
    /// adding a rule for another event changes no id.
    let name: String
    let line: Int
    let event: String
    let when: Template?
    let application: Template?
    let recipient: Template
    /// Of what is requested, or of what is cancelled.
    let identifier: Template
    let action: Action
    /// Whether the event's data has to be parsed.
    let usesData: Bool
}

/// The rules of one file by event type, in the order of the file.
struct RuleSet: Sendable {
    private let rulesByEvent: [String: [Rule]]
    let count: Int

    init(_ rules: [Rule]) {
        rulesByEvent = Dictionary(grouping: rules, by: \.event)
        count = rules.count
    }

    func rules(for eventType: String) -> [Rule]? {
        rulesByEvent[eventType]
    }
}
