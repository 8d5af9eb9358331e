import NotificationModel
import PushSimulation

/// The devices, and the tokens by which APNs knows their apps.
struct DeviceRegistry: Sendable {
    /// Devices, and tokens, at most: more are refused.
    static let capacity = 1_000_000
    /// Bytes of a token.
    static let tokenBytes = 16...100

    /// A token, as APNs knows it.
    struct Token: Sendable {
        var device: String
        /// The topic of its pushes, with the suffix of their type.
        var topic: String
        var environment: DeviceRegistration.Environment
        /// The Live Activity whose token it is.
        var activity: String?
        /// When it ended.
        var ended: End?
        fileprivate var window: RateWindow?

        struct End: Sendable, Hashable {
            /// The `timestamp` of the answer.
            var at: Timestamp
            /// Until then APNs goes on accepting: it tells late what has gone.
            var toldFrom: Timestamp
        }
    }

    /// How often a token may be used before APNs says `TooManyRequests`.
    struct Rate: Sendable, Hashable {
        /// 1 to 1,000,000.
        let pushes: Int
        /// 1 to 86,400.
        let seconds: Int

        init(pushes: Int, seconds: Int) throws(APNsSimulatorError) {
            guard (1...1_000_000).contains(pushes), (1...86_400).contains(seconds) else {
                throw APNsSimulatorError("a token's rate is 1 to 1000000 pushes in 1 to 86400 seconds")
            }
            (self.pushes, self.seconds) = (pushes, seconds)
        }
    }

    fileprivate struct RateWindow: Sendable {
        var begin: Timestamp
        var pushes: Int
    }

    /// Where an accepted push goes.
    enum Destination: Sendable {
        case device(String, activity: String?)
        /// Nowhere: the token is not known, or has ended and APNs does not say so.
        case nowhere
    }

    private(set) var devices: [String: SimulatedDevice] = [:] { didSet { revision &+= 1 } }
    /// Another one after each change of the devices.
    private(set) var revision = 0
    private(set) var tokens: [String: Token] = [:]
    /// Whether a token that nobody registered is accepted, too; what is sent to it is dropped.
    var acceptsUnknownTokens = false
    /// Nil: as often as one likes. Apple tells no figure.
    var rate: Rate?

    // MARK: Registering

    /// An app gets a token. One that has ended is good again.
    ///
    /// - Parameters:
    ///   - token: Hexadecimal digits.
    ///   - activity: The Live Activity whose token it is; it begins if the device has none with this id.
    ///   - channel: The broadcasts that a new activity gets.
    mutating func register(
        _ token: String,
        device: String,
        topic: String,
        environment: DeviceRegistration.Environment,
        activity: String? = nil,
        channel: String? = nil
    ) throws(APNsSimulatorError) {
        guard let token = Self.normalized(token[...]) else {
            throw APNsSimulatorError(
                "a token has \(Self.tokenBytes.lowerBound) to \(Self.tokenBytes.upperBound) bytes in hexadecimal"
            )
        }
        guard tokens.count < Self.capacity || tokens[token] != nil else {
            throw APNsSimulatorError("there are \(Self.capacity) tokens already: remove devices")
        }
        guard activity == nil || PushType.ofSuffix(topic) == .liveactivity else {
            throw APNsSimulatorError("the topic of a Live Activity ends in \(PushType.liveactivity.topicSuffix)")
        }
        try add(device)
        tokens[token] = Token(device: device, topic: topic, environment: environment, activity: activity)
        devices[device]?.install(PushType.bundleIdentifier(of: topic))
        if let activity, devices[device]?.activities.contains(where: { $0.id == activity && !$0.hasEnded }) == false {
            devices[device]?.begin(
                LiveActivity(id: activity, topic: topic, attributesType: nil, token: token, channel: channel)
            )
        }
    }

    /// Makes a device, if it is not there.
    mutating func add(_ device: String) throws(APNsSimulatorError) {
        guard devices[device] == nil else { return }
        guard devices.count < Self.capacity else {
            throw APNsSimulatorError("there are \(Self.capacity) devices already: remove some")
        }
        devices[device] = SimulatedDevice(name: device)
    }

    /// The device and its tokens are as if they had never been.
    ///
    /// - Returns: False when it is not there.
    mutating func remove(_ device: String) -> Bool {
        guard devices.removeValue(forKey: device) != nil else { return false }
        tokens = tokens.filter { $0.value.device != device }
        return true
    }

    mutating func removeAll() { (devices, tokens) = ([:], [:]) }

