import Foundation
package import NIOSSL

/// TLS of all outbound connections: 1.2 or newer, with the authorities of the system and perhaps further ones.
package enum OutboundTLS {
    /// A file of certificates or with a key that cannot be used.
    package struct AuthoritiesError: Error, Hashable, CustomStringConvertible {
        /// Names the file.
        package let description: String
    }

    /// The certificates of a PEM file.
    ///
    /// - Throws: When it cannot be read, or has no certificate.
    package static func authorities(path: String) throws(AuthoritiesError) -> [NIOSSLCertificate] {
        let certificates: [NIOSSLCertificate]
        do {
            certificates = try NIOSSLCertificate.fromPEMFile(path)
        } catch {
            throw AuthoritiesError(
                description: FileManager.default.isReadableFile(atPath: path)
                    ? "\(path) is not a file of certificates in PEM" : "\(path) cannot be read"
            )
        }
        guard !certificates.isEmpty else { throw AuthoritiesError(description: "\(path) has no certificate in PEM") }
        return certificates
    }

    /// The certificate of a client, and those between it and an authority, with the key.
    package struct Identity: Hashable, Sendable {
        let certificates: [NIOSSLCertificate]
        let key: NIOSSLPrivateKey

        /// Reads two PEM files, which may be one; the key has no passphrase.
        ///
        /// - Throws: When one of them cannot be read, or has no certificate or key, or when they are no pair.
        package init(certificates: String, key: String) throws(AuthoritiesError) {
            self.certificates = try OutboundTLS.authorities(path: certificates)
            do {
                self.key = try NIOSSLPrivateKey(file: key, format: .pem)
            } catch {
                throw AuthoritiesError(
                    description: FileManager.default.isReadableFile(atPath: key)
                        ? "\(key) has no private key in PEM without a passphrase" : "\(key) cannot be read"
                )
            }
            // It compares the key with the certificate.
            guard (try? OutboundTLS.context(trusting: .certificates([]), and: [], identity: self)) != nil else {
                throw AuthoritiesError(description: "\(key) is not the key of the certificate in \(certificates)")
            }
        }
    }

    /// TLS of a client of HTTP/2, with its authorities in memory: those of the system are a few hundred. Pools that trust the same
    /// and show the same certificate share one.
    package struct Client: Sendable {
        let context: NIOSSLContext

        /// - Parameters:
        ///   - roots: The certificate authorities.
        ///   - further: Authorities that are trusted besides.
        ///   - identity: The certificate of the client, if it has one.
        /// - Throws: `NIOSSLError` or `BoringSSLError` for roots or an identity that cannot be used.
        package init(
            trusting roots: NIOSSLTrustRoots = .default,
            and further: [NIOSSLCertificate] = [],
            identity: Identity? = nil
        ) throws {
            context = try OutboundTLS.context(trusting: roots, and: further, identity: identity, speaking: .http2)
        }
    }

    /// The protocol that the server must speak, by its name in ALPN.
    enum ApplicationProtocol: String {
        case http1 = "http/1.1"
        case http2 = "h2"
    }

    /// - Parameters:
    ///   - roots: The certificate authorities.
    ///   - further: Authorities that are trusted besides.
    ///   - identity: The certificate of the client.
    ///   - applicationProtocol: That is offered.
    /// - Throws: Errors of NIOSSL for roots that cannot be read.
    static func context(
        trusting roots: NIOSSLTrustRoots,
        and further: [NIOSSLCertificate],
        identity: Identity? = nil,
        speaking applicationProtocol: ApplicationProtocol = .http1
    ) throws -> NIOSSLContext {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.trustRoots = roots
        if !further.isEmpty { tls.additionalTrustRoots = [.certificates(further)] }
        if let identity {
            tls.certificateChain = identity.certificates.map { .certificate($0) }
            tls.privateKey = .privateKey(identity.key)
        }
        tls.applicationProtocols = [applicationProtocol.rawValue]
        return try NIOSSLContext(configuration: tls)
    }
}
