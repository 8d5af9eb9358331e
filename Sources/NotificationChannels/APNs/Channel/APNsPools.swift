import NIOCore
import NIOPosix
import NIOSSL
import NotificationModel
import OutboundHTTP
import ServiceSupport

/// Makes the pools of connections to APNs, all by the same settings.
struct APNsPools: Sendable {
    private let settings: HTTP2Pool.Settings
    private let servers: [DeviceRegistration.Environment: PushServer]
    private let authorities: [NIOSSLCertificate]
    /// Of all that show no certificate.
    private let tls: OutboundTLS.Client
    /// Of all pools: with many keys a network that has failed would get as many connections at once when it works again.
    private let rate = HTTP2OpenRate(perSecond: 20, atOnce: 40)
    private let observer: any HTTP2PoolObserver

    /// - Throws: `PushSettingsError` for a URL that the policy refuses, `EgressPolicyError`.
    init(
        _ configuration: APNsConfiguration,
        _ egress: EgressConfiguration,
        observer: any HTTP2PoolObserver
    ) throws {
        var settings = HTTP2Pool.Settings()
        settings.connections = configuration.connections
        settings.waiting = configuration.waiting
        settings.age = .nanoseconds(egress.connectionAge.nanoseconds)
        settings.answerBytes = APNsAnswer.maximumBodyBytes
        settings.openTimeout = .nanoseconds(configuration.timeout.nanoseconds)
        var servers: [DeviceRegistration.Environment: PushServer] = [:]
        for environment in DeviceRegistration.Environment.allCases {
            servers[environment] = try PushServer(
                configuration.url(of: environment),
                setting: "apns.\(environment.rawValue).url",
                isInternal: configuration.isInternal,
                egress,
                timeout: settings.openTimeout
            )
        }
        (self.settings, self.servers, self.observer) = (settings, servers, observer)
        authorities = try egress.authorities()
        tls = try OutboundTLS.Client(and: authorities)
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
            throw PushSettingsError(message: "apns.\(environment.rawValue).url: is missing")
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
