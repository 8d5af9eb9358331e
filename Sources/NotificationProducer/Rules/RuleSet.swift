import NotificationModel

/// The rules of one event type in the order of the file, and all paths that they read from such an event.
final class EventPlan: Sendable {
    let rules: [Rule<BoundVariable>]
    /// The paths to find in the event's data.
    let data: JSONPathSet
    /// The paths to find in each element of a list of recipients.
    let item: JSONPathSet
    /// The variables' names, for messages and to find extension attributes.
    let names: [String]

    init(_ written: [Rule<VariablePath>]) {
        var binder = Binder()
        rules = written.map { $0.map { binder.bind($0) } }
        data = binder.data
        item = binder.item
        names = binder.names
    }

    /// Binds each variable to its location.
    private struct Binder {
        var data = JSONPathSet()
        var item = JSONPathSet()
        var names: [String] = []
        private var known: [VariablePath: BoundVariable] = [:]

        mutating func bind(_ path: VariablePath) -> BoundVariable {
            if let bound = known[path] { return bound }
            let place: BoundVariable.Place =
                switch path.root {
                case .data: .data(data.insert(path.components))
                case .item: .item(item.insert(path.components))
                case .attribute("id"): .id
                case .attribute("source"): .source
                case .attribute("type"): .type
                case .attribute("subject"): .subject
                case .attribute("time"): .time
                case .attribute: .other
                }
            names.append(path.text)
            let bound = BoundVariable(place: place, name: names.count - 1)
            known[path] = bound
            return bound
        }
    }
}

/// The rules of one file by event type, ready to be applied.
struct RuleSet: Sendable {
    private let plans: [String: EventPlan]
    let count: Int
    /// `ignore:`, of the types without a rule.
    private let ignored: [EventPattern]
    /// What is allowed, and probably not meant.
    let warnings: [RuleFileError.Problem]

    init(_ rules: [Rule<VariablePath>], ignored: [EventPattern] = [], warnings: [RuleFileError.Problem] = []) {
        plans = Dictionary(grouping: rules, by: \.event).mapValues { EventPlan($0) }
        count = rules.count
        (self.ignored, self.warnings) = (ignored, warnings)
    }

    /// Whether the file says that events of a type without a rule have no effect.
    func ignores(_ eventType: String) -> Bool {
        ignored.contains { $0.matches(eventType) }
    }

    /// The rules for events of a type; nil when there are none.
    func plan(for eventType: String) -> EventPlan? {
        plans[eventType]
    }

    /// In the order of the file.
    var all: [Rule<BoundVariable>] { allWithPlans.map(\.rule) }

    /// The same with the plans, which have the names of the variables.
    var allWithPlans: [(rule: Rule<BoundVariable>, plan: EventPlan)] {
        plans.values.flatMap { plan in plan.rules.map { ($0, plan) } }.sorted { $0.rule.line < $1.rule.line }
    }
}
