import NotificationModel

/// What a connection has shown of its provider: which team, which keys, and how often its token changed.
///
/// A token that APNs knows is verified once for each connection.
struct ConnectionCredentials: Sendable {
    /// Two changes of a connection's token have at least this time between them, in milliseconds. The first token is
    /// no change.
    static let updatePause: Int64 = 20 * 60_000

    private struct Accepted: Sendable {
        var authorization: String
        var token: ProviderToken
        var key: ProviderKey
    }

    /// The team and the key of the first accepted token: a connection is one team's.
    private var first: ProviderKey?
    private var current: Accepted?
    private var changedAt: Timestamp?

    /// The team, once a token was accepted.
    var team: String? { first?.team }

    /// Checks the token of a request, and that its key is good for the environment and the topic.
    ///
    /// - Parameter topic: A bundle identifier.
    mutating func check(
        _ authorization: String?,
        topic: String,
        environment: DeviceRegistration.Environment,
        keys: [String: ProviderKey],
        at now: Timestamp
    ) throws(Refusal) {
        guard let authorization else { throw Refusal(.missingProviderToken) }
        let accepted = try verified(authorization, keys)
        guard accepted.key.environments.contains(environment) else { throw Refusal(.badEnvironmentKey) }
        if let first {
            guard first.team == accepted.key.team else { throw Refusal(.invalidProviderToken) }
            guard first.isRelated(to: accepted.key) else { throw Refusal(.unrelatedKeyID) }
        }
        guard !accepted.token.hasExpired(at: now) else { throw Refusal(.expiredProviderToken) }
        if let current, current.authorization != authorization {
            if let changedAt, now.rawValue - changedAt.rawValue < Self.updatePause {
                throw Refusal(.tooManyProviderTokenUpdates)
            }
            changedAt = now
        }
        current = accepted
        first = first ?? accepted.key
        guard accepted.key.topics?.contains(topic) ?? true else { throw Refusal(.topicDisallowed) }
    }

    private func verified(_ authorization: String, _ keys: [String: ProviderKey]) throws(Refusal) -> Accepted {
        if let current, current.authorization == authorization {
            // It may be revoked by now.
            guard let key = keys[current.key.id], key.key === current.key.key else {
                throw Refusal(.invalidProviderToken)
            }
            return Accepted(authorization: authorization, token: current.token, key: key)
        }
        let token = try ProviderToken(authorization, keys: keys)
        guard let key = keys[token.keyID] else { throw Refusal(.invalidProviderToken) }
        return Accepted(authorization: authorization, token: token, key: key)
    }
}
