import NotificationModel
import PushSimulation
import ServiceHTTP

/// A provider token: a JWT (RFC 7519) that a team's key has signed with ES256.
///
///     {"alg":"ES256","kid":"ABC123DEFG"}
///     {"iss":"DEF123GHIJ","iat":1437179036}
struct ProviderToken: Sendable, Hashable {
    /// A longer one is not read.
    private static let longest = 4_096
    /// How far the time of issue may be from now, in seconds, before and after.
    static let age: Int64 = 3_600

    let keyID: String
    let team: String
    /// In seconds since 1970.
    let issuedAt: Int64

    /// Verifies the signature, and that the key is the team's. The age is another matter: it changes.
    ///
    /// - Parameter authorization: The header field.
    init(_ authorization: String, keys: [String: ProviderKey]) throws(Refusal) {
        let scheme = "bearer "
        guard authorization.utf8.count <= Self.longest, authorization.prefix(scheme.count).lowercased() == scheme
        else { throw Refusal(.invalidProviderToken) }
        let parts = authorization.utf8.dropFirst(scheme.utf8.count)
            .split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { Substring($0).utf8 }
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64URL.decode(parts[2]), header["alg"]?.stringValue == "ES256",
            let keyID = header["kid"]?.stringValue, let key = keys[keyID],
            let team = claims["iss"]?.stringValue, team == key.team, let issuedAt = claims["iat"]?.integerValue,
            key.key.verifies(signature, of: Array(parts[0]) + [UInt8(ascii: ".")] + Array(parts[1]))
        else { throw Refusal(.invalidProviderToken) }
        (self.keyID, self.team, self.issuedAt) = (keyID, team, issuedAt)
    }

    private static func object(_ text: Substring.UTF8View) -> JSONValue? {
        guard let bytes = Base64URL.decode(text), let value = try? JSONValue.parse(bytes, maximumDepth: 4),
            value.objectValue != nil
        else { return nil }
        return value
    }

    /// Whether it is too old, or from too far ahead.
    func hasExpired(at now: Timestamp) -> Bool { abs(now.rawValue / 1_000 - issuedAt) > Self.age }

    /// The header field with a token.
    static func authorization(
        keyID: String,
        team: String,
        issuedAt: Int64,
        key: P256PrivateKey
    ) throws(APNsSimulatorError) -> String {
        let header = JSONValue.object([.init("alg", .string("ES256")), .init("kid", .string(keyID))])
        let claims = JSONValue.object([.init("iss", .string(team)), .init("iat", .number("\(issuedAt)"))])
        let signed = "\(Base64URL.encode(header.json)).\(Base64URL.encode(claims.json))"
        return "bearer \(signed).\(Base64URL.encode(try key.signature(of: Array(signed.utf8))))"
    }
}
