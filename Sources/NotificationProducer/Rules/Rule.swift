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
        /// One notification for each element of a list, up to the limit.
        case each(list: Variable, id: Text, limit: Int)
    }

    /// The part of a request after `identifier`.
    struct Notification: Sendable {
        /// The constant members and the templates, comma first: `,"content":{…},"trigger":{…}`. The first is the base,
        /// the others the localizations.
        var bodies: [Text]
        /// Selects the body; nil if there is only the base.
        var locales: LocaleTable?
        /// The event's locale.
        var locale: Text?
        var expiresAfter: ExpirationAfter?
    }

    /// The time between an event and the expiration of its notification.
    enum ExpirationAfter: Sendable {
        case milliseconds(Int64)
        /// In seconds.
        case variable(Variable)
    }

    /// The input for the request id: the rule's `name`, or its index among the rules of its event type, so that adding
    /// a rule for another event changes no id.
    let name: String
    let line: Int
    let event: String
    let when: Condition<Variable>?
    let application: Text?
    let recipients: Recipients
    /// The identifier of the requested or cancelled notification.
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

    /// Its approximate size in memory.
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
