import NIOCore
import NIOPosix
public import NotificationModel
import NIOSSL
public import PushSimulation
import Synchronization

/// A server that behaves as APNs does, with its bad days: for tests of whatever sends pushes.
///
/// ```swift
/// let simulator = try await APNsSimulator.start(APNsSimulatorConfiguration(directory: "/tmp/apns"))
/// try simulator.register("ab12…", device: "phone", topic: "com.example.shop")
/// // The client trusts simulator.authorityFile, and connects to simulator.productionPort.
/// simulator.device("phone")?.shown(by: "com.example.shop")
/// await simulator.stop()
/// ```
public final class APNsSimulator: Sendable {
    /// The port that stands for `api.push.apple.com`.
    public let productionPort: Int
    /// The port that stands for `api.sandbox.push.apple.com`.
    public let developmentPort: Int
    /// The port of the control interface; nil without one.
    public let controlPort: Int?
    /// The PEM file of the certificate authority, which clients must trust.
    public var authorityFile: String { core.authority.authorityFile }
    /// The file of the key that the simulator has made; nil when keys were given.
    public let keyFile: String?

    private let core: SimulatorCore
    private let listeners: [any Channel]
    private let control: ControlServer?

    /// The id and the team of the key that the simulator makes.
    public static let (ownKeyID, ownTeam) = ("CARILLON01", "SIMULATEAM")

    private init(
        core: SimulatorCore,
        listeners: [any Channel],
        control: ControlServer?,
        keyFile: String?
    ) {
        (self.core, self.listeners, self.control) = (core, listeners, control)
        self.keyFile = keyFile
        productionPort = listeners.first?.localAddress?.port ?? 0
        developmentPort = listeners.last?.localAddress?.port ?? 0
        controlPort = control?.port
    }

    /// Starts a simulator; it serves until it is stopped.
    ///
    /// - Throws: ``APNsSimulatorError`` for what cannot be used, and when a port is taken.
    public static func start(_ configuration: APNsSimulatorConfiguration) async throws -> APNsSimulator {
        try configuration.behaviour.check()
        var state = configuration.seed.map { SimulatorState(seed: $0) } ?? SimulatorState()
        state.behaviour = configuration.behaviour
        state.devices.acceptsUnknownTokens = configuration.acceptsUnknownTokens
        if let pushes = configuration.pushesPerToken {
            state.devices.rate = try .init(pushes: pushes, seconds: configuration.tokenRateSeconds)
        }
        for key in configuration.keys { try state.add(key) }
        let hasKeys = !configuration.keys.isEmpty
        let directory = configuration.directory
        // Files and numbers of many digits: not for the threads of others.
        let (authority, ownKey, tls) = try await NIOThreadPool.singleton.runIfActive {
            let authority = try CertificateAuthority(
                directory: directory,
                name: "APNs simulator",
                hosts: Self.hosts
            )
            return (authority, hasKeys ? nil : try OwnKey(directory: directory), try HTTP2ServerListener.tls(authority))
        }
        if let ownKey { try state.add(ownKey.key) }
        let core = SimulatorCore(state, authority, now: configuration.now)
        var listeners: [any Channel] = []
        do {
            for (environment, port) in [
                (DeviceRegistration.Environment.production, configuration.productionPort),
                (.development, configuration.developmentPort),
            ] {
                let listener = listener(environment, core, tls)
                listeners.append(try await listener.bind(host: configuration.host, port: port))
            }
            var control: ControlServer?
            if let port = configuration.controlPort {
                control = try await ControlServer.start(
                    ControlRoutes(core: core).all,
                    of: "APNs simulator",
                    port: port
                )
            }
            return APNsSimulator(
                core: core,
                listeners: listeners,
                control: control,
                keyFile: ownKey?.file
            )
        } catch {
            for listener in listeners { try? await listener.close() }
            throw error
        }
    }

    /// The hosts of Apple, for clients that cannot be told another name.
    private static let hosts = [
        "api.push.apple.com", "api.sandbox.push.apple.com", "api.development.push.apple.com",
    ]

    private static func listener(
        _ environment: DeviceRegistration.Environment,
        _ core: SimulatorCore,
        _ tls: NIOSSLContext
    ) -> HTTP2ServerListener {
        HTTP2ServerListener(core.connections, tls) {
            ServerBehaviour(core.state.withLock { $0.behaviour })
        } connection: { number, certificate in
            let state = ConnectionState(
                number: number,
                environment: environment,
                certificateTopics: certificate.map(CertificateAuthority.topics),
                behaviour: core.state.withLock { $0.behaviour }
            )
            return APNsConnection(core, state)
        }
    }

