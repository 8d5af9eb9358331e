import NotificationModel

/// Two rules, one that requests a notification and one that cancels it, whose events may take effect in any order.
///
/// Business events take effect in order only if they have the same key: `partitionkey`, else `subject`, else `source`.
/// The rules do not determine an event's key, so this is a hint, reported once per pair of event types. It is omitted
/// if both rules take the same part of the identifier or the recipient from `subject` or `partitionkey`: events of one
/// notification then have the same key.
public struct Overtaking: Sendable, Hashable {
    /// The event type of the requesting rule.
    public var requestEvent: String
    /// The line where that rule begins, from 1.
    public var requestLine: Int
    /// The event type of the cancelling rule.
    public var cancelEvent: String
    /// The line where that rule begins, from 1.
    public var cancelLine: Int

    /// In the order of the cancelling rules.
    static func all(in rules: RuleSet) -> [Overtaking] {
        let rules = rules.allWithPlans.map(Target.init)
        var found: [Overtaking] = []
        for cancel in rules where cancel.isCancel {
            for request in rules where !request.isCancel && cancel.canMeet(request) && !cancel.sharesKey(with: request)
            {
                let hint = Overtaking(
                    requestEvent: request.event,
                    requestLine: request.line,
                    cancelEvent: cancel.event,
                    cancelLine: cancel.line
                )
                if !found.contains(where: { $0.requestEvent == hint.requestEvent && $0.cancelEvent == hint.cancelEvent }
                ) {
                    found.append(hint)
                }
            }
        }
        return found
    }

    /// The target of a rule, as far as it is known from the file.
    private struct Target {
        /// A template: its text with all variables replaced by a placeholder, and their names.
        struct Part: Hashable {
            var shape: String
            var names: [String]

            init?(_ template: Template<BoundVariable>?, _ plan: EventPlan) {
                guard let template else { return nil }
                shape = template.text { _ in "{{}}" }
                names = template.variables.map { plan.names[$0.name] }
            }

            /// False when both are constant and different.
            func canEqual(_ other: Part) -> Bool {
                !names.isEmpty || !other.names.isEmpty || shape == other.shape
            }

            func sharesKey(with other: Part) -> Bool {
                shape == other.shape
                    && zip(names, other.names).contains { $0 == $1 && ["subject", "partitionkey"].contains($0) }
            }
        }

        let event: String
        let line: Int
        let isCancel: Bool
        let application: Part?
        /// Nil for a list of recipients.
        let recipient: Part?
        let identifier: Part?

        init(_ rule: Rule<BoundVariable>, _ plan: EventPlan) {
            (event, line) = (rule.event, rule.line)
            isCancel = if case .cancel = rule.action { true } else { false }
            application = Part(rule.application, plan)
            identifier = Part(rule.identifier, plan)
            recipient = if case .one(let template) = rule.recipients { Part(template, plan) } else { nil }
        }

        /// Identifiers may match if their constant parts do.
        func canMeet(_ other: Target) -> Bool {
            guard identifier?.shape == other.identifier?.shape else { return false }
            return [(application, other.application), (recipient, other.recipient)].allSatisfy { left, right in
                guard let left, let right else { return true }
                return left.canEqual(right)
            }
        }

        func sharesKey(with other: Target) -> Bool {
            [(identifier, other.identifier), (recipient, other.recipient)].contains { left, right in
                guard let left, let right else { return false }
                return left.sharesKey(with: right)
            }
        }
    }
}

extension Overtaking: CustomStringConvertible {
    /// For people.
    public var description: String {
        let events = requestEvent == cancelEvent ? "events of \(cancelEvent)" : "\(requestEvent) and \(cancelEvent)"
        return
            "line \(cancelLine) cancels what line \(requestLine) requests: \(events) take effect in order only with "
            + "the same key (partitionkey, else subject, else source)"
    }
}
