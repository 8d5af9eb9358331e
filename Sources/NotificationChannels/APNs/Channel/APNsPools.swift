import NIOCore
import NIOPosix
import NIOSSL
import NotificationConsumer
import NotificationModel
import OutboundHTTP
import ServiceSupport

/// Makes the pools of connections to APNs, all by the same settings.
struct APNsPools: Sendable {
    private let settings: HTTP2Pool.Settings
    private let hosts: GuardedHosts
    private let origins: [DeviceRegistration.Environment: EgressURL]
    private let authorities: [NIOSSLCertificate]
    private let observer: any HTTP2PoolObserver

    /// - Throws: `APNsSettingsError` for a URL that the policy refuses, `EgressPolicyError`.
    init(
        _ configuration: ConsumerServiceConfiguration.APNs,
        _ egress: ConsumerServiceConfiguration.Egress,
        observer: any HTTP2PoolObserver
    ) throws {
        var policy = try egress.policy()
        var origins: [DeviceRegistration.Environment: EgressURL] = [:]
        for environment in DeviceRegistration.Environment.allCases {
            let url = configuration.url(of: environment)
            do throws(EgressRefusal) {
                if configuration.isInternal { policy = try .inside(url) }
                origins[environment] = try policy.check(url)
            } catch {
                throw APNsSettingsError(message: "apns.\(environment.rawValue).url: \(error.detail)")
            }
        }
        var settings = HTTP2Pool.Settings()
        settings.connections = configuration.connections
        settings.waiting = configuration.waiting
        settings.age = .nanoseconds(egress.connectionAge.nanoseconds)
        settings.answerBytes = APNsAnswer.maximumBodyBytes
        settings.openTimeout = .nanoseconds(configuration.timeout.nanoseconds)
        (self.settings, self.origins, self.observer) = (settings, origins, observer)
        authorities = try egress.authorities()
        hosts = GuardedHosts(
            policy: policy,
            hosts: HostAddresses(
                SystemResolver(threads: 1),
                slots: 1,
                timeout: settings.openTimeout,
                lifetime: .seconds(60),
                group: MultiThreadedEventLoopGroup.singleton,
                now: { .now() }
            )
        )
    }

    /// A pool of its own for credentials.
    func sender(
        of credentials: APNsCredentials,
        to environment: DeviceRegistration.Environment
    ) throws -> APNsSenders.Sender {
        guard let origin = origins[environment] else {
            throw APNsSettingsError(message: "apns.\(environment.rawValue).url: is missing")
        }
        var identity: OutboundTLS.Identity?
        if case .certificate(let certificate) = credentials { identity = certificate }
        let pool = try HTTP2Pool(
            settings,
            to: origin,
            hosts: hosts,
            and: authorities,
            identity: identity,
            observer: observer
        )
        return APNsSenders.Sender(credentials, environment, pool, to: origin)
    }
}
