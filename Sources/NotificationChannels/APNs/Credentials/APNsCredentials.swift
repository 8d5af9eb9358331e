package import OutboundHTTP

/// What a provider shows APNs who it is. One connection serves one of them.
package enum APNsCredentials: Sendable {
    /// Tokens of a key: for all push types.
    case tokens(ProviderTokens)
    /// A certificate, for the topics that it lists.
    case certificate(OutboundTLS.Identity)

    /// Whether both are the same, so that their connections can be shared.
    package func isSame(as other: APNsCredentials) -> Bool {
        switch (self, other) {
        case (.tokens(let one), .tokens(let other)): one === other || one.isSame(as: other)
        case (.certificate(let one), .certificate(let other)): one == other
        case (.tokens, .certificate), (.certificate, .tokens): false
        }
    }
}
