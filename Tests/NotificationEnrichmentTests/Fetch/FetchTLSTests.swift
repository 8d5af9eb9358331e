import OutboundHTTP
import Testing

@testable import NotificationEnrichment

@Suite("TLS of the fetcher")
struct FetchTLSTests {
    private func code(
        of certificate: FetchCertificate,
        trusting roots: FetchCertificate? = nil,
        host: String = FetchBench.host
    ) async throws -> String? {
        let server = try await MediaServer(tls: try certificate.server) { _ in .image(FetchImage.png(bytes: 100_000)) }
        let bench = try FetchBench(
            server,
            host: host,
            scheme: "https",
            roots: (roots ?? certificate).roots
        )
        return await bench.code(server.url("/a.png", scheme: "https", host: host))
    }

    @Test(
        "a certificate for the host is accepted",
        arguments: ["DNS:img.shop.com", "DNS:*.shop.com", "DNS:other.com,DNS:IMG.shop.com"]
    )
    func accepted(names: String) async throws {
        #expect(try await code(of: FetchCertificate(names)) == nil)
    }

    @Test(
        "a certificate for another name is refused, also one for the address or with the host as common name",
        arguments: ["DNS:shop.com", "DNS:*.com", "DNS:*.img.shop.com", "IP:127.0.0.1", "email:a@shop.com"]
    )
    func otherName(names: String) async throws {
        #expect(try await code(of: FetchCertificate(names)) == "tls")
    }

    @Test("a certificate for a literal address is accepted, one for another address is refused")
    func literalAddress() async throws {
        #expect(try await code(of: FetchCertificate("IP:127.0.0.1"), host: "127.0.0.1") == nil)
        #expect(try await code(of: FetchCertificate("IP:127.0.0.2"), host: "127.0.0.1") == "tls")
        #expect(try await code(of: FetchCertificate("DNS:127.0.0.1"), host: "127.0.0.1") == "tls")
    }

    @Test("an expired certificate, and one of an unknown authority, are refused")
    func invalid() async throws {
        #expect(try await code(of: FetchCertificate(isExpired: true)) == "tls")
        #expect(try await code(of: FetchCertificate(), trusting: FetchCertificate()) == "tls")
    }

    @Test("a server without TLS is refused")
    func noTLS() async throws {
        let server = try await MediaServer { _ in .raw("HTTP/1.1 400 No TLS here\r\n\r\n", .close) }
        let bench = try FetchBench(server, scheme: "https", roots: try FetchCertificate().roots)
        #expect(await bench.code(server.url("/a.png", scheme: "https")) == "tls")
        #expect(server.targets == ["TLS"])
    }

    @Test("a body without a length is whole only when TLS ends properly", arguments: [true, false])
    func ending(isProper: Bool) async throws {
        let certificate = try FetchCertificate()
        let image = FetchImage.png()
        let server = try await MediaServer(tls: try certificate.server) { _ in
            .head(200, [], image, isProper ? .close : .cut)
        }
        let bench = try FetchBench(server, scheme: "https", roots: certificate.roots)
        #expect(await bench.code(server.url("/a.png", scheme: "https")) == (isProper ? nil : "truncated"))
    }
}
