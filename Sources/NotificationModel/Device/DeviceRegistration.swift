/// A recipient's device as an app or a gateway registered it: a value of the topic `devices`. The record's key is a
/// ``NotificationKey`` with the device as the identifier; a null value means that the device is gone.
public struct DeviceRegistration: Sendable, Hashable {
    /// Which servers of the platform know the token. Tokens of one are of no use to the other.
    public enum Environment: String, CaseIterable, Sendable, Hashable {
        /// Apps from a store.
        case production
        /// Apps from a developer's machine.
        case development
    }

    /// Whose token it is: `apns` or another name of 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`.
    public let platform: String
    /// What the platform calls the device, in its normal form: for `apns` 16 to 100 bytes in lower-case hexadecimal, or the id of a
    /// broadcast channel, for `webpush` a ``PushSubscription``, for others 1 to 4,096 printable characters of ASCII as they came.
    public let token: String
    /// What the token is for; ``TokenKind/device`` with platforms other than `apns`.
    public var kind: TokenKind
    /// Which Live Activities it is for; of the kinds ``TokenKind/liveActivity`` and ``TokenKind/liveActivityStart``.
    public var liveActivity: LiveActivityToken?
    /// The platform's servers that know the token.
    public var environment: Environment?
    /// The app's bundle identifier, 1 to 256 bytes.
    public var bundleIdentifier: String?
    /// The person's language and region as in BCP 47 (`zh-Hans-CN`; `_` as well as `-`), 1 to 64 bytes.
    public var locale: String?
    /// The device's time zone by its name in the IANA database, 1 to 64 bytes.
    public var timeZone: String?
    /// The app's version, 1 to 64 bytes.
    public var appVersion: String?
    /// What the person has allowed; authorized when the registration does not say, because a gateway may not know.
    public var authorizationStatus = AuthorizationStatus.authorized
    /// The app's notification settings on the device.
    public var settings = DeviceSettings()
    /// When the app obtained the token, by the device's clock; else when the service accepted the registration.
    public var registeredAt: Timestamp?

    /// A registration with the fields that every one has; set the others afterwards.
    ///
    /// Throws `invalid` at `platform`, also for a kind that the platform does not have, at `token`, or at a member of a subscription
    /// such as `token.keys.auth`.
    ///
    /// - Parameters:
    ///   - platform: `apns` or another name.
    ///   - token: the token in any of the forms that are normalised.
    ///   - kind: what it is for.
    public init(platform: String, token: String, kind: TokenKind = .device) throws(ModelError) {
        try self.init(platform: platform, token: token, kind: kind, isKept: false)
    }

    /// - Parameter isKept: the token was accepted before.
    init(platform: String, token: String, kind: TokenKind, isKept: Bool) throws(ModelError) {
        guard (1...ModelLimits.platformBytes).contains(platform.utf8.count), platform.utf8.allSatisfy(Self.isNameByte)
        else {
            throw ModelError(
                .invalid,
                field: "platform",
                "must be a name of 1 to \(ModelLimits.platformBytes) of a-z, 0-9, '.', '_' and '-', such as apns"
            )
        }
        if kind != .device, platform != DeviceToken.apns, !isKept {
            throw ModelError(.invalid, field: "platform", "must be apns: only Apple has the kind \(kind.rawValue)")
        }
        (self.platform, self.kind) = (platform, kind)
        self.token =
            kind == .broadcastChannel
            ? try DeviceToken.channel(token)
            : try DeviceToken.normalized(token, platform: platform, isKept: isKept)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }

    /// Whether a token, as a channel or a gateway spells it, is this device's.
    public func hasToken(_ other: String) -> Bool {
        if token.hasSameUTF8(as: other) { return true }
        guard let own = DeviceToken.hexadecimal(token), let given = DeviceToken.hexadecimal(other) else { return false }
        return own.hasSameUTF8(as: given)
    }

    /// The key of the token in the topic `tokens`: SHA-256 over application, platform and token, each preceded by its
    /// length in bytes (4 bytes, big-endian), as 64 lower-case hexadecimal digits.
    public func tokenHash(application: String) -> String { DeviceToken.hash(application, platform, token) }

    /// Checks what needs a database and a clock.
    ///
    /// Throws `invalid` at `timeZone` for a zone that the database does not have, `in-future` at `registeredAt` when it
    /// is further ahead than ``Timestamp/deviceClockTolerance``.
    ///
    /// - Parameters:
    ///   - zones: the known zones; nil accepts every name.
    ///   - now: the service's clock.
    public func check(zones: TimeZoneDatabase?, at now: Timestamp) throws(ModelError) {
        if let timeZone, let zones, !zones.contains(timeZone) {
            throw ModelError(
                .invalid,
                field: "timeZone",
                "is not in the time zone database \(zones.version): use a name such as Europe/Berlin"
            )
        }
        try registeredAt?.checkDeviceClock("registeredAt", at: now)
    }
}
