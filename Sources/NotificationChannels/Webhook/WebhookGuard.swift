import NIOCore
import ServiceHTTP

/// Finds the addresses of the endpoint to which a connection may go.
struct WebhookGuard: Sendable {
    private let url: EgressURL
    private let policy: EgressPolicy
    private let hosts: HostAddresses

    /// - Parameters:
    ///   - url: Of the endpoint.
    ///   - policy: Which hosts and addresses are allowed.
    ///   - hosts: Looks the endpoint up.
    /// - Throws: The refusal of the URL.
    init(url: String, policy: EgressPolicy, hosts: HostAddresses) throws(EgressRefusal) {
        (self.policy, self.hosts) = (policy, hosts)
        self.url = try policy.check(url)
    }

    /// For each connection, since the endpoint may move; if one address is refused, all are.
    ///
    /// - Parameter deadline: When they are needed.
    /// - Returns: At least one, in the order in which to try them.
    /// - Throws: `EgressRefusal` or `ResolutionFailure`.
    func addresses(by deadline: NIODeadline) async throws -> [IPAddress] {
        let addresses = try await hosts.addresses(of: url, by: deadline)
        try policy.check(addresses, of: url)
        return addresses
    }
}
