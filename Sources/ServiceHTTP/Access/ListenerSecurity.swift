import NIOCore
package import NIOSSL

/// An invalid setting of a listener, found before it listens.
public struct ListenerSettingsError: Error, Sendable, Hashable, CustomStringConvertible {
    enum Key: String {
        case tokensFile = "http.tokens.file"
        case certificate = "http.tls.certificate"
        case key = "http.tls.key"
    }

    /// The key with dots.
    public let key: String
    /// What is wrong and what to do; never contains a token or a part of a key.
    public let message: String

    init(_ key: Key, _ message: String) {
        self.init(key: key.rawValue, message)
    }

    init(key: String, _ message: String) {
        (self.key, self.message) = (key, message)
    }

    /// `http.host: …`.
    public var description: String { "\(key): \(message)" }
}

/// The access control and TLS of an HTTP interface.
package struct ListenerSecurity: Sendable {
    package let access: Access
    /// Nil for plain HTTP.
    package let tls: TLSConfiguration?
    /// Files with secrets that every user of this machine can read.
    package let exposedFiles: [String]
    /// Clients on other machines send tokens unencrypted.
    package let exposesTokens: Bool

    /// Reads the files named in the settings.
    ///
    /// - Parameters:
    ///   - host: The address to listen on; without tokens it must be a loopback address.
    ///   - hostKey: The key of that setting.
    ///   - tokensFile: See ``TokenFile``.
    ///   - tlsCertificate: The PEM file of the chain; nil for plain HTTP.
    ///   - tlsKey: The PEM file of its key.
    package init(
        host: String,
        hostKey: String = "http.host",
        tokensFile: String?,
        tlsCertificate: String?,
        tlsKey: String?
    ) throws(ListenerSettingsError) {
        exposedFiles = [tokensFile, tlsKey].compactMap(\.self).filter(SecretFile.isExposed)
        tls = try Self.tls(certificate: tlsCertificate, key: tlsKey)
        let isLoopback = Self.isLoopback(host)
        guard let tokensFile else {
            access = .thisMachine(host: host)
            exposesTokens = false
            guard isLoopback else {
                throw ListenerSettingsError(
                    key: hostKey,
                    "\"\(host)\" is reachable from other machines, and without tokens everyone could call: set "
                        + "http.tokens.file, or listen on 127.0.0.1, ::1 or localhost"
                )
            }
            return
        }
        access = .tokens(try TokenFile.load(path: tokensFile))
        exposesTokens = tls == nil && !isLoopback
    }

    /// Only names that certainly mean this machine: others may resolve to anything.
    package static func isLoopback(_ host: String) -> Bool {
        if host.lowercased() == "localhost" { return true }
        // Normalize the spelling of the address.
        guard let address = (try? SocketAddress(ipAddress: host, port: 0))?.ipAddress else { return false }
        return address.hasPrefix("127.") || address == "::1"
    }

    private static func tls(certificate: String?, key: String?) throws(ListenerSettingsError) -> TLSConfiguration? {
        let files: (certificate: String, key: String)
        switch (certificate, key) {
        case (nil, nil): return nil
        case (let certificate?, let key?): files = (certificate, key)
        case (_, nil): throw ListenerSettingsError(.key, "is missing: a certificate needs its key, both as PEM files")
        case (nil, _):
            throw ListenerSettingsError(.certificate, "is missing: a key needs its certificate, both as PEM files")
        }
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMFile(files.certificate)
        } catch {
            throw ListenerSettingsError(
                .certificate,
                "\(files.certificate) cannot be read as certificates in PEM: \(error)"
            )
        }
        guard !chain.isEmpty else {
            throw ListenerSettingsError(.certificate, "\(files.certificate) has no certificate in PEM")
        }
        let privateKey: NIOSSLPrivateKey
        do {
            privateKey = try NIOSSLPrivateKey(file: files.key, format: .pem)
        } catch {
            // The library's error could quote a part of the file.
            throw ListenerSettingsError(.key, "\(files.key) cannot be read as a private key in PEM without a password")
        }
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(privateKey)
        )
        tls.minimumTLSVersion = .tlsv12
        // For TLS 1.2 only suites with forward secrecy and authenticated encryption; all suites of 1.3 have both.
        tls.cipherSuiteValues = [
            .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
            .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
            .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        ]
        tls.applicationProtocols = ["http/1.1"]
        do {
            _ = try NIOSSLContext(configuration: tls)
        } catch {
            throw ListenerSettingsError(.key, "\(files.key) is not the key of \(files.certificate)")
        }
        return tls
    }
}
