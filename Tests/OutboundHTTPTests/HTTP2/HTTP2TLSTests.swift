import HTTPTesting
import NIOCore
import NIOSSL
import Synchronization
import Testing
import TestSupport

@testable import OutboundHTTP

/// TLS below HTTP/2.
@Suite("HTTP/2 over TLS", .timeLimit(.minutes(5)))
struct HTTP2TLSTests {
    private static func context(
        _ files: (certificate: String, key: String),
        protocols: [String] = ["h2"],
        clients: String? = nil
    ) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(files.certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: files.key, format: .pem))
        )
        configuration.applicationProtocols = protocols
        if let clients {
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(clients))
        }
        return try NIOSSLContext(configuration: configuration)
    }

    /// Why no connection opens for a request, which is not sent.
    private static func failure(_ client: HTTP2TestClient) async throws -> OutboundFailure {
        async let outcome = client.answer()
        try await eventually { !client.events.failures.isEmpty }
        await client.close()
        #expect(await outcome.failure?.isSent == false)
        return try #require(client.events.failures.first)
    }

    @Test func `requests go to a server whose certificate names the host`() async throws {
        let files = try TestFiles()
        defer { files.remove() }
        let made = try files.certificate("server")
        let server = HTTP2TestServer(tls: try Self.context(made)) { $0.answer() }
        let client = try HTTP2TestClient(
            port: await server.start(),
            scheme: "https",
            trusting: OutboundTLS.authorities(path: made.certificate)
        )
        let outcomes = await client.answers(300, body: ByteBuffer(repeating: 1, count: 2000))
        #expect(outcomes.allSatisfy { $0.status == 200 })
        await client.close()
        try await server.stop()
    }

    @Test func `a certificate for another host, or of an unknown authority, gets no request`() async throws {
        let files = try TestFiles()
        defer { files.remove() }
        let other = try files.certificate("other", names: "DNS:other.example.com")
        for roots in [try OutboundTLS.authorities(path: other.certificate), []] {
            let server = HTTP2TestServer(tls: try Self.context(other)) { $0.answer() }
            let client = try HTTP2TestClient(port: await server.start(), scheme: "https", trusting: roots)
            #expect(try await Self.failure(client).clientCode == .tls)
            #expect(server.received.withLock { $0.isEmpty })
            try await server.stop()
        }
    }

    @Test func `a server without HTTP/2 in its handshake gets no request`() async throws {
        let files = try TestFiles()
        defer { files.remove() }
        let made = try files.certificate("server")
        let server = HTTP2TestServer(tls: try Self.context(made, protocols: [])) { $0.answer() }
        let client = try HTTP2TestClient(
            port: await server.start(),
            scheme: "https",
            trusting: OutboundTLS.authorities(path: made.certificate)
        )
        let failure = try await Self.failure(client)
        #expect(failure.clientCode == .tls && failure.detail.contains("ALPN"))
        try await server.stop()
    }

    @Test func `a client shows its certificate to a server that wants one`() async throws {
        let files = try TestFiles()
        defer { files.remove() }
        let (made, own) = (try files.certificate("server"), try files.certificate("client", names: "DNS:client"))
        let server = HTTP2TestServer(tls: try Self.context(made, clients: own.certificate)) { $0.answer() }
        let port = try await server.start()
        let roots = try OutboundTLS.authorities(path: made.certificate)
        let identity = try OutboundTLS.Identity(certificates: own.certificate, key: own.key)
        let client = try HTTP2TestClient(port: port, scheme: "https", trusting: roots, identity: identity)
        #expect(await client.answer().status == 200)
        await client.close()
        let nobody = try HTTP2TestClient(port: port, scheme: "https", trusting: roots)
        async let refused = nobody.answer()
        try await eventually { !nobody.events.failures.isEmpty }
        await nobody.close()
        #expect(await refused.failure != nil)
        #expect(server.received.withLock { $0.count } == 1)
        try await server.stop()
    }

    @Test func `a file without a key, or that is not there, is named`() throws {
        let files = try TestFiles()
        defer { files.remove() }
        let made = try files.certificate("client")
        let noKey = #expect(throws: OutboundTLS.AuthoritiesError.self) {
            try OutboundTLS.Identity(certificates: made.certificate, key: made.certificate)
        }
        #expect(noKey?.description == "\(made.certificate) has no private key in PEM without a passphrase")
        let missing = #expect(throws: OutboundTLS.AuthoritiesError.self) {
            try OutboundTLS.Identity(certificates: made.certificate, key: files.path("none.pem"))
        }
        #expect(missing?.description == "\(files.path("none.pem")) cannot be read")
    }
}
