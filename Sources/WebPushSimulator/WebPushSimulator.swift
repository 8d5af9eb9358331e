import NIOCore
import NIOPosix
import NIOSSL
public import NotificationModel
import PushSimulation
import Synchronization

/// How a push service is started.
public struct WebPushSimulatorConfiguration: Sendable {
    /// The port of senders, HTTPS on 127.0.0.1; 0 takes a free one.
    public var port = 0
    /// The port of browsers, WebSocket on 127.0.0.1; 0 takes a free one.
    public var browserPort = 0
    /// The port of the control interface, on 127.0.0.1; 0 takes a free one.
    public var controlPort = 0
    /// Where `ca.pem` is, which senders must trust. Files of an earlier run are used again.
    public var directory: String
    /// Of ids; nil for another one each time.
    public var seed: UInt64?
    /// The wall clock.
    public var now: @Sendable () -> Timestamp = SystemClock.now

    /// - Parameter directory: Made if it is not there.
    public init(directory: String) { self.directory = directory }
}

/// A push service of Web Push that real browsers use: for tests of whatever sends messages (RFC 8030, 8291, 8292).
///
/// Firefox connects with the preferences `dom.push.serverURL` (`ws://127.0.0.1:PORT/`) and
/// `dom.push.testing.allowInsecureServerURL`.
///
/// ```swift
/// let service = try await WebPushSimulator.start(WebPushSimulatorConfiguration(directory: "/tmp/push"))
/// // The sender trusts service.authorityFile, and takes endpoints at service.origin.
/// await service.stop()
/// ```
public final class WebPushSimulator: Sendable {
    private static let host = "127.0.0.1"

    /// Of all endpoints: `https://127.0.0.1:2397`.
    public let origin: String
    /// The port of browsers.
    public let browserPort: Int
    /// The port of the control interface.
    public let controlPort: Int
    /// The PEM file of the certificate authority, which senders must trust.
    public let authorityFile: String

    private let core: PushServiceCore
    private let browsers: any Channel
    private let senders: ControlServer
    private let control: ControlServer

    private init(
        _ core: PushServiceCore,
        _ browsers: any Channel,
        _ senders: ControlServer,
        _ control: ControlServer,
        authorityFile: String
    ) {
        (self.core, self.browsers, self.senders, self.control) = (core, browsers, senders, control)
        (origin, controlPort, self.authorityFile) = (core.audience, control.port, authorityFile)
        browserPort = browsers.localAddress?.port ?? 0
    }

    /// Starts a push service; it serves until it is stopped.
    ///
    /// - Throws: ``SimulatorError`` for what cannot be used, and when a port is taken.
    public static func start(_ configuration: WebPushSimulatorConfiguration) async throws -> WebPushSimulator {
        let directory = configuration.directory
        // Files are not for the threads of others.
        let (authority, tls) = try await NIOThreadPool.singleton.runIfActive {
            let authority = try CertificateAuthority(directory: directory, name: "Web Push simulator", hosts: [])
            return (authority, try NIOSSLContext(configuration: authority.serverConfiguration(["http/1.1"])))
        }
        let state = PushServiceState(seed: configuration.seed ?? .random(in: .min ... .max))
        let core = PushServiceCore(state, now: configuration.now)
        let routes = PushServiceRoutes(core: core)
        let senders = try await ControlServer.start(
            routes.ofSenders,
            of: "Web Push simulator",
            port: configuration.port,
            tls: tls
        )
        core.listens(at: "https://\(host):\(senders.port)")
        do {
            let browsers = try await core.listen(host: host, port: configuration.browserPort)
            do {
                let control = try await ControlServer.start(
                    routes.ofControl,
                    of: "Web Push simulator",
                    port: configuration.controlPort
                )
                return WebPushSimulator(core, browsers, senders, control, authorityFile: authority.authorityFile)
            } catch {
                try? await browsers.close()
                throw error
            }
        } catch {
            await senders.stop()
            throw error
        }
    }

    /// Stops: no more connections, and the end of those that are open.
    public func stop() async {
        core.setOnline(false)
        try? await browsers.close()
        await senders.stop()
        await control.stop()
    }

    /// All browsers lose their connections, and get none until they may connect again.
    public func setOnline(_ isOnline: Bool) { core.setOnline(isOnline) }

    /// What was counted.
    public var statistics: WebPushStatistics { core.state.withLock { $0.statistics } }
}
