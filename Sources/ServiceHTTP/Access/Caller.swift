package import NotificationModel

/// The rights of who calls.
package struct Caller: Sendable {
    /// Nil for every role.
    private let roles: TokenRoles?
    /// The applications whose data the call may concern.
    package let applications: ApplicationSet
    /// The only recipient whose data the call may concern: that of a recipient token. Nil for all.
    let recipient: String?
    /// Tells callers apart, for ids that are derived from a call: the same for one token, or one recipient, at every call.
    /// Empty where no tokens are needed. Not secret.
    package let identity: String

    /// Whoever can connect, where no tokens are needed.
    package static let anyone = Caller(roles: nil, applications: .all, recipient: nil, identity: "")

    /// The owner of a token.
    init(_ roles: TokenRoles, _ applications: ApplicationSet, identity: String) {
        self.init(roles: roles, applications: applications, recipient: nil, identity: identity)
    }

    /// An app on a recipient's device.
    init(_ token: RecipientToken) {
        self.init(
            // What it may do depends on the route (``Route/Callers``), not on a role.
            roles: TokenRoles(),
            applications: ApplicationSet([token.application]),
            recipient: token.recipient,
            identity:
                "recipient \(PercentEncoding.encode(token.application))/\(PercentEncoding.encode(token.recipient))"
        )
    }

    private init(roles: TokenRoles?, applications: ApplicationSet, recipient: String?, identity: String) {
        (self.roles, self.applications, self.recipient, self.identity) = (roles, applications, recipient, identity)
    }

    /// Whether the caller has a role, or `admin`, which includes all.
    package func may(_ role: TokenRole) -> Bool { roles?.allow(role) ?? true }
}

/// The applications that a token is good for. Names are compared by their bytes, as keys are.
package struct ApplicationSet: Sendable, Equatable {
    /// Nil for all.
    private let names: [String]?

    /// All applications.
    package static let all = ApplicationSet(names: nil)

    /// - Parameter names: At least one.
    package init(_ names: [String]) { self.init(names: names) }

    private init(names: [String]?) { self.names = names }

    package func contains(_ name: String) -> Bool {
        names?.contains { $0.hasSameUTF8(as: name) } ?? true
    }

    /// The names, percent-encoded and separated by commas, as the file of tokens has them; nil for all.
    package var text: String? { names?.map { PercentEncoding.encode($0) }.joined(separator: ",") }

    /// Reads ``text``, or `*` for all.
    ///
    /// - Throws: `invalid` for a name that no application can have.
    package init(text: some StringProtocol) throws(ModelError) {
        guard text != "*" else {
            self = .all
            return
        }
        var names: [String] = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            let name = try PercentEncoding.decodeOnce(String(word))
            _ = try CategoryKey.bytes(application: name)
            names.append(name)
        }
        self.init(names)
    }

    package static func == (left: Self, right: Self) -> Bool {
        switch (left.names, right.names) {
        case (nil, nil): true
        case (let left?, let right?):
            left.count == right.count && zip(left, right).allSatisfy { $0.hasSameUTF8(as: $1) }
        default: false
        }
    }
}
