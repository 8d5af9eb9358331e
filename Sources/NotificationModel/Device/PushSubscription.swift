import COpenSSL

/// A subscription of Web Push: the token of a device whose platform is `webpush`. Browsers and UnifiedPush have the same.
///
/// As the token it is JSON, what `JSON.stringify` makes of a `PushSubscription`:
/// `{"endpoint":"https://…","keys":{"p256dh":"…","auth":"…"}}`. Other members are left out.
public struct PushSubscription: Sendable, Hashable {
    /// The platform of registrations that have one.
    public static let platform = "webpush"
    /// Bytes of an uncompressed point on P-256.
    public static let publicKeyBytes = 65
    /// Bytes of the authentication secret (RFC 8291, 3.2).
    public static let authenticationBytes = 16

    /// Where messages go: `https`, at most ``ModelLimits/endpointBytes`` printable characters of ASCII. Whoever has it can reach
    /// the device.
    public let endpoint: String
    /// The device's public key `p256dh`: 65 bytes, a point on P-256.
    public let publicKey: [UInt8]
    /// The authentication secret `auth`: 16 bytes.
    public let authentication: [UInt8]

    /// Reads a token and checks all of it.
    ///
    /// Throws `invalid` at the member, such as `token.keys.auth`; nothing of it is quoted.
    public init(token: String) throws(ModelError) {
        try self.init(kept: token)
        guard Self.isPoint(publicKey) else {
            throw Self.refused("keys.p256dh", "is not a point on the curve P-256")
        }
    }

    /// Reads a token that was checked when it was registered: its key may be no point.
    ///
    /// Throws as ``init(token:)``.
    package init(kept token: String) throws(ModelError) {
        let parsed: JSONValue
        do throws(ModelError) {
            parsed = try JSONValue.parse(Array(token.utf8), maximumDepth: 4)
        } catch {
            throw Self.refused(nil, "a token of webpush is the JSON of a PushSubscription: endpoint and keys")
        }
        guard parsed.objectValue != nil else {
            throw Self.refused(nil, "a token of webpush is the JSON of a PushSubscription: endpoint and keys")
        }
        guard let endpoint = parsed["endpoint"]?.stringValue else {
            throw Self.refused("endpoint", "is required: the URL of the push service for this device")
        }
        self.endpoint = try Self.checked(endpoint: endpoint)
        publicKey = try Self.bytes(parsed["keys"]?["p256dh"], "keys.p256dh", Self.publicKeyBytes)
        authentication = try Self.bytes(parsed["keys"]?["auth"], "keys.auth", Self.authenticationBytes)
    }

    /// The token in its normal form, by which devices are compared.
    public var token: String {
        var (out, object, keys) = ([UInt8](), JSONObjectWriter(), JSONObjectWriter())
        object.member("endpoint", endpoint, &out)
        object.begin("keys", &out)
        keys.member("p256dh", Base64URL.encode(publicKey), &out)
        keys.member("auth", Base64URL.encode(authentication), &out)
        keys.end(&out)
        object.end(&out)
        return String(decoding: out, as: UTF8.self)
    }

    private static func checked(endpoint: String) throws(ModelError) -> String {
        guard (1...ModelLimits.endpointBytes).contains(endpoint.utf8.count) else {
            throw refused(
                "endpoint",
                "has \(endpoint.utf8.count) bytes, 1 to \(ModelLimits.endpointBytes) are allowed"
            )
        }
        guard endpoint.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw refused("endpoint", "may contain printable characters of ASCII only, without spaces")
        }
        let scheme = "https://"
        guard endpoint.prefix(scheme.count).lowercased() == scheme, endpoint.utf8.count > scheme.utf8.count else {
            throw refused("endpoint", "must begin with https://")
        }
        return endpoint
    }

    private static func bytes(_ value: JSONValue?, _ field: String, _ count: Int) throws(ModelError) -> [UInt8] {
        guard let text = value?.stringValue else { throw refused(field, "is required: \(count) bytes in Base64url") }
        // Browsers write none, libraries do.
        let padding = text.utf8.reversed().prefix(2).prefix { $0 == UInt8(ascii: "=") }.count
        guard let bytes = Base64URL.decode(text.utf8.dropLast(padding)) else {
            throw refused(field, "is not Base64url")
        }
        guard bytes.count == count else { throw refused(field, "has \(bytes.count) bytes, it must have \(count)") }
        return bytes
    }

    private static func refused(_ member: String?, _ detail: String) -> ModelError {
        ModelError(.invalid, field: member.map { "token.\($0)" } ?? "token", detail)
    }

    /// Whether bytes are an uncompressed point on P-256.
    private static func isPoint(_ bytes: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        guard bytes.first == 4, let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else { return false }
        defer { EC_GROUP_free(group) }
        guard let point = EC_POINT_new(group) else { return false }
        defer { EC_POINT_free(point) }
        return EC_POINT_oct2point(group, point, bytes, bytes.count, nil) == 1
    }
}

extension PushSubscription: CustomStringConvertible, CustomReflectable {
    /// Nothing of endpoint and keys.
    public var description: String { "a subscription of Web Push" }

    /// Nothing of endpoint and keys.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
