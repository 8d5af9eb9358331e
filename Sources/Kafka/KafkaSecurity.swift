extension KafkaClientConfiguration {
    /// Finds what librdkafka accepts and then only waits with, or passes over: properties of TLS and SASL that do not belong together.
    ///
    /// - Throws: `KafkaError` that names the property and says what to set.
    func checkSecurity() throws(KafkaError) {
        let uses = SecurityProperties(properties)
        if let (name, advice) = uses.problem {
            throw KafkaError(code: .invalidArgument, reason: "kafka property \(name): \(advice)")
        }
    }
}

/// The properties that decide how a client proves who it is.
private struct SecurityProperties {
    private let properties: [String: String]

    init(_ properties: [String: String]) { self.properties = properties }

    private func value(_ names: String...) -> String? {
        names.lazy.compactMap { properties[$0] }.first { !$0.isEmpty }
    }

    private var usesSASL: Bool { value("security.protocol")?.lowercased().hasPrefix("sasl") ?? false }
    private var mechanism: String? { value("sasl.mechanism", "sasl.mechanisms")?.uppercased() }

    /// The property, and what to set.
    var problem: (name: String, advice: String)? {
        // Who names the protocol means it, such as a variable over a file.
        guard value("security.protocol") != nil else {
            let sasl = ["sasl.username", "sasl.password", "sasl.mechanism", "sasl.mechanisms"]
            if let given = sasl.first(where: { value($0) != nil }) {
                return (given, "has no effect without SASL: set security.protocol to sasl_ssl, or to sasl_plaintext")
            }
            let tls = ["ssl.ca.location", "ssl.certificate.location", "ssl.key.location", "ssl.keystore.location"]
            return tls.first { value($0) != nil }.map {
                ($0, "has no effect without TLS: set security.protocol to ssl or sasl_ssl")
            }
        }
        guard usesSASL else { return nil }
        switch mechanism {
        case nil where value("sasl.username") != nil || value("sasl.password") != nil:
            return ("sasl.mechanism", "is needed: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512")
        case "PLAIN"?, "SCRAM-SHA-256"?, "SCRAM-SHA-512"?:
            for name in ["sasl.username", "sasl.password"] where value(name) == nil {
                return (name, "is needed by \(mechanism ?? "")")
            }
            return nil
        case "OAUTHBEARER"?: return oauthProblem
        default: return nil
        }
    }

    /// Without a method librdkafka waits for a token that this program would have to give to it.
    private var oauthProblem: (name: String, advice: String)? {
        let method = value("sasl.oauthbearer.method")?.lowercased()
        if value("enable.sasl.oauthbearer.unsecure.jwt")?.lowercased() == "true" { return nil }
        guard method == "oidc" else {
            return (
                "sasl.oauthbearer.method",
                "must be oidc: the client gets its tokens from sasl.oauthbearer.token.endpoint.url"
            )
        }
        let needed = [
            "sasl.oauthbearer.token.endpoint.url", "sasl.oauthbearer.client.id", "sasl.oauthbearer.client.secret",
        ]
        return needed.first { value($0) == nil }.map { ($0, "is needed by OAUTHBEARER with the method oidc") }
    }
}
