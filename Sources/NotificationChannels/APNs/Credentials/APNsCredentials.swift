import Foundation
package import NIOSSL
package import OutboundHTTP
import ServiceHTTP

/// What a provider shows APNs who it is. One connection serves one of them.
package enum APNsCredentials: Sendable {
    /// Tokens of a key: for all push types.
    case tokens(ProviderTokens)
    /// A certificate, for the topics that it lists.
    case certificate(APNsCertificate)

    /// Whether both are the same, so that their connections can be shared.
    package func isSame(as other: APNsCredentials) -> Bool {
        switch (self, other) {
        case (.tokens(let one), .tokens(let other)): one === other || one.isSame(as: other)
        case (.certificate(let one), .certificate(let other)): one == other
        case (.tokens, .certificate), (.certificate, .tokens): false
        }
    }
}

/// A client certificate with its key, from files in PEM.
package struct APNsCertificate: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// A larger file is a mistake.
    package static let maximumBytes = 64 * 1024

    /// The certificate, and those between it and the authority.
    package let chain: [NIOSSLCertificate]
    package let key: NIOSSLPrivateKey

    /// Reads both files, which may be one. Blocks.
    package static func load(certificate: String, key: String) throws(SigningKeyError) -> APNsCertificate {
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMBytes(Array(text(of: certificate).utf8))
        } catch let error as SigningKeyError {
            throw error
        } catch {
            throw SigningKeyError("\(certificate) is no certificate in PEM")
        }
        guard !chain.isEmpty else { throw SigningKeyError("\(certificate) has no certificate in PEM") }
        let privateKey: NIOSSLPrivateKey
        let keyText = try text(of: key)
        guard !keyText.contains("ENCRYPTED") else {
            throw SigningKeyError("\(key) is encrypted: write it without a password with `openssl pkey`")
        }
        do {
            privateKey = try NIOSSLPrivateKey(bytes: Array(keyText.utf8), format: .pem)
        } catch {
            throw SigningKeyError("\(key) has no private key in PEM")
        }
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateChain = chain.map { .certificate($0) }
        tls.privateKey = .privateKey(privateKey)
        // It compares the key with the certificate.
        guard (try? NIOSSLContext(configuration: tls)) != nil else {
            throw SigningKeyError("\(key) is not the key of the certificate in \(certificate)")
        }
        return APNsCertificate(chain: chain, key: privateKey)
    }

    private static func text(of path: String) throws(SigningKeyError) -> String {
        do throws(SecretFile.Problem) {
            return try SecretFile.text(path: path, maximumBytes: maximumBytes, what: "a certificate's file")
        } catch {
            throw SigningKeyError("\(path) \(error.text)")
        }
    }

    /// Nothing of the key.
    package var description: String { "a certificate" }

    /// Nothing of the key.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
