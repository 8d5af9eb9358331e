import NotificationModel
import ServiceHTTP

/// A message as its sender sends it: the header fields that count, and the body.
struct SentPush: Sendable {
    /// The only encoding of browsers today (RFC 8188, 8291).
    static let encoding = "aes128gcm"
    /// Bytes of a body.
    static let mostBytes = 4_096
    /// How long Mozilla's service keeps a message, in seconds.
    static let longestLife: Int64 = 2_592_000

    var timeToLive: String?
    var topic: String?
    var urgency: String?
    var contentEncoding: String?
    var authorization: String?
    var body: [UInt8]

    struct Checked: Sendable {
        /// In seconds, 0 to ``longestLife``.
        var timeToLive: Int64
        var topic: String?
    }

    /// - Parameters:
    ///   - key: the only one whose messages the subscription takes; nil for any.
    ///   - audience: the origin of the push service.
    func checked(for key: [UInt8]?, audience: String, at now: Timestamp) throws(PushRefusal) -> Checked {
        guard let seconds = timeToLive.flatMap({ Int64($0) }), seconds >= 0 else { throw .missingTimeToLive }
        if let topic {
            guard (1...32).contains(topic.utf8.count), Base64URL.isAlphabet(topic) else { throw .badTopic }
        }
        if let urgency {
            guard ["very-low", "low", "normal", "high"].contains(urgency) else { throw .badField("urgency") }
        }
        guard body.count <= Self.mostBytes else { throw .tooLarge }
        guard body.isEmpty || contentEncoding == Self.encoding else { throw .badEncoding }
        if authorization != nil || key != nil {
            try VAPIDAuthorization.check(authorization, key: key, audience: audience, at: now)
        }
        return Checked(timeToLive: min(seconds, Self.longestLife), topic: topic)
    }
}

extension Base64URL {
    /// Whether a text has only the characters of Base64url.
    fileprivate static func isAlphabet(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}

/// The authorization of a sender (RFC 8292): a token that its key has signed, and the key.
enum VAPIDAuthorization {
    /// The longest life of a token, in seconds.
    private static let longestLife = 86_400.0
    /// What comes before a point on P-256 in a `SubjectPublicKeyInfo` (RFC 5480).
    private static let prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE,
        0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    /// - Parameters:
    ///   - field: `vapid t=…, k=…`.
    ///   - expected: the key of the subscription; nil for any.
    static func check(
        _ field: String?,
        key expected: [UInt8]?,
        audience: String,
        at now: Timestamp
    ) throws(PushRefusal) {
        guard let field, field.lowercased().hasPrefix("vapid ") else { throw .unauthorized("a vapid token is missing") }
        var parameters: [String: Substring] = [:]
        for part in field.dropFirst(6).split(separator: ",") {
            let pair = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { parameters[String(pair[0])] = pair[1] }
        }
        guard let token = parameters["t"], let point = parameters["k"].flatMap({ Base64URL.decode($0.utf8) }) else {
            throw .unauthorized("t and k are needed")
        }
        guard expected.map({ $0 == point }) ?? true else { throw .unauthorized("the subscription is of another key") }
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let key = ECPublicKey(der: prefix + point),
            let header = Base64URL.decode(parts[0]).flatMap({ try? JSONValue.parse($0) }),
            let claims = Base64URL.decode(parts[1]).flatMap({ try? JSONValue.parse($0) }),
            let signature = Base64URL.decode(parts[2]), header["alg"]?.stringValue == "ES256",
            key.verifies(signature, of: Array(parts[0]) + [UInt8(ascii: ".")] + Array(parts[1]))
        else { throw .unauthorized("the signature is wrong") }
        guard claims["aud"]?.stringValue == audience else { throw .unauthorized("aud is not \(audience)") }
        let seconds = Double(now.rawValue) / 1_000
        guard let end = claims["exp"]?.doubleValue, end > seconds, end <= seconds + longestLife else {
            throw .unauthorized("exp is over, or more than a day ahead")
        }
        let subject = claims["sub"]?.stringValue ?? ""
        guard subject.hasPrefix("mailto:") || subject.hasPrefix("https:") else {
            throw .unauthorized("sub is neither mailto: nor https:")
        }
    }
}
