import HTTPTesting
import NIOCore
import NIOSSL
import NotificationDelivery
import OutboundHTTP
import ServiceSupport
import Testing
import TestSupport

@testable import NotificationChannels
@testable import NotificationConsumer

/// Which addresses the channel connects to.
@Suite("The guard of the webhook channel", .timeLimit(.minutes(10)))
struct WebhookGuardTests {
    private static let host = "hooks.shop.com"

    /// A channel to the endpoint by its name, whose addresses are judged.
    private func bench(
        _ endpoint: ScriptedEndpoint,
        _ resolver: ScriptedResolver,
        connectTimeout: Duration = .seconds(60)
    ) throws -> WebhookBench {
        let origin = "http://\(Self.host):\(endpoint.port)"
        return try WebhookBench("\(origin)/", resolver: resolver, origins: [origin]) {
            ($0.isInternal, $0.allowsPlainHTTP, $0.connectTimeout) = (false, true, connectTimeout)
        }
    }

    @Test(arguments: [["127.0.0.1"], ["203.0.114.1", "127.0.0.1"], ["10.0.0.1"], ["::1"], ["169.254.169.254"]])
    func `a name with an address that is not public is refused, and nothing is connected`(
        _ addresses: [String]
    ) async throws {
        let endpoint = try await ScriptedEndpoint { _ in .answer(204) }
        let resolver = ScriptedResolver([addresses])
        let bench = try bench(endpoint, resolver)
        for name in ["a", "b"] { #expect(await bench.desk.result(of: try send(name)) == .failed(retryAfter: nil)) }
        #expect(resolver.hosts == [Self.host, Self.host] && endpoint.connections == 0 && bench.connections == 0)
        #expect(bench.requests(.refusedAddress) == "2")
        let lines = bench.log.text.split(separator: "\n").filter { $0.contains("address-refused") }
        #expect(lines.count == 1, "at most one line a minute")
        #expect(lines.first?.contains(addresses.last ?? "") == true)
        bench.time.advance(milliseconds: 60_000)
        #expect(await bench.desk.result(of: try send("c")) == .failed(retryAfter: nil))
        #expect(bench.log.text.split(separator: "\n").filter { $0.contains("address-refused") }.count == 2)
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `each look-up of the name is judged`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in .answer(204) }
        let resolver = ScriptedResolver([[], ["127.0.0.1"]])
        let bench = try bench(endpoint, resolver)
        #expect(await bench.desk.result(of: try send("a")) == .failed(retryAfter: nil))
        #expect(bench.requests(.notConnected) == "1" && resolver.hosts.count == 1)
        #expect(await bench.desk.result(of: try send("a")) == .failed(retryAfter: nil))
        #expect(bench.requests(.refusedAddress) == "1" && endpoint.connections == 0)
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `refusals open the circuit breaker`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in .answer(204) }
        let bench = try bench(endpoint, ScriptedResolver([["127.0.0.1"]]))
        for number in 0..<20 { _ = await bench.desk.result(of: try send("\(number)")) }
        #expect(bench.metric("carillon_webhook_breaker_open") == "1")
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `a host without an address is a temporary failure`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in .answer(204) }
        let bench = try bench(endpoint, ScriptedResolver([[]]))
        #expect(await bench.desk.result(of: try send("a")) == .failed(retryAfter: nil))
        #expect(bench.requests(.notConnected) == "1")
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `an internal endpoint is connected at the addresses of the resolver, one after the other`() async throws
    {
        let endpoint = try await ScriptedEndpoint { _ in .answer(204) }
        let origin = "http://gateway:\(endpoint.port)"
        // Nothing listens at that port of the first address.
        let resolver = ScriptedResolver([["127.0.0.2", "127.0.0.1"]])
        let bench = try WebhookBench("\(origin)/", resolver: resolver)
        for name in ["a", "b"] { #expect(await bench.desk.result(of: try send(name)) == .accepted) }
        #expect(resolver.hosts == ["gateway"] && endpoint.connections == 1)
        #expect(endpoint.requests.first?.headers["host"] == "gateway:\(endpoint.port)")
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `an internal origin of media is none of the webhook's`() {
        #expect(throws: WebhookSettingsError.self) {
            try WebhookBench("https://gateway:8443/", internalOrigins: ["https://gateway:8443"]) {
                $0.isInternal = false
            }
        }
    }

    @Test(arguments: ["IP:127.0.0.1", "email:a@shop.com"])
    func `a certificate for the address, or with the name as common name, is refused`(_ names: String) async throws {
        let files = try TestFiles()
        defer { files.remove() }
        let pair = try files.certificate("endpoint", names: names, commonName: Self.host)
        let server = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(pair.certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: pair.key, format: .pem))
        )
        let endpoint = try await ScriptedEndpoint(tls: try NIOSSLContext(configuration: server)) { _ in .answer(204) }
        let bench = try WebhookBench(
            "https://\(Self.host):\(endpoint.port)/",
            trusting: .file(pair.certificate)
        )
        #expect(await bench.desk.result(of: try send("a")) == .failed(retryAfter: nil))
        #expect(bench.requests(.tls) == "1" && endpoint.requests.isEmpty)
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `a private authority of the settings is trusted besides those of the system`() async throws {
        let files = try TestFiles()
        defer { files.remove() }
        let pair = try files.certificate("endpoint")
        let server = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(pair.certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: pair.key, format: .pem))
        )
        let endpoint = try await ScriptedEndpoint(tls: try NIOSSLContext(configuration: server)) { _ in .answer(204) }
        for (file, isTrusted) in [("", false), (pair.certificate, true)] {
            let bench = try WebhookBench("https://localhost:\(endpoint.port)/", authoritiesFile: file)
            #expect(await bench.desk.result(of: try send("a")) == (isTrusted ? .accepted : .failed(retryAfter: nil)))
            await bench.channel.close()
        }
        #expect(endpoint.requests.count == 1)
        try await endpoint.stop()
    }

    @Test func `TLS verifies the name, whatever address it resolves to`() async throws {
        let files = try TestFiles()
        defer { files.remove() }
        let pair = try files.certificate("endpoint")
        let server = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(pair.certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: pair.key, format: .pem))
        )
        // `::1` is not in the certificate.
        let endpoint = try await ScriptedEndpoint(host: "::1", tls: try NIOSSLContext(configuration: server)) { _ in
            .answer(204)
        }
        for (host, isNamed) in [("localhost", true), (Self.host, false)] {
            let origin = "https://\(host):\(endpoint.port)"
            let bench = try WebhookBench(
                "\(origin)/",
                resolver: ScriptedResolver([["::1"]]),
                trusting: .file(pair.certificate)
            )
            #expect(await bench.desk.result(of: try send("a")) == (isNamed ? .accepted : .failed(retryAfter: nil)))
            #expect(bench.requests(.tls) == (isNamed ? "0" : "1"))
            await bench.channel.close()
        }
        try await endpoint.stop()
    }

    @Test(arguments: ["https://10.0.0.1/", "https://localhost/", "http://hooks.shop.com/", "https://hooks.shop.com:1/"])
    func `a URL that the policy refuses makes no channel`(_ url: String) {
        #expect(throws: WebhookSettingsError.self) { try WebhookBench(url) { $0.isInternal = false } }
    }
}
