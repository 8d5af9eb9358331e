import NotificationModel

/// One rule of the file. `Variable` is as in ``Template``: a rule is read with paths, and bound before it is applied.
final class Rule<Variable: Hashable & Sendable>: Sendable {
    typealias Text = Template<Variable>

    enum Action: Sendable {
        case notify(Notification)
        case cancel(RemovalScope)
    }

    enum Recipients: Sendable {
        case one(Text)
        /// One for each element of a list, at most so many.
        case each(list: Variable, id: Text, limit: Int)
    }

    /// What follows `identifier` in a request.
    struct Notification: Sendable {
        /// The constant members and those that are templates, comma first: `,"content":{…},"trigger":{…}`. The first is the base,
        /// the others the localizations.
        var bodies: [Text]
        /// Which body is taken; nil when there is only the base.
        var locales: LocaleTable?
        /// The event's locale.
        var locale: Text?
        var expiresAfter: ExpirationAfter?
    }

    /// How long after the event's time a notification expires.
    enum ExpirationAfter: Sendable {
        case milliseconds(Int64)
        /// In seconds.
        case variable(Variable)
    }

    /// What the request id is derived from: the rule's `name`, or its place among the rules of its event type, so that
    /// adding a rule for another event changes no id.
    let name: String
    let line: Int
    let event: String
    let when: Condition<Variable>?
    let application: Text?
    let recipients: Recipients
    /// Of what is requested, or of what is cancelled.
    let identifier: Text
    let version: Text?
    let action: Action

    init(
        name: String,
        line: Int,
        event: String,
        when: Condition<Variable>?,
        application: Text?,
        recipients: Recipients,
        identifier: Text,
        version: Text?,
        action: Action
    ) {
        self.name = name
        self.line = line
        self.event = event
        self.when = when
        self.application = application
        self.recipients = recipients
        self.identifier = identifier
        self.version = version
        self.action = action
    }

    func map<Other>(_ transform: (Variable) -> Other) -> Rule<Other> {
        Rule<Other>(
            name: name,
            line: line,
            event: event,
            when: when?.map(transform),
            application: application?.map(transform),
            recipients: recipients.map(transform),
            identifier: identifier.map(transform),
            version: version?.map(transform),
            action: action.map(transform)
        )
    }

    /// What it holds in memory, about.
    var weight: Int {
        guard case .notify(let notification) = action else { return 256 }
        return notification.bodies.reduce(256) { $0 + $1.weight }
    }
}

extension Rule.Recipients {
    fileprivate func map<Other>(_ transform: (Variable) -> Other) -> Rule<Other>.Recipients {
        switch self {
        case .one(let recipient): .one(recipient.map(transform))
        case .each(let list, let id, let limit): .each(list: transform(list), id: id.map(transform), limit: limit)
        }
    }
}

extension Rule.Action {
    fileprivate func map<Other>(_ transform: (Variable) -> Other) -> Rule<Other>.Action {
        switch self {
        case .cancel(let scope): return .cancel(scope)
        case .notify(let notification):
            let after: Rule<Other>.ExpirationAfter? =
                switch notification.expiresAfter {
                case nil: nil
                case .milliseconds(let milliseconds): .milliseconds(milliseconds)
                case .variable(let variable): .variable(transform(variable))
                }
            return .notify(
                .init(
                    bodies: notification.bodies.map { $0.map(transform) },
                    locales: notification.locales,
                    locale: notification.locale?.map(transform),
                    expiresAfter: after
                )
            )
        }
    }
}
