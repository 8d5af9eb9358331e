import NIOCore
import NIOPosix
import NotificationModel
public import PushSimulation
import Synchronization

/// A server that behaves as Firebase Cloud Messaging (HTTP v1) does, with its token service and its bad days: for tests of whatever
/// sends messages.
///
/// ```swift
/// let simulator = try await FCMSimulator.start(FCMSimulatorConfiguration(directory: "/tmp/fcm"))
/// try simulator.register("phone:token", device: "phone", package: "com.example.shop")
/// // The client has simulator.accountFile, trusts simulator.authorityFile, and connects to simulator.port.
/// simulator.device("phone")?.shown(by: "com.example.shop")
/// await simulator.stop()
/// ```
public final class FCMSimulator: Sendable {
    /// The port that stands for `fcm.googleapis.com`.
    public let port: Int
    /// The port of the token service (`/token`) and the control interface.
    public let controlPort: Int
    /// The PEM file of the certificate authority, which clients must trust.
    public let authorityFile: String
    /// The key file of the service account that the simulator has made.
    public let accountFile: String

    private let core: FCMSimulatorCore
    private let listener: any Channel
    private let control: ControlServer
    private let directory: String

    private init(
        _ core: FCMSimulatorCore,
        _ listener: any Channel,
        _ control: ControlServer,
        _ authority: CertificateAuthority,
        directory: String,
        accountFile: String
    ) {
        (self.core, self.listener, self.control, self.directory) = (core, listener, control, directory)
        (authorityFile, self.accountFile) = (authority.authorityFile, accountFile)
        port = listener.localAddress?.port ?? 0
        controlPort = control.port
    }

    /// Starts a simulator; it serves until it is stopped.
    ///
    /// - Throws: ``SimulatorError`` for what cannot be used, and when a port is taken.
    public static func start(_ configuration: FCMSimulatorConfiguration) async throws -> FCMSimulator {
        try check(configuration)
        var state = FCMSimulatorState(seed: configuration.seed ?? .random(in: .min ... .max))
        state.quotas = (configuration.messagesPerMinute, configuration.messagesPerDeviceAndMinute)
        state.acceptsUnknownTokens = configuration.acceptsUnknownTokens
        state.roundTrip = configuration.roundTrip
        state.tokenService.lifetime = configuration.tokenLifetime
        let (directory, project) = (configuration.directory, configuration.project)
        let accountFile = "\(directory)/service-account.json"
        // Files and numbers of many digits: not for the threads of others.
        let (authority, account, tls) = try await NIOThreadPool.singleton.runIfActive {
            let authority = try CertificateAuthority(
                directory: directory,
                name: "FCM simulator",
                hosts: ["fcm.googleapis.com"]
            )
            let former = SimulatorFiles.read(accountFile).flatMap { SimulatedAccount(json: $0, project: project) }
            let account = try former ?? SimulatedAccount(project: project, keyID: "simulated-1", key: .generate())
            return (authority, account, try HTTP2ServerListener.tls(authority))
        }
        state.tokenService.add(account)
        let core = FCMSimulatorCore(state, project: project, now: configuration.now)
        let streams = configuration.streams
        let listener = try await HTTP2ServerListener(core.connections, tls) {
            ServerBehaviour(keptBytes: 64 << 10, streamsViolated: "exceeded_max_concurrent_streams")
        } connection: { _, _ in
            FCMConnection(core, streams: streams)
        }.bind(host: configuration.host, port: configuration.port)
        do {
            let routes = FCMControlRoutes(core: core, directory: directory).all
            let control = try await ControlServer.start(routes, of: "FCM simulator", port: configuration.controlPort)
            core.state.withLock { $0.tokenService.url = Self.tokenURL(control.port) }
            try SimulatorFiles.write(
                try account.json(tokenURL: Self.tokenURL(control.port)),
                to: accountFile,
                isSecret: true
            )
            return FCMSimulator(core, listener, control, authority, directory: directory, accountFile: accountFile)
        } catch {
            try? await listener.close()
            throw error
        }
    }

