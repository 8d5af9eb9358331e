package import NIOCore

/// Finds the addresses of a URL's host to which the policy allows a connection.
package struct GuardedHosts: Sendable {
    package let policy: EgressPolicy
    private let hosts: HostAddresses

    /// - Parameters:
    ///   - policy: Which hosts and addresses are allowed.
    ///   - hosts: Looks them up.
    package init(policy: EgressPolicy, hosts: HostAddresses) { (self.policy, self.hosts) = (policy, hosts) }

    /// - Parameters:
    ///   - url: That the policy allows.
    ///   - application: On whose behalf.
    ///   - deadline: When they are needed.
    ///   - observer: Follows the request that needs them.
    /// - Returns: At least one, in the order in which to try them; if one is refused, all are.
    /// - Throws: The failure of the look-up, or `address-refused`.
    package func addresses(
        of url: EgressURL,
        for application: String = "",
        by deadline: NIODeadline = .distantFuture,
        _ observer: (any ExchangeObserver)? = nil
    ) async throws(OutboundFailure) -> [IPAddress] {
        observer?.enter(.resolving)
        let addresses: [IPAddress]
        do {
            addresses = try await hosts.addresses(of: url, for: application, by: deadline)
        } catch {
            throw OutboundFailure(error)
        }
        do {
            try policy.check(addresses, of: url)
        } catch {
            observer?.resolved(addresses, refusal: error)
            throw OutboundFailure(error)
        }
        observer?.resolved(addresses, refusal: nil)
        return addresses
    }
}
