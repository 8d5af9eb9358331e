import NIOCore
import NIOSSL

struct CertificateNameError: Error, CustomStringConvertible {
    let host: String

    var description: String { "the certificate is not for \(host)" }
}

/// The check that a certificate names the host (RFC 9525, section 6): a DNS name in its alternative names for a name, the
/// address for a literal one.
///
/// NIOSSL verifies the chain and a name, but is content with the IP address of the connection, or with a common name,
/// even when a host name is asked for. Then whoever answers the look-up of the host with an address of his own needs
/// no certificate for the host.
enum CertificateName {
    /// - Returns: a handler that ends the handshake when the certificate does not name the host of the URL.
    static func handler(_ context: NIOSSLContext, for url: EgressURL) throws -> NIOSSLClientHandler {
        try NIOSSLClientHandler._makeSSLClientHandler(
            context: context,
            // SNI has no addresses.
            serverHostname: url.address == nil ? url.host : nil,
            additionalPeerCertificateVerificationCallback: { certificate, channel in
                let isNamed = certificate._subjectAlternativeNames().contains { name in
                    if let address = url.address {
                        return name.nameType == .ipAddress && name.contents.elementsEqual(address.bytes)
                    }
                    return name.nameType == .dnsName && matches(Array(name.contents), url.host)
                }
                return isNamed
                    ? channel.eventLoop.makeSucceededVoidFuture()
                    : channel.eventLoop.makeFailedFuture(CertificateNameError(host: url.host))
            }
        )
    }

    /// - Parameters:
    ///   - name: of the certificate; `*` stands for one whole first label.
    ///   - host: in lower case.
    static func matches(_ name: [UInt8], _ host: String) -> Bool {
        let name = name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        guard name.starts(with: [UInt8(ascii: "*"), UInt8(ascii: ".")]) else { return name.elementsEqual(host.utf8) }
        guard let dot = host.utf8.firstIndex(of: UInt8(ascii: ".")), dot != host.startIndex else { return false }
        return name.dropFirst().elementsEqual(host.utf8[dot...])
    }
}