    /// Stops: no more connections, and GOAWAY to those that are open. What was processed is answered first, for a second
    /// at most.
    public func stop() async {
        for listener in listeners { try? await listener.close() }
        await control?.stop()
        await core.connections.stop(APNsReason.shutdown.json)
    }
}

/// The key that the simulator makes, and its file.
private struct OwnKey: Sendable {
    let key: ProviderKey
    let file: String

    init(directory: String) throws(APNsSimulatorError) {
        file = "\(directory)/AuthKey_\(APNsSimulator.ownKeyID).p8"
        let pem: [UInt8]
        if let old = SimulatorFiles.read(file), P256PrivateKey(pem: old) != nil {
            pem = old
        } else {
            pem = try P256PrivateKey.generate().pem()
            try SimulatorFiles.write(pem, to: file, isSecret: true)
        }
        key = try ProviderKey(id: APNsSimulator.ownKeyID, team: APNsSimulator.ownTeam, pem: pem)
    }
}

// MARK: - Keys, devices, faults

extension APNsSimulator {
    /// Accepts tokens of a key; replaces one with the same id.
    public func add(_ key: ProviderKey) throws(APNsSimulatorError) {
        try core.state.withLock { state throws(APNsSimulatorError) in try state.add(key) }
    }

    /// Accepts no more tokens of a key, also on open connections.
    ///
    /// - Returns: False when there is none with this id.
    @discardableResult
    public func revokeKey(_ id: String) -> Bool {
        core.state.withLock { $0.keys.removeValue(forKey: id) != nil }
    }

    /// The header field `authorization` with a token of one of the keys whose private part is known.
    ///
    /// - Parameter issuedAt: In seconds since 1970; nil for now.
    public func authorization(keyID: String = ownKeyID, issuedAt: Int64? = nil) throws(APNsSimulatorError) -> String {
        guard let key = core.state.withLock({ $0.keys[keyID] }) else {
            throw APNsSimulatorError("there is no key \(keyID)")
        }
        return try key.authorization(issuedAt: issuedAt ?? core.now().rawValue / 1_000)
    }

    /// Makes a client certificate, with which a provider needs no tokens.
    ///
    /// - Parameter bundleIdentifier: The app whose pushes it is good for.
    /// - Returns: The certificate and its key, PEM.
    public func makeCertificate(for bundleIdentifier: String) async throws -> (certificate: [UInt8], key: [UInt8]) {
        try await core.issue(for: bundleIdentifier)
    }

    /// An app on a device gets a token. One that has ended is good again.
    ///
    /// - Parameters:
    ///   - token: 16 to 100 bytes in hexadecimal.
    ///   - device: Its name; it is made if it is not there.
    ///   - topic: The bundle identifier with the suffix of the push type that the token is for.
    ///   - activity: The Live Activity whose token it is.
    ///   - channel: The broadcasts that a new activity gets.
    public func register(
        _ token: String,
        device: String,
        topic: String,
        environment: DeviceRegistration.Environment = .production,
        activity: String? = nil,
        channel: String? = nil
    ) throws(APNsSimulatorError) {
        try core.state.withLock { state throws(APNsSimulatorError) in
            try state.devices.register(
                token,
                device: device,
                topic: topic,
                environment: environment,
                activity: activity,
                channel: channel
            )
        }
    }

    /// Makes a broadcast channel, as `POST /1/apps/<bundle identifier>/channels` does: at most 10,000 of an app.
    ///
    /// - Parameter isStored: Whether the newest message is kept for devices that are offline.
    /// - Returns: Its id.
    public func makeBroadcastChannel(
        for bundleIdentifier: String,
        environment: DeviceRegistration.Environment = .production,
        isStored: Bool = false
    ) throws(APNsSimulatorError) -> String {
        let body = #"{"message-storage-policy":\#(isStored ? 1 : 0),"push-type":"LiveActivity"}"#
        let id = core.state.withLock { state in
            Array(body.utf8).withUnsafeBytes { bytes in
                try? state.channels.create(bundleIdentifier, environment, body: bytes, using: &state.generator)
            }
        }
        guard let id else { throw APNsSimulatorError("there are \(BroadcastChannels.perApp) channels already") }
        return id
    }

