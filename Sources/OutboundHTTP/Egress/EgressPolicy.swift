/// The hosts, ports and addresses to which Carillon may connect when the URL came from outside.
///
/// The same judgement applies to the first URL, to every redirect, and to the addresses at every connection:
///
/// 1. ``check(_:)`` or ``check(location:from:)`` judges the text.
/// 2. The caller resolves the host once.
/// 3. ``check(_:of:)`` judges all addresses; if one is refused, the host is.
/// 4. The caller connects to one of exactly these addresses, without a second resolution.
///
/// An internal origin is so for one purpose: media, the webhook and each enricher have policies of their own.
///
/// Without exceptions it allows `https` on port 443 of public names and of literal public addresses.
///
/// The metadata services and host agents of cloud providers are refused by their addresses (169.254.169.254,
/// 100.100.100.200, fd00:ec2::254, 192.0.0.192, 168.63.129.16) or their names (`metadata.google.internal`). Some ranges are
/// public by the registries, yet a provider uses them inside its own network. Which of them matter depends on where Carillon runs, so they belong
/// into `deniedNetworks`:
///
/// - Google Cloud: `199.36.153.4/30` and `199.36.153.8/30` (the restricted and the private access to its interfaces).
/// - IBM Cloud: `161.26.0.0/16` and `166.8.0.0/14` (service endpoints).
/// - A NAT64 gateway with a prefix of its own: that prefix.
/// - Public ranges that your own network uses inside, or that reach services of yours which trust their neighbours.
package struct EgressPolicy: Sendable {
    private var allowedHosts = HostPatterns()
    private var deniedHosts = HostPatterns()
    private let deniedNetworks: [IPNetwork]
    /// In the form of ``EgressURL/origin``.
    private var origins: Set<String> = []
    /// In the form of ``EgressURL/origin``.
    private var internalOrigins: Set<String> = []
    private let allowsNAT64: Bool

    /// - Parameters:
    ///   - allowedHosts: If not empty, only these hosts and those of `origins` are allowed. A name, `*.example.com` for
    ///     all names below, or an address (IPv6 in brackets).
    ///   - deniedHosts: Hosts that are refused, in the same form; they outweigh `allowedHosts` and `origins`.
    ///   - deniedNetworks: Networks in CIDR notation with canonical addresses: `203.0.113.0/24`, `2001:db8::/32`. An
    ///     IPv4 network also denies its addresses behind NAT64.
    ///   - origins: Further origins, `scheme://host[:port]`: exceptions for other ports and for `http`. Their addresses
    ///     must still be public.
    ///   - internalOrigins: Origins whose host and addresses are not judged at all; a redirect reaches them only from one
    ///     of them.
    ///   - allowsNAT64: Whether 64:ff9b::/96 (RFC 6052) is judged by the IPv4 address in it; otherwise it is refused.
    /// - Throws: ``EgressPolicyError`` for the first entry that is wrong or could never match.
    package init(
        allowedHosts: [String] = [],
        deniedHosts: [String] = [],
        deniedNetworks: [String] = [],
        origins: [String] = [],
        internalOrigins: [String] = [],
        allowsNAT64: Bool = false
    ) throws(EgressPolicyError) {
        self.allowsNAT64 = allowsNAT64
        var networks: [IPNetwork] = []
        for entry in deniedNetworks {
            guard let network = IPNetwork(cidr: entry) else {
                throw EgressPolicyError(
                    list: .deniedNetworks,
                    entry: entry,
                    message:
                        "is not a network: write a canonical address with only zeros after the prefix, `/` and the "
                        + "length of the prefix, such as 203.0.113.0/24 or 2001:db8::/32"
                )
            }
            networks.append(network)
        }
        self.deniedNetworks = networks
        for entry in deniedHosts { try self.deniedHosts.insert(entry, of: .deniedHosts) }
        for entry in allowedHosts {
            let host = try self.allowedHosts.insert(entry, of: .allowedHosts)
            try checkIsPublic(host.name, host.address, entry, .allowedHosts)
        }
        for entry in origins {
            let url = try Self.origin(entry, of: .origins)
            try checkIsPublic(url.host, url.address, entry, .origins)
            self.origins.insert(url.origin)
        }
        for entry in internalOrigins {
            self.internalOrigins.insert(try Self.origin(entry, of: .internalOrigins).origin)
        }
    }

    /// Judges a URL.
    ///
    /// - Parameter text: An absolute URL; a fragment is dropped, dot segments of the path are applied.
    /// - Throws: ``EgressRefusal``. If several apply, the host and its address come before scheme and port, for which
    ///   `origins` has exceptions.
    package func check(_ text: String) throws(EgressRefusal) -> EgressURL {
        try judged(URLReference(text).resolved(against: nil))
    }

    /// Judges the target of a redirect.
    ///
    /// - Parameters:
    ///   - location: The value of the header `location`: a URL or a relative reference (RFC 9110, 10.2.2).
    ///   - from: The URL that answered.
    /// - Throws: ``EgressRefusal``.
    package func check(location: String, from: EgressURL) throws(EgressRefusal) -> EgressURL {
        let url = try URLReference(location).resolved(against: from)
        guard !internalOrigins.contains(url.origin) || internalOrigins.contains(from.origin) else {
            throw EgressRefusal(
                .hostRefused,
                "the host \(url.host) is internal, which a redirect from \(from.host) must not enter"
            )
        }
        return try judged(url)
    }

    /// A policy that allows one URL inside the network, and its origin.
    ///
    /// - Throws: `url-malformed`, or a notation of an address that is not canonical.
    package static func inside(_ text: String) throws(EgressRefusal) -> EgressPolicy {
        try EgressPolicy(inside: URLReference(text).resolved(against: nil).origin)
    }

    private init(inside origin: String) {
        (deniedNetworks, allowsNAT64, internalOrigins) = ([], false, [origin])
    }

    /// Judges the addresses of a host before a connection to one of them.
    ///
    /// - Parameters:
    ///   - addresses: All that the host resolves to, or its literal address.
    ///   - url: The URL that this policy allowed.
    /// - Throws: `address-refused` if one of them is refused, or if there is none.
    package func check(_ addresses: [IPAddress], of url: EgressURL) throws(EgressRefusal) {
        guard !addresses.isEmpty else { throw EgressRefusal(.addressRefused, "the host \(url.host) has no address") }
        guard !internalOrigins.contains(url.origin) else { return }
        for address in addresses {
            if let reason = reason(against: address) {
                throw EgressRefusal(.addressRefused, "the address \(address) of the host \(url.host) \(reason)")
            }
        }
    }

    // MARK: - Judgement

    private func judged(_ url: EgressURL) throws(EgressRefusal) -> EgressURL {
        let origin = url.origin
        if internalOrigins.contains(origin) { return url }
        let isException = origins.contains(origin)
        if let reason = reason(againstHost: url.host, url.address) {
            throw EgressRefusal(url.address == nil ? .hostRefused : .addressRefused, "the host \(url.host) \(reason)")
        }
        if deniedHosts.contain(url.host) {
            throw EgressRefusal(.hostRefused, "the host \(url.host) is denied by the settings")
        }
        if !isException, !allowedHosts.isEmpty, !allowedHosts.contain(url.host) {
            throw EgressRefusal(.hostRefused, "the host \(url.host) is not among the allowed hosts of the settings")
        }
        guard isException || url.usesTLS else {
            throw EgressRefusal(.schemeRefused, "http is not allowed for \(origin); use https")
        }
        guard isException || url.port == 443 else {
            throw EgressRefusal(.portRefused, "port \(url.port) is not allowed for \(origin); use 443")
        }
        return url
    }

    /// What makes a host impossible in every list but `internalOrigins`, to follow it in a sentence.
    private func reason(againstHost name: String, _ address: IPAddress?) -> String? {
        if let address { return reason(against: address) }
        return EgressHost.reason(against: name)
    }

    private func reason(against address: IPAddress) -> String? {
        if let network = deniedNetworks.first(where: { $0.contains(address) }) {
            return "is in \(network), which the settings deny"
        }
        if allowsNAT64, let translated = address.translatedIPv4 {
            return reason(against: translated).map { "translates to \(translated), which \($0)" }
        }
        return SpecialPurposeNetworks.reason(against: address)
    }

    // MARK: - Settings

    private static func origin(
        _ entry: String,
        of list: EgressPolicyError.List
    ) throws(EgressPolicyError) -> EgressURL {
        let url: EgressURL
        do throws(EgressRefusal) {
            url = try URLReference(entry).resolved(against: nil)
        } catch {
            throw EgressPolicyError(list: list, entry: entry, message: error.detail)
        }
        guard entry.utf8.count(where: { $0 == UInt8(ascii: "/") }) == 2,
            !entry.utf8.contains(where: "?#".utf8.contains),
            url.port != 0
        else {
            throw EgressPolicyError(
                list: list,
                entry: entry,
                message: "is not an origin: write only scheme://host or scheme://host:port"
            )
        }
        return url
    }

    private func checkIsPublic(
        _ name: String,
        _ address: IPAddress?,
        _ entry: String,
        _ list: EgressPolicyError.List
    ) throws(EgressPolicyError) {
        guard let reason = reason(againstHost: name, address) else { return }
        throw EgressPolicyError(
            list: list,
            entry: entry,
            message:
                "\(reason), so it would always be refused; inside your network use `egress.internal-origins` for media, "
                + "`webhook.internal` for the webhook and `internal: true` for an enricher"
        )
    }
}