    /// The tokens of a device.
    func tokens(of device: String) -> [(token: String, registration: Token)] {
        tokens.filter { $0.value.device == device }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// A token ends.
    ///
    /// - Parameter delay: How long APNs goes on accepting what is sent to it, in seconds.
    /// - Returns: False when it is not the device's.
    mutating func end(_ token: String, of device: String, toldAfter delay: Int64, at now: Timestamp) -> Bool {
        guard let token = Self.normalized(token[...]), tokens[token]?.device == device else { return false }
        tokens[token]?.ended = .init(at: now, toldFrom: Timestamp(rawValue: now.rawValue + delay * 1_000))
        return true
    }

    /// An app is uninstalled: its tokens end.
    ///
    /// - Returns: False without such an app.
    mutating func uninstall(
        _ bundleIdentifier: String,
        from device: String,
        toldAfter delay: Int64,
        at now: Timestamp
    ) -> Bool {
        guard devices[device]?.bundleIdentifiers.contains(bundleIdentifier) == true else { return false }
        devices[device]?.uninstall(bundleIdentifier)
        for (token, registration) in tokens(of: device)
        where PushType.bundleIdentifier(of: registration.topic) == bundleIdentifier && registration.ended == nil {
            _ = end(token, of: device, toldAfter: delay, at: now)
        }
        return true
    }

    // MARK: The device's own doing

    /// - Returns: False without such a device or app.
    mutating func setForceQuit(_ isForceQuit: Bool, _ bundleIdentifier: String, on device: String) -> Bool {
        devices[device]?.setForceQuit(isForceQuit, bundleIdentifier) ?? false
    }

    /// The app sets the number on its icon.
    ///
    /// - Returns: False without such a device or app.
    mutating func setBadge(_ badge: Int, _ bundleIdentifier: String, on device: String) -> Bool {
        devices[device]?.setBadge(badge, bundleIdentifier) ?? false
    }

    /// The person takes a notification away, or opens it.
    ///
    /// - Parameter id: Only if it is from this push; nil for any.
    /// - Returns: False when the device does not show it.
    mutating func dismiss(
        _ identifier: String,
        from id: String?,
        of bundleIdentifier: String,
        on device: String
    ) -> Bool {
        devices[device]?.dismiss(identifier, from: id, of: bundleIdentifier) ?? false
    }

    /// The device loses its connection, or has it again and gets what is stored.
    ///
    /// - Returns: False when it is not there.
    mutating func setOnline(
        _ isOnline: Bool,
        _ device: String,
        at now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) -> Bool {
        guard devices[device] != nil else { return false }
        guard isOnline else {
            devices[device]?.goOffline()
            return true
        }
        for push in devices[device]?.goOnline(at: now) ?? [] { deliver(push, to: device, at: now, using: &generator) }
        return true
    }

    // MARK: Pushes

    /// Finds the device of a token.
    ///
    /// - Parameter token: As it came in the path.
    mutating func destination(
        of token: Substring,
        headers: PushHeaders,
        environment: DeviceRegistration.Environment,
        at now: Timestamp
    ) throws(Refusal) -> Destination {
        guard let token = Self.normalized(token) else { throw Refusal(.badDeviceToken) }
        guard let known = tokens[token] else {
            guard acceptsUnknownTokens else { throw Refusal(.badDeviceToken) }
            return .nowhere
        }
        guard known.environment == environment else { throw Refusal(.badDeviceToken) }
        guard known.topic == headers.topic else { throw Refusal(.deviceTokenNotForTopic) }
        if let rate { try count(token, rate, headers, at: now) }
        if let end = known.ended {
            // APNs never tells of the token of an activity that it has ended.
            guard known.activity == nil, now >= end.toldFrom else { return .nowhere }
            throw Refusal(.unregistered, timestamp: end.at)
        }
        return .device(known.device, activity: known.activity)
    }

    /// Updates of Live Activities that need not be shown at once are not counted.
    private mutating func count(
        _ token: String,
        _ rate: Rate,
        _ headers: PushHeaders,
        at now: Timestamp
    ) throws(Refusal) {
        if headers.type == .liveactivity, headers.priority != .immediate { return }
        var window = tokens[token]?.window ?? RateWindow(begin: now, pushes: 0)
        if now.rawValue - window.begin.rawValue >= Int64(rate.seconds) * 1_000 {
            window = RateWindow(begin: now, pushes: 0)
        }
        guard window.pushes < rate.pushes else { throw Refusal(.tooManyRequests) }
        window.pushes += 1
        tokens[token]?.window = window
    }

    /// Delivers to the device, or stores.
    mutating func deliver(
        _ push: Push,
        to device: String,
        at now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) {
        guard devices[device]?.isOnline == true else {
            devices[device]?.store(push)
            return
        }
        var begun: (id: String, token: String)?
        devices[device]?.receive(push, at: now) {
            let new = (Self.identifier(using: &generator), Self.token(using: &generator))
            begun = new
            return new
        }
        if let begun, tokens.count < Self.capacity {
            tokens[begun.token] = Token(
                device: device,
                topic: push.headers.topic,
                environment: push.environment,
                activity: begun.id
            )
        }
    }

    /// The devices with an activity that gets the broadcasts of a channel, and the activity.
    func subscribers(
        of channel: String,
        topic: String,
        _ environment: DeviceRegistration.Environment
    ) -> [(device: String, activity: String)] {
        devices.values.flatMap { device in
            device.activities.filter { activity in
                activity.channel == channel && activity.topic == topic && !activity.hasEnded
                    && tokens[activity.token]?.environment == environment
            }.map { (device.name, $0.id) }
        }
    }

    // MARK: Texts

    /// Lower-case digits; nil for what is no token.
    static func normalized(_ token: Substring) -> String? {
        let count = token.utf8.count
        guard count.isMultiple(of: 2), tokenBytes.contains(count / 2) else { return nil }
        var isLower = true
        for byte in token.utf8 {
            switch byte {
            case 0x30...0x39, 0x61...0x66: continue
            case 0x41...0x46: isLower = false
            default: return nil
            }
        }
        return isLower ? String(token) : token.lowercased()
    }

    /// A token of 32 bytes, as devices have today.
    static func token(using generator: inout some RandomNumberGenerator) -> String {
        hexadecimal((0..<4).map { _ in generator.next() as UInt64 })
    }

    /// A UUID of version 4 in lower case.
    static func identifier(using generator: inout some RandomNumberGenerator) -> String {
        let high = generator.next() & ~0xF000 | 0x4000
        let low = generator.next() & ~(0b11 << 62) | 0b10 << 62
        var text: [UInt8] = []
        UUIDValue(high: high, low: low).write(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    private static func hexadecimal(_ words: [UInt64]) -> String {
        words.map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
