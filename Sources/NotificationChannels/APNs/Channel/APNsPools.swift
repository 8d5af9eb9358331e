import NIOCore
import NIOPosix
import NIOSSL
import NotificationConsumer
import NotificationModel
import OutboundHTTP
import ServiceSupport

/// Makes the pools of connections to APNs, all by the same settings.
struct APNsPools: Sendable {
    /// The servers of an environment, and which of their addresses are allowed.
    private struct Server: Sendable {
        let origin: EgressURL
        let hosts: GuardedHosts
    }

    private let settings: HTTP2Pool.Settings
    private let servers: [DeviceRegistration.Environment: Server]
    private let authorities: [NIOSSLCertificate]
    /// Of all that show no certificate.
    private let tls: OutboundTLS.Client
    /// Of all pools: with many keys a network that has failed would get as many connections at once when it works again.
    private let rate = HTTP2OpenRate(perSecond: 20, atOnce: 40)
    private let observer: any HTTP2PoolObserver

    /// - Throws: `APNsSettingsError` for a URL that the policy refuses, `EgressPolicyError`.
    init(
        _ configuration: ConsumerServiceConfiguration.APNs,
        _ egress: ConsumerServiceConfiguration.Egress,
        observer: any HTTP2PoolObserver
    ) throws {
        var settings = HTTP2Pool.Settings()
        settings.connections = configuration.connections
        settings.waiting = configuration.waiting
        settings.age = .nanoseconds(egress.connectionAge.nanoseconds)
        settings.answerBytes = APNsAnswer.maximumBodyBytes
        settings.openTimeout = .nanoseconds(configuration.timeout.nanoseconds)
        var servers: [DeviceRegistration.Environment: Server] = [:]
        for environment in DeviceRegistration.Environment.allCases {
            servers[environment] = try Self.server(configuration, environment, egress, settings.openTimeout)
        }
        (self.settings, self.servers, self.observer) = (settings, servers, observer)
        authorities = try egress.authorities()
        tls = try OutboundTLS.Client(and: authorities)
    }

    private static func server(
        _ configuration: ConsumerServiceConfiguration.APNs,
        _ environment: DeviceRegistration.Environment,
        _ egress: ConsumerServiceConfiguration.Egress,
        _ timeout: TimeAmount
    ) throws -> Server {
        let url = configuration.url(of: environment)
        var policy = try egress.policy()
        let origin: EgressURL
        do throws(EgressRefusal) {
            if configuration.isInternal { policy = try .inside(url) }
            origin = try policy.check(url)
        } catch {
            throw APNsSettingsError(message: "apns.\(environment.rawValue).url: \(error.detail)")
        }
        let hosts = HostAddresses(
            SystemResolver(threads: 1),
            slots: 1,
            timeout: timeout,
            lifetime: .seconds(60),
            group: MultiThreadedEventLoopGroup.singleton,
            now: { .now() }
        )
        return Server(origin: origin, hosts: GuardedHosts(policy: policy, hosts: hosts))
    }

    /// A pool of its own for credentials.
    ///
    /// - Parameter sibling: has the same credentials for the other environment.
    func sender(
        of credentials: APNsCredentials,
        to environment: DeviceRegistration.Environment,
        beside sibling: APNsSenders.Sender?
    ) throws -> APNsSenders.Sender {
        guard let server = servers[environment] else {
            throw APNsSettingsError(message: "apns.\(environment.rawValue).url: is missing")
        }
        let tls =
            switch credentials {
            case .tokens: tls
            case .certificate(let identity):
                try sibling?.tls ?? OutboundTLS.Client(and: authorities, identity: identity)
            }
        let pool = HTTP2Pool(
            settings,
            to: server.origin,
            hosts: server.hosts,
            tls: tls,
            sharing: rate,
            observer: observer
        )
        return APNsSenders.Sender(credentials, environment, pool, tls, to: server.origin)
    }
}
