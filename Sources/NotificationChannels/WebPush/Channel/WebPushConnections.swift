import NIOCore
import NIOPosix
import NIOSSL
import OutboundHTTP
import ServiceSupport
import NotificationModel

extension OutboundConnections {
    /// The connections to the push services of subscriptions: addresses are judged, and applications and hosts share them.
    ///
    /// - Parameter policy: which addresses they may have.
    convenience init(
        _ configuration: WebPushConfiguration,
        policy: EgressPolicy,
        _ egress: EgressConfiguration,
        resolver: any HostResolver
    ) throws {
        let timeout = TimeAmount.nanoseconds(configuration.timeout.nanoseconds)
        var settings = Settings()
        settings.bound = configuration.connections
        settings.boundPerHost = max(1, configuration.connections / 2)
        settings.waiting = configuration.waiting
        settings.connectTimeout = timeout
        settings.firstByteTimeout = timeout
        settings.age = .nanoseconds(egress.connectionAge.nanoseconds)
        try self.init(
            settings,
            hosts: GuardedHosts(
                policy: policy,
                hosts: HostAddresses(
                    resolver,
                    slots: Self.lookUps,
                    timeout: timeout,
                    lifetime: .seconds(30),
                    group: MultiThreadedEventLoopGroup.singleton,
                    now: { .now() }
                )
            ),
            and: egress.authorities()
        )
    }

    /// At one time: a subscription may name a host that does not answer.
    static let lookUps = 4
}
