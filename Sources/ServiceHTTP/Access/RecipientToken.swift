import NotificationModel

/// A token that lets an app on a device act for one recipient: a JWT (RFC 7519) that the back end of the application
/// signs.
///
///     {"alg":"ES256","kid":"shop-2026"}
///     {"sub":"user-42","iat":1795000000,"exp":1795003600}
///
/// The algorithm is that of the key that `kid` names, whatever the token says. `sub` is the recipient. `iat` and `exp` are
/// required, at most 24 hours apart. `nbf` counts if it is there, and `aud` must then be, or contain, the application.
struct RecipientToken: Sendable, Equatable {
    /// Why a token is refused. What follows on ``signature`` is found only in what a known key has signed.
    enum Refusal: String, Error, CaseIterable {
        case unknown = "The token is unknown."
        case algorithm = "The token's alg is not that of its key."
        case signature = "The token's signature is wrong."
        case claims = "The token needs a sub, and iat and exp as numbers; aud must be text."
        case audience = "The token's aud does not name the application of its key."
        case life = "The token's exp may be at most 24 hours after its iat."
        case notYet = "The token is not valid yet."
        case expired = "The token has expired."
    }

    /// A longer one is not read.
    static let longest = 4_096
    static let longestLife = 24.0 * 3_600
    /// How far the clock of a back end may be ahead, in seconds.
    static let clockTolerance = 60.0

    let application: String
    let recipient: String

    /// Verifies a token.
    init(_ text: Substring, of keys: RecipientKeys, at now: Timestamp) throws(Refusal) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard !keys.isEmpty, text.utf8.count <= Self.longest, parts.count == 3,
            let header = Self.object(Base64URL.decode(parts[0])),
            let signature = Base64URL.decode(parts[2], canonical: false),
            // What is critical must be understood; nothing is.
            header["crit"] == nil, let id = header["kid"]?.stringValue, let key = keys[id]
        else { throw .unknown }
        guard header["alg"]?.stringValue == key.verifier.algorithm else { throw .algorithm }
        guard key.verifier.verifies(signature, of: Array(parts[0]) + [UInt8(ascii: ".")] + Array(parts[1])) else {
            throw .signature
        }
        application = key.application
        recipient = try Self.recipient(Self.object(Base64URL.decode(parts[1])), key.application, at: now)
    }

    /// Checks the claims.
    private static func recipient(
        _ claims: JSONValue?,
        _ application: String,
        at now: Timestamp
    ) throws(Refusal) -> String {
        guard let claims, let recipient = claims["sub"]?.stringValue, !recipient.isEmpty,
            let issued = claims["iat"]?.doubleValue, let end = claims["exp"]?.doubleValue
        else { throw .claims }
        switch claims["aud"] {
        case nil: break
        case .string(let name)?: guard name.hasSameUTF8(as: application) else { throw .audience }
        case .array(let names)?:
            guard names.contains(where: { $0.stringValue?.hasSameUTF8(as: application) == true }) else {
                throw .audience
            }
        default: throw .claims
        }
        guard end - issued <= longestLife else { throw .life }
        var begin = issued
        if let notBefore = claims["nbf"] {
            guard let notBefore = notBefore.doubleValue else { throw .claims }
            begin = max(begin, notBefore)
        }
        let seconds = Double(now.rawValue) / 1_000
        guard begin <= seconds + clockTolerance else { throw .notYet }
        guard seconds < end else { throw .expired }
        return recipient
    }

    /// A JSON object whose members are there once: another reader could see another one of two.
    private static func object(_ bytes: [UInt8]?) -> JSONValue? {
        guard let bytes, let value = try? JSONValue.parse(bytes, maximumDepth: 4), let members = value.objectValue,
            Set(members.map { Array($0.name.utf8) }).count == members.count
        else { return nil }
        return value
    }
}
