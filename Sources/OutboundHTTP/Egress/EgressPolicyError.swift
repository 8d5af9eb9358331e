/// An entry of a policy's lists that cannot be used.
package struct EgressPolicyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The parameters of ``EgressPolicy``'s initializer.
    package enum List: String, CaseIterable, Sendable {
        case allowedHosts, deniedHosts, deniedNetworks, origins, internalOrigins
    }

    package let list: List
    /// As given.
    package let entry: String
    /// What is wrong and what to do, to follow the entry.
    package let message: String

    /// `deniedNetworks "10.0.0.1/8": …`.
    package var description: String { "\(list.rawValue) \"\(entry)\": \(message)" }
}