    private static func check(_ configuration: FCMSimulatorConfiguration) throws(SimulatorError) {
        for (name, value, range) in [
            ("messagesPerMinute", configuration.messagesPerMinute, 1...100_000_000),
            ("messagesPerDeviceAndMinute", configuration.messagesPerDeviceAndMinute, 1...100_000_000),
            ("streams", configuration.streams, 1...10_000),
            ("tokenLifetime", Int(clamping: configuration.tokenLifetime), 1...86_400),
        ] where !range.contains(value) {
            throw SimulatorError("\(name) must be from \(range.lowerBound) to \(range.upperBound)")
        }
    }

    private static func tokenURL(_ port: Int) -> String { "http://\(ControlServer.host):\(port)/token" }

    /// Stops: no more connections, and GOAWAY to those that are open. What was processed is answered first, for a second
    /// at most.
    public func stop() async {
        try? await listener.close()
        await control.stop()
        await core.connections.stop([])
    }

    // MARK: - Accounts and devices

    /// Makes a service account of another project.
    ///
    /// - Returns: Its key file.
    public func makeAccount(project: String) async throws -> String {
        try await FCMControlRoutes(core: core, directory: directory).makeAccount(project)
    }

    /// Disables the service account of a project, whose access tokens end, or enables it again.
    ///
    /// - Returns: False when there is none.
    @discardableResult
    public func setDisabled(_ isDisabled: Bool, project: String) -> Bool {
        core.state.withLock { $0.tokenService.setDisabled(isDisabled, project: project) }
    }

    /// Ends all access tokens: clients must get others.
    public func endAccessTokens() { core.state.withLock { $0.tokenService.endTokens() } }

    /// An app on a device gets a token or an installation id. One that has ended is good again.
    ///
    /// - Parameters:
    ///   - token: 1 to 4,096 printable characters of ASCII.
    ///   - device: Its name; it is made if it is not there.
    ///   - package: Of the app.
    ///   - project: Whose token it is; nil for that of the configuration.
    public func register(
        _ token: String,
        device: String,
        package: String,
        project: String? = nil
    ) throws(SimulatorError) {
        try core.state.withLock { state throws(SimulatorError) in
            try state.devices.register(token, device: device, package: package, project: project ?? core.project)
        }
    }

    /// A device as it is now; nil when there is none with this name.
    public func device(_ name: String) -> AndroidDevice? { core.state.withLock { $0.devices.devices[name] } }

    /// The device loses its connection, or has it again and gets what FCM has stored for it.
    ///
    /// - Returns: False when there is none with this name.
    @discardableResult
    public func setOnline(_ isOnline: Bool, _ device: String) -> Bool {
        let now = core.now()
        return core.state.withLock { $0.devices.setOnline(isOnline, device, at: now) }
    }

    /// An app is uninstalled: its tokens end.
    ///
    /// - Returns: False without such a device or app.
    @discardableResult
    public func uninstall(_ package: String, from device: String) -> Bool {
        core.state.withLock { $0.devices.uninstall(package, from: device) }
    }

    // MARK: - Faults

    /// Sets a fault; replaces one with the same name.
    public func setFault(_ name: String, _ fault: FCMFault) throws(SimulatorError) {
        try core.state.withLock { state throws(SimulatorError) in try state.faults.set(name, fault) }
    }

    /// Clears a fault, or all.
    public func clearFault(_ name: String? = nil) {
        core.state.withLock { if let name { _ = $0.faults.clear(name) } else { $0.faults.clear() } }
    }

    /// The messages of a project, and to a device, in a minute before `QUOTA_EXCEEDED`.
    public func setQuotas(project: Int, device: Int) { core.state.withLock { $0.quotas = (project, device) } }

    /// The time between a request's end and its answer.
    public func setRoundTrip(_ time: Duration) { core.state.withLock { $0.roundTrip = time } }

    /// What was counted.
    public var statistics: FCMStatistics { core.state.withLock { $0.statistics } }

    /// The numbers of the open connections.
    public var connections: [Int] { core.connections.numbers }

    /// Closes a connection, whatever is open on it.
    ///
    /// - Returns: False when there is none with this number.
    @discardableResult
    public func cut(_ connection: Int) async -> Bool { await core.connections.on(connection) { $0.cut() } != nil }
}
