/// Finds the addresses of a host.
package protocol HostResolver: Sendable {
    /// - Parameter host: A name in lower case, without a dot at the end.
    /// - Returns: The addresses in the order in which to try them; not judged yet.
    /// - Throws: Any error when the host cannot be resolved.
    func addresses(of host: String) async throws -> [IPAddress]
}
