import Foundation
package import NIOSSL

/// TLS of all outbound connections: 1.2 or newer, with the authorities of the system and perhaps further ones.
package enum OutboundTLS {
    /// A file of authorities that cannot be used.
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

    /// - Parameters:
    ///   - roots: The certificate authorities.
    ///   - further: Authorities that are trusted besides.
    /// - Throws: Errors of NIOSSL for roots that cannot be read.
    static func context(
        trusting roots: NIOSSLTrustRoots,
        and further: [NIOSSLCertificate]
    ) throws -> NIOSSLContext {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.trustRoots = roots
        if !further.isEmpty { tls.additionalTrustRoots = [.certificates(further)] }
        tls.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: tls)
    }
}
