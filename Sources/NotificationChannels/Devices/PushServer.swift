import NIOCore
import NIOPosix
import OutboundHTTP
import ServiceSupport

/// A server of a push service, and which of its addresses are allowed.
struct PushServer: Sendable {
    let origin: EgressURL
    let hosts: GuardedHosts

    /// - Parameters:
    ///   - url: of the server.
    ///   - setting: that says so, for the error.
    ///   - isInternal: the server is inside the network: its address is not judged.
    ///   - timeout: of a look-up.
    /// - Throws: `PushSettingsError` for a URL that the policy refuses, `EgressPolicyError`.
    init(
        _ url: String,
        setting: String,
        isInternal: Bool,
        _ egress: EgressConfiguration,
        timeout: TimeAmount
    ) throws {
        var policy = try egress.policy()
        do throws(EgressRefusal) {
            if isInternal { policy = try .inside(url) }
            origin = try policy.check(url)
        } catch {
            throw PushSettingsError(message: "\(setting): \(error.detail)")
        }
        let addresses = HostAddresses(
            SystemResolver(threads: 1),
            slots: 1,
            timeout: timeout,
            lifetime: .seconds(60),
            group: MultiThreadedEventLoopGroup.singleton,
            now: { .now() }
        )
        hosts = GuardedHosts(policy: policy, hosts: addresses)
    }
}
