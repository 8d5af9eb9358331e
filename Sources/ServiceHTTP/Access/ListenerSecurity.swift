import NIOCore
package import NIOSSL
import Synchronization

/// An invalid setting of a listener, found before it listens.
public struct ListenerSettingsError: Error, Sendable, Hashable, CustomStringConvertible {
    enum Key: String {
        case tokensFile = "http.tokens.file"
        case certificate = "http.tls.certificate"
        case key = "http.tls.key"
        case recipientKeysFile = "http.recipient-keys.file"
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

/// The files that control access to an HTTP interface.
package struct ListenerFiles: Sendable {
    /// See ``TokenFile``.
    package var tokens: String?
    /// See ``RecipientKeyFile``.
    package var recipientKeys: String?
    /// The PEM file of the chain; nil for plain HTTP.
    package var certificate: String?
    /// The PEM file of its key.
    package var key: String?

    package init(
        tokens: String? = nil,
        recipientKeys: String? = nil,
        certificate: String? = nil,
        key: String? = nil
    ) {
        (self.tokens, self.recipientKeys, self.certificate, self.key) = (tokens, recipientKeys, certificate, key)
    }

    /// Those with secrets that every user of this machine can read.
    var exposed: [String] { [tokens, recipientKeys, key].compactMap(\.self).filter(SecretFile.isExposed) }
}

/// The access control and TLS of an HTTP interface, which ``reload()`` reads again.
package final class ListenerSecurity: Sendable {
    private let host: String
    private let files: ListenerFiles
    private let defaultApplication: String
    private let state: Mutex<State>
    /// One reload at a time, so that the last files read are in force.
    private let reloading = Mutex(())
    /// Clients on other machines send tokens unencrypted.
    package let exposesTokens: Bool

    private struct State {
        var access: Access
        var tls: NIOSSLContext?
    }

    /// Reads the files named in the settings.
    ///
    /// - Parameters:
    ///   - host: The address to listen on; without tokens it must be a loopback address.
    ///   - hostKey: The key of that setting.
    ///   - files: Those of the settings.
    ///   - defaultApplication: The application of tokens that name none.
    package init(
        host: String,
        hostKey: String = "http.host",
        files: ListenerFiles,
        defaultApplication: String = "default"
    ) throws(ListenerSettingsError) {
        (self.host, self.files, self.defaultApplication) = (host, files, defaultApplication)
        let tls = try Self.tls(certificate: files.certificate, key: files.key)
        let hasTokens = files.tokens != nil || files.recipientKeys != nil
        let isLoopback = Self.isLoopback(host)
        guard hasTokens || isLoopback else {
            throw ListenerSettingsError(
                key: hostKey,
                "\"\(host)\" is reachable from other machines, and without tokens everyone could call: set "
                    + "http.tokens.file, or listen on 127.0.0.1, ::1 or localhost"
            )
        }
        exposesTokens = hasTokens && tls == nil && !isLoopback
        state = Mutex(State(access: try Self.access(host, files, defaultApplication), tls: tls))
    }

    /// Who may call, by the files read last.
    package var access: Access { state.withLock { $0.access } }

    /// For new connections, by the files read last; nil for plain HTTP.
    package var tls: NIOSSLContext? { state.withLock { $0.tls } }

    /// ``tls``, for ``GuardedListener/tls``.
    package var tlsOfConnections: (@Sendable () -> NIOSSLContext)? {
        guard let first = tls else { return nil }
        return { self.tls ?? first }
    }

    /// Files with secrets that every user of this machine can read.
    package var exposedFiles: [String] { files.exposed }

    /// Whether there are files to read again.
    package var hasFiles: Bool { files.tokens != nil || files.recipientKeys != nil || files.certificate != nil }

    /// Reads the files again. The tokens and the recipients' keys change together, and so do the certificate and its key.
    /// Blocks.
    ///
    /// - Returns: What could not be read: there the former files stay in force.
    package func reload() -> [ListenerSettingsError] {
        reloading.withLock { _ in
            var problems: [ListenerSettingsError] = []
            do throws(ListenerSettingsError) {
                let access = try Self.access(host, files, defaultApplication)
                state.withLock { $0.access = access }
            } catch {
                problems.append(error)
            }
            do throws(ListenerSettingsError) {
                let tls = try Self.tls(certificate: files.certificate, key: files.key)
                state.withLock { $0.tls = tls }
            } catch {
                problems.append(error)
            }
            return problems
        }
    }

    private static func access(
        _ host: String,
        _ files: ListenerFiles,
        _ defaultApplication: String
    ) throws(ListenerSettingsError) -> Access {
        guard files.tokens != nil || files.recipientKeys != nil else { return .thisMachine(host: host) }
        var (bearers, recipients) = (BearerTokens([]), RecipientKeys([]))
        if let path = files.tokens {
            bearers = try TokenFile.load(path: path, defaultApplication: defaultApplication)
        }
        if let path = files.recipientKeys { recipients = try RecipientKeyFile.load(path: path) }
        return .tokens(AccessTokens(bearers: bearers, recipients: recipients))
    }

    /// Only names that certainly mean this machine: others may resolve to anything.
    package static func isLoopback(_ host: String) -> Bool {
        if host.lowercased() == "localhost" { return true }
        // Normalize the spelling of the address.
        guard let address = (try? SocketAddress(ipAddress: host, port: 0))?.ipAddress else { return false }
        return address.hasPrefix("127.") || address == "::1"
    }

    private static func tls(certificate: String?, key: String?) throws(ListenerSettingsError) -> NIOSSLContext? {
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
            return try NIOSSLContext(configuration: tls)
        } catch {
            throw ListenerSettingsError(.key, "\(files.key) is not the key of \(files.certificate)")
        }
    }
}