    /// Ends a broadcast channel.
    public func removeBroadcastChannel(
        _ id: String,
        of bundleIdentifier: String,
        environment: DeviceRegistration.Environment = .production
    ) {
        core.state.withLock { try? $0.channels.delete(id, bundleIdentifier, environment) }
    }

    /// A device as it is now; nil when there is none with this name.
    public func device(_ name: String) -> SimulatedDevice? { core.state.withLock { $0.devices.devices[name] } }

    /// The device loses its connection, or has it again and gets what APNs has stored for it.
    ///
    /// - Returns: False when there is none with this name.
    @discardableResult
    public func setOnline(_ isOnline: Bool, _ device: String) -> Bool {
        let now = core.now()
        return core.state.withLock { $0.setOnline(isOnline, device, at: now) }
    }

    /// An app is uninstalled: its tokens end.
    ///
    /// - Parameter delay: How long APNs goes on accepting pushes to them, in seconds.
    /// - Returns: False without such a device or app.
    @discardableResult
    public func uninstall(_ bundleIdentifier: String, from device: String, toldAfter delay: Int64 = 0) -> Bool {
        let now = core.now()
        return core.state.withLock {
            $0.devices.uninstall(bundleIdentifier, from: device, toldAfter: delay, at: now)
        }
    }

    /// The person closes an app, or opens it again: a closed one gets no background pushes.
    ///
    /// - Returns: False without such a device or app.
    @discardableResult
    public func setForceQuit(_ isForceQuit: Bool, _ bundleIdentifier: String, on device: String) -> Bool {
        core.state.withLock { $0.devices.setForceQuit(isForceQuit, bundleIdentifier, on: device) }
    }

    /// The person takes a notification away, or opens it.
    ///
    /// - Parameters:
    ///   - identifier: Under which it is shown: `apns-collapse-id`, else `apns-id`.
    ///   - id: Only if it is from the push with this `apns-id`; nil for any.
    /// - Returns: False when the device does not show it.
    @discardableResult
    public func dismiss(
        _ identifier: String,
        from id: String? = nil,
        of bundleIdentifier: String,
        on device: String
    ) -> Bool {
        core.state.withLock { $0.devices.dismiss(identifier, from: id, of: bundleIdentifier, on: device) }
    }

    /// Sets a fault; replaces one with the same name.
    public func setFault(_ name: String, _ fault: Fault) throws(APNsSimulatorError) {
        try core.state.withLock { state throws(APNsSimulatorError) in try state.faults.set(name, fault) }
    }

    /// Clears a fault, or all.
    public func clearFault(_ name: String? = nil) {
        core.state.withLock { if let name { _ = $0.faults.clear(name) } else { $0.faults.clear() } }
    }

    /// Changes how connections behave: new ones, and of open ones the number of streams and the round trip.
    public func setBehaviour(_ behaviour: ConnectionBehaviour) throws(APNsSimulatorError) {
        try behaviour.check()
        core.state.withLock { $0.behaviour = behaviour }
    }

    /// How connections behave.
    public var behaviour: ConnectionBehaviour { core.state.withLock { $0.behaviour } }

    /// What was counted.
    public var statistics: APNsStatistics { core.state.withLock { $0.statistics } }
}

// MARK: - Connections

extension APNsSimulator {
    /// The open connections.
    public var connections: [ConnectionSummary] {
        get async { await core.summaries }
    }

    /// Ends a connection with GOAWAY.
    ///
    /// - Parameter last: The last stream that it says was processed, 0 or odd; nil for the truth.
    /// - Returns: False when there is none with this number.
    @discardableResult
    public func goAway(_ connection: Int, _ reason: APNsReason = .shutdown, after last: Int? = nil) async -> Bool {
        guard last.map(ServerConnections.isStream) ?? true else { return false }
        return await core.connections.on(connection) { $0.goAway(reason.json, after: last) } != nil
    }

    /// Closes a connection, whatever is open on it.
    ///
    /// - Returns: False when there is none with this number.
    @discardableResult
    public func cut(_ connection: Int) async -> Bool { await core.connections.on(connection) { $0.cut() } != nil }

    /// Stops a connection from reading and writing, PINGs too, or lets it go on.
    ///
    /// - Returns: False when there is none with this number.
    @discardableResult
    public func setFrozen(_ isFrozen: Bool, _ connection: Int) async -> Bool {
        await core.connections.on(connection) { $0.setFrozen(isFrozen) } != nil
    }
}
