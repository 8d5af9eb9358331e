import NIOCore
import ServiceHTTP

/// Finds the addresses of a URL's host to which the policy allows a connection.
struct GuardedHosts: Sendable {
    let policy: EgressPolicy
    let hosts: HostAddresses

    /// - Parameters:
    ///   - url: That the policy allows.
    ///   - progress: Of the request that needs them.
    /// - Throws: The failure of the look-up, or `address-refused`.
    func addresses(of url: EgressURL, _ progress: DownloadProgress) async throws(FetchFailure) -> [IPAddress] {
        progress.enter(.resolving)
        let addresses: [IPAddress]
        do {
            addresses = try await hosts.addresses(of: url)
        } catch {
            throw FetchFailure(error)
        }
        do {
            try policy.check(addresses, of: url)
        } catch {
            progress.report(.resolved(addresses, refusal: error))
            throw FetchFailure(error)
        }
        progress.report(.resolved(addresses, refusal: nil))
        return addresses
    }
}
