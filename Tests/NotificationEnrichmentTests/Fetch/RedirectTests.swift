import NIOCore
import OutboundHTTP
import Testing

@testable import NotificationEnrichment

@Suite("Redirects and addresses")
struct RedirectTests {
    @Test("a chain of five redirects is followed; six are refused", arguments: [301, 302, 303, 307, 308])
    func chain(status: Int) async throws {
        let server = try await MediaServer { request in
            guard let number = Int(request.target.dropFirst()), number > 0 else { return .image(FetchImage.png()) }
            return .redirect(to: "/\(number - 1)", status)
        }
        let bench = try FetchBench(server)
        #expect(await bench.code(server.url("/5")) == nil)
        #expect(server.targets == ["/5", "/4", "/3", "/2", "/1", "/0"])
        #expect(await bench.code(server.url("/6")) == "redirect-refused")
        #expect(server.connections == 1)
    }

    @Test("a loop of redirects is refused before its second round")
    func loop() async throws {
        let server = try await MediaServer { .redirect(to: $0.target == "/a" ? "/b" : "/a") }
        let bench = try FetchBench(server)
        #expect(await bench.code(server.url("/a")) == "redirect-refused")
        #expect(server.targets == ["/a", "/b"])
    }

    @Test(
        "a redirect to what the policy refuses opens no connection",
        arguments: [
            ("https://10.0.0.1/a", "address-refused"), ("https://169.254.169.254/latest", "address-refused"),
            ("https://[::1]/", "address-refused"), ("http://example.com/", "scheme-refused"),
            ("https://localhost/", "host-refused"), ("file:///etc/passwd", "scheme-refused"),
            ("https://example.com:22/", "port-refused"), ("https://a b/", "url-malformed"),
        ]
    )
    func refusedTarget(location: String, code: String) async throws {
        let server = try await MediaServer { _ in .redirect(to: location) }
        let resolver = ScriptedResolver()
        let bench = try FetchBench(server, resolver: resolver)
        #expect(await bench.code(server.url("/a")) == code)
        #expect(bench.fetcher.statistics.openedConnections == 1)
        #expect(resolver.hosts == [FetchBench.host])
    }

    @Test("a redirect to a name with a private address is refused without a connection")
    func refusedName() async throws {
        let server = try await MediaServer { _ in .redirect(to: "https://rebind.shop.com/") }
        let resolver = ScriptedResolver([["127.0.0.1"], ["93.184.215.14", "10.0.0.1"]])
        let bench = try FetchBench(server, resolver: resolver)
        #expect(await bench.code(server.url("/a")) == "address-refused")
        #expect(resolver.hosts == [FetchBench.host, "rebind.shop.com"])
        #expect(bench.fetcher.statistics.openedConnections == 1)
    }

    @Test("each look-up of a name is judged, and nothing is connected to a private address")
    func rebinding() async throws {
        let server = try await MediaServer { _ in .image(FetchImage.png()) }
        let resolver = ScriptedResolver([[], ["127.0.0.1"]])
        let origin = "http://rebind.shop.com:\(server.port)"
        let bench = try FetchBench(origins: [origin], resolver: resolver) { $0.addressLifetime = .zero }
        #expect(await bench.code("\(origin)/a") == "unresolved")
        #expect(resolver.hosts.count == 1)
        #expect(await bench.code("\(origin)/a") == "address-refused")
        #expect(resolver.hosts.count == 2)
        #expect(server.connections == 0)
    }

    @Test("a host is looked up once for a few seconds")
    func lookUps() async throws {
        let server = try await MediaServer { .image(FetchImage.png(seed: $0.target.count)) }
        let resolver = ScriptedResolver()
        let bench = try FetchBench(server, resolver: resolver) { $0.addressLifetime = .seconds(60) }
        for target in ["/a", "/aa", "/aaa"] { #expect(await bench.code(server.url(target)) == nil) }
        #expect(resolver.hosts == [FetchBench.host])
    }

    @Test("a host without addresses, and one whose look-up fails, are unresolved")
    func unresolved() async throws {
        struct Failing: HostResolver {
            struct Failure: Error {}
            func addresses(of host: String) async throws -> [IPAddress] { throw Failure() }
        }
        let server = try await MediaServer { _ in .hang }
        #expect(await (try FetchBench(server, resolver: ScriptedResolver([[]]))).code(server.url("/")) == "unresolved")
        #expect(await (try FetchBench(server, resolver: Failing())).code(server.url("/")) == "unresolved")
    }

    @Test("the next address is tried when the first one accepts no connection")
    func nextAddress() async throws {
        let server = try await MediaServer { _ in .image(FetchImage.png()) }
        // Nothing listens at that port of the first address.
        let bench = try FetchBench(server, resolver: ScriptedResolver([["127.0.0.2", "127.0.0.1"]]))
        #expect(await bench.code(server.url("/a.png")) == nil)
        #expect(await bench.code("http://\(FetchBench.host):1/") == "scheme-refused")
    }

    @Test("the system's resolver finds the addresses of this machine, and says why it finds none")
    func systemResolver() async throws {
        let resolver = SystemResolver(threads: 1)
        let addresses = try await resolver.addresses(of: "localhost")
        #expect(addresses.contains { ["127.0.0.1", "::1"].contains($0.description) })
        await #expect(throws: SystemResolver.Failure.self) { try await resolver.addresses(of: "a..b") }
    }
}
