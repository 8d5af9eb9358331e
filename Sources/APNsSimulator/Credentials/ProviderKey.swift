import Foundation
public import NotificationModel
public import PushSimulation
import ServiceHTTP

/// A key of a developer's account, with which a provider signs its tokens.
public struct ProviderKey: Sendable {
    /// The `kid` of tokens.
    public var id: String
    /// The `iss` of tokens: the team whose key it is.
    public var team: String
    /// Where it is good.
    public var environments: Set<DeviceRegistration.Environment>
    /// Bundle identifiers that it is good for; nil for all of its team.
    public var topics: Set<String>?
    /// The key that it may take turns with on a connection: that which it replaces. Keys for all topics of a team do
    /// without.
    public var related: String?
    let key: ECPublicKey
    /// Nil when only the public key is known.
    let signer: P256PrivateKey?

    /// - Parameters:
    ///   - id: 1 to 64 printable characters of ASCII; Apple's have ten.
    ///   - team: Likewise.
    ///   - pem: A private key (`.p8`) or a public one (`openssl ec -in key.p8 -pubout`), on the curve P-256.
    /// - Throws: When one of them is something else.
    public init(
        id: String,
        team: String,
        pem: [UInt8],
        environments: Set<DeviceRegistration.Environment> = Set(DeviceRegistration.Environment.allCases),
        topics: Set<String>? = nil,
        related: String? = nil
    ) throws(APNsSimulatorError) {
        signer = P256PrivateKey(pem: pem)
        guard let der = try signer?.publicKeyDER() ?? Self.der(pem), let key = ECPublicKey(der: der)
        else {
            throw APNsSimulatorError(
                "the key \(id.prefix(64)) must be a PEM file with a private key (.p8) or a public key on P-256"
            )
        }
        for (what, text) in [("id", id), ("team", team)] {
            guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw APNsSimulatorError("the \(what) of a key has 1 to 64 printable characters of ASCII")
            }
        }
        (self.id, self.team, self.key, self.environments) = (id, team, key, environments)
        (self.topics, self.related) = (topics, related)
    }

    /// What is between the lines of a PEM file with a public key.
    private static func der(_ pem: [UInt8]) -> [UInt8]? {
        let text = String(decoding: pem, as: UTF8.self)
        guard let begin = text.range(of: "-----BEGIN PUBLIC KEY-----"),
            let end = text.range(of: "-----END PUBLIC KEY-----", range: begin.upperBound..<text.endIndex)
        else { return nil }
        let base64 = text[begin.upperBound..<end.lowerBound].filter { !$0.isWhitespace }
        return Data(base64Encoded: base64).map(Array.init)
    }

    /// The header field `authorization` with a token of this key.
    ///
    /// - Parameter issuedAt: In seconds since 1970.
    /// - Throws: When only the public key is known.
    public func authorization(issuedAt: Int64) throws(APNsSimulatorError) -> String {
        guard let signer else {
            throw APNsSimulatorError("of the key \(id) only the public part is known: it signs nothing")
        }
        return try ProviderToken.authorization(keyID: id, team: team, issuedAt: issuedAt, key: signer)
    }

    /// Whether tokens of both may be used on one connection.
    func isRelated(to other: ProviderKey) -> Bool {
        if id == other.id { return true }
        if topics == nil, other.topics == nil { return team == other.team }
        return related == other.id || other.related == id
    }
}

extension ProviderKey: CustomStringConvertible, CustomReflectable {
    /// Nothing of the key itself.
    public var description: String { "key \(id) of team \(team)" }

    /// Nothing of the key itself.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
