package import NIOSSL
package import OutboundHTTP

/// Which addresses the service may connect to for media, webhooks and push services: the settings of `EgressPolicy`, which
/// `OutboundHTTP` cannot read itself.
package struct EgressConfiguration: Sendable {
    /// Patterns of hosts; empty for all.
    package var allowedHosts: [String] = []
    /// Patterns of hosts that are refused.
    package var deniedHosts: [String] = []
    /// Networks that are refused, in CIDR notation.
    package var deniedNetworks: [String] = []
    /// Origins that are allowed in spite of their scheme or port.
    package var origins: [String] = []
    /// Origins of media whose host and addresses are not judged.
    package var internalOrigins: [String] = []
    /// A PEM file of authorities that are trusted besides the system's; empty for none.
    package var authoritiesFile = ""
    /// How long a connection serves; then its host's addresses are judged again.
    package var connectionAge = Duration.seconds(300)
    /// Whether translated addresses of a NAT64 network are allowed.
    package var allowsNAT64 = false

    package init() {}

    /// Reads `egress.*`. Problems are recorded in `settings`.
    package init(settings: inout ServiceSettings) {
        allowedHosts = settings.list(
            "egress.hosts.allowed",
            default: [],
            about: """
                The hosts of media and webhooks, such as `cdn.example.com` or `*.example.com`; without it all public ones.
                """
        )
        deniedHosts = settings.list(
            "egress.hosts.denied",
            default: [],
            about: "Hosts that are refused, in the same notation."
        )
        deniedNetworks = settings.list(
            "egress.networks.denied",
            default: [],
            about: """
                Networks that are refused besides those that are not public, such as `161.26.0.0/16`: the public ranges \
                that your provider uses inside belong here.
                """
        )
        origins = settings.list(
            "egress.origins",
            default: [],
            about: """
                Origins that are allowed in spite of their scheme or port, such as `https://cdn.example.com:8443`; their \
                addresses must be public.
                """
        )
        internalOrigins = settings.list(
            "egress.internal-origins",
            default: [],
            about: """
                Origins of media inside your network, such as `http://media.internal:8080`: neither the host nor its \
                addresses are judged. A redirect from elsewhere does not reach them.
                """
        )
        allowsNAT64 = settings.bool(
            "egress.nat64",
            default: false,
            about: "Allows addresses in `64:ff9b::/96` that translate public ones, for networks with NAT64."
        )
        authoritiesFile =
            settings.optionalString(
                "egress.ca.file",
                about: """
                    A PEM file of certificate authorities that are trusted for media, enrichers and webhooks besides those \
                    of the system.
                    """
            ) ?? ""
        connectionAge = settings.duration(
            "egress.connection.age",
            default: connectionAge,
            in: .seconds(1) ... .seconds(24 * 3600),
            about: "How long a connection serves; then the addresses of its host are judged again."
        )
        do throws(EgressPolicyError) {
            _ = try mediaPolicy()
        } catch {
            settings.reject(error.list.key, "\(error.entry): \(error.message)")
        }
        do throws(OutboundTLS.AuthoritiesError) {
            _ = try authorities()
        } catch {
            settings.reject("egress.ca.file", "\(error)")
        }
    }
}

extension EgressConfiguration {
    /// The policy of these settings without internal origins, for webhooks and enrichers: each has its own setting for an
    /// endpoint inside the network.
    ///
    /// - Throws: `EgressPolicyError` that names the entry.
    package func policy() throws(EgressPolicyError) -> EgressPolicy { try policy(internalOrigins: []) }

    /// The policy for media.
    ///
    /// - Throws: `EgressPolicyError` that names the entry.
    package func mediaPolicy() throws(EgressPolicyError) -> EgressPolicy {
        try policy(internalOrigins: internalOrigins)
    }

    /// The policy for subscriptions of Web Push.
    ///
    /// - Parameter internalOrigins: push services inside the network.
    /// - Throws: `EgressPolicyError` that names the entry.
    package func webPushPolicy(internalOrigins: [String]) throws(EgressPolicyError) -> EgressPolicy {
        try policy(internalOrigins: internalOrigins)
    }

    /// The authorities of private certificates; none without a file.
    ///
    /// - Throws: When the file cannot be used.
    package func authorities() throws(OutboundTLS.AuthoritiesError) -> [NIOSSLCertificate] {
        try authoritiesFile.isEmpty ? [] : OutboundTLS.authorities(path: authoritiesFile)
    }

    private func policy(internalOrigins: [String]) throws(EgressPolicyError) -> EgressPolicy {
        try EgressPolicy(
            allowedHosts: allowedHosts,
            deniedHosts: deniedHosts,
            deniedNetworks: deniedNetworks,
            origins: origins,
            internalOrigins: internalOrigins,
            allowsNAT64: allowsNAT64
        )
    }
}

extension EgressPolicyError.List {
    /// The setting.
    fileprivate var key: String {
        switch self {
        case .allowedHosts: "egress.hosts.allowed"
        case .deniedHosts: "egress.hosts.denied"
        case .deniedNetworks: "egress.networks.denied"
        case .origins: "egress.origins"
        case .internalOrigins: "egress.internal-origins"
        }
    }
}
