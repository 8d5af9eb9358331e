import NIOCore
import OutboundHTTP
import Testing

@testable import NotificationEnrichment

@Suite("Posting through the connections of the fetcher", .timeLimit(.minutes(10)))
struct PostingTests {
    private static let body = Array(#"{"content":{"title":"T"}}"#.utf8)

    private func post(
        _ bench: FetchBench,
        _ url: String,
        _ body: [UInt8] = body,
        answerBytes: Int = 1000,
        within time: Duration = .seconds(120)
    ) async throws -> Result<EnrichmentAnswer, EnrichmentFailure> {
        try await bench.fetcher.posting(to: url, of: "webhook:test", by: bench.policy).post(
            body: body,
            headers: [EnrichmentHeader("content-type", "application/json"), EnrichmentHeader("webhook-id", "1")],
            answerBytes: answerBytes,
            deadline: .now + time
        )
    }

    private func code(_ result: Result<EnrichmentAnswer, EnrichmentFailure>) -> String? {
        if case .failure(let failure) = result { failure.code } else { nil }
    }

    @Test("the body and the headers arrive, and the answer comes back", arguments: [0, 100, 1_000_000])
    func arrives(bytes: Int) async throws {
        let answer = [UInt8](repeating: 65, count: bytes)
        let server = try await MediaServer { _ in .status(200, body: answer) }
        let bench = try FetchBench(server)
        let body = [UInt8](repeating: 66, count: bytes)
        let result = try await post(bench, server.url("/scores?a=b"), body, answerBytes: bytes)
        #expect(try result.get() == EnrichmentAnswer(status: 200, body: answer))
        let request = try #require(server.requests.first)
        #expect(request.method == "POST" && request.target == "/scores?a=b" && request.body == body)
        #expect(request.headers["content-length"] == "\(bytes)" && request.headers["webhook-id"] == "1")
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.headers["host"] == "\(FetchBench.host):\(server.port)")
    }

    @Test("an answer over TLS comes back, and none when the certificate is for another name", arguments: [true, false])
    func secure(isNamed: Bool) async throws {
        let certificate = try FetchCertificate(isNamed ? "DNS:\(FetchBench.host)" : "DNS:other.com")
        let server = try await MediaServer(tls: try certificate.server) { _ in .status(200, body: Self.body) }
        let bench = try FetchBench(server, scheme: "https", roots: certificate.roots)
        let result = try await post(bench, server.url("/", scheme: "https"))
        #expect(code(result) == (isNamed ? nil : "tls"))
        #expect(server.requests.count == (isNamed ? 1 : 0))
    }

    @Test("answers without a body of interest have only their status", arguments: [204, 400, 404, 500, 503])
    func statusOnly(status: Int) async throws {
        let server = try await MediaServer { _ in
            status == 204 ? .head(204, [], [], .keep) : .status(status, body: Self.body)
        }
        let bench = try FetchBench(server)
        let result = try await post(bench, server.url("/"))
        #expect(try result.get() == EnrichmentAnswer(status: status))
    }

    @Test("a redirect is refused and not followed", arguments: [301, 302, 303, 304, 307, 308])
    func redirect(status: Int) async throws {
        let server = try await MediaServer { _ in .redirect(to: "/other", status) }
        let bench = try FetchBench(server)
        #expect(code(try await post(bench, server.url("/"))) == "redirect-refused")
        #expect(server.targets == ["/"])
    }

    @Test("an answer that is too large is refused, with its length and without one")
    func tooLarge() async throws {
        let body = [UInt8](repeating: 65, count: 1001)
        let server = try await MediaServer { request in
            switch request.target {
            case "/length": .status(200, body: body)
            case "/end": .head(200, [], body, .close)
            default: .head(200, [], body, .endless)
            }
        }
        let bench = try FetchBench(server)
        for target in ["/length", "/end", "/endless"] {
            #expect(code(try await post(bench, server.url(target))) == "too-large")
        }
        await server.wait { $0.openConnections <= 1 }
        let exact = try await post(bench, server.url("/length"), answerBytes: 1001)
        #expect(try exact.get().body == body)
    }

    @Test(
        "an answer that cannot be used is refused with its code",
        arguments: [
            (.status(200, [("content-encoding", "gzip")], body: body), "encoding-refused"),
            (.head(200, [("content-length", "100")], body, .close), "truncated"),
            (.raw("no HTTP\r\n\r\n", .close), "invalid-response"), (.raw("", .close), "disconnected"),
        ] as [(MediaServer.Answer, String)]
    )
    func unusable(answer: MediaServer.Answer, code: String) async throws {
        let server = try await MediaServer { _ in answer }
        let bench = try FetchBench(server)
        #expect(self.code(try await post(bench, server.url("/"))) == code)
    }

    @Test(
        "a slow answer has timed out at the deadline, in the head and in the body, and the connection ends",
        arguments: [MediaServer.Answer.hang, .head(200, [("content-length", "100")], body, .hang)]
    )
    func slow(answer: MediaServer.Answer) async throws {
        let server = try await MediaServer { _ in answer }
        let bench = try FetchBench(server)
        #expect(code(try await post(bench, server.url("/"), within: .seconds(1))) == "timed-out")
        await server.wait { $0.openConnections == 0 }
    }

    @Test("a look-up without an end has timed out at the deadline, and a deadline that has passed sends nothing")
    func lookUp() async throws {
        let server = try await MediaServer { _ in .hang }
        let bench = try FetchBench(server, resolver: SilentResolver())
        let late = try await post(bench, server.url("/"), within: .milliseconds(100))
        #expect(code(late) == "timed-out")
        if case .failure(let failure) = late {
            #expect(failure.detail == "webhook:test: \(FetchBench.host): \(OutboundPhase.resolving.rawValue)")
        }
        #expect(code(try await post(bench, server.url("/"), within: .zero)) == "timed-out")
        #expect(server.connections == 0)
    }

    @Test("a cancellation ends the request and closes the connection")
    func cancellation() async throws {
        let server = try await MediaServer { _ in .hang }
        let bench = try FetchBench(server)
        let task = Task { try await post(bench, server.url("/")) }
        await server.wait { $0.requests.count == 1 }
        task.cancel()
        #expect(code(try await task.value) == "cancelled")
        await server.wait { $0.openConnections == 0 }
    }

    @Test(
        "a URL that is not allowed is refused at the start",
        arguments: [
            ("https://10.0.0.1/", EgressRefusal.Code.addressRefused), ("https://localhost/", .hostRefused),
            ("http://shop.com/", .schemeRefused), ("https://shop.com:22/", .portRefused), ("shop.com", .urlMalformed),
        ]
    )
    func refusedURL(url: String, code: EgressRefusal.Code) throws {
        let bench = try FetchBench()
        let refusal = #expect(throws: EgressRefusal.self) {
            try bench.fetcher.posting(to: url, of: "webhook", by: bench.policy)
        }
        #expect(refusal?.code == code)
    }

    @Test("a name that resolves to a private address is refused at the call, without a connection")
    func refusedAddress() async throws {
        let server = try await MediaServer { _ in .status(200, body: Self.body) }
        let origin = "http://\(FetchBench.host):\(server.port)"
        let resolver = ScriptedResolver([["93.184.215.14", "127.0.0.1"], ["127.0.0.1"]])
        let bench = try FetchBench(origins: [origin], resolver: resolver)
        #expect(code(try await post(bench, "\(origin)/")) == "address-refused")
        #expect(server.connections == 0 && bench.fetcher.statistics.openedConnections == 0)
    }

    @Test("the second call uses the connection of the first one, and fetches use it, too")
    func keptAlive() async throws {
        let server = try await MediaServer {
            $0.method == "POST" ? .status(200, body: Self.body) : .image(FetchImage.png())
        }
        let bench = try FetchBench(server)
        for _ in 0..<3 { #expect(try await post(bench, server.url("/")).get().status == 200) }
        #expect(await bench.code(server.url("/a.png")) == nil)
        #expect(server.connections == 1 && server.requests.count == 4)
    }

    @Test("a POST whose idle connection was closed before an answer is sent once more")
    func stale() async throws {
        let server = try await MediaServer { request in
            request.target == "/b" && request.connection == 1 ? .raw("", .close) : .status(200, body: Self.body)
        }
        let bench = try FetchBench(server)
        #expect(code(try await post(bench, server.url("/a"))) == nil)
        #expect(code(try await post(bench, server.url("/b"))) == nil)
        #expect(server.targets == ["/a", "/b", "/b"])
        #expect(server.requests.allSatisfy { $0.body == Self.body })
    }

    @Test("a POST whose answer began is not sent again")
    func begun() async throws {
        let server = try await MediaServer { request in
            request.target == "/b" ? .raw("HTTP/1.1 200 O", .close) : .status(200, body: Self.body)
        }
        let bench = try FetchBench(server)
        #expect(code(try await post(bench, server.url("/a"))) == nil)
        #expect(code(try await post(bench, server.url("/b"))) == "disconnected")
        #expect(server.targets == ["/a", "/b"])
    }

    @Test("the end of the fetcher ends the request")
    func close() async throws {
        let server = try await MediaServer { _ in .hang }
        let bench = try FetchBench(server)
        async let hanging = post(bench, server.url("/"))
        await server.wait { $0.requests.count == 1 }
        bench.fetcher.close()
        #expect(code(try await hanging) != nil)
        #expect(code(try await post(bench, server.url("/"))) == "cancelled")
        await server.wait { $0.openConnections == 0 }
    }

    @Test("an internal service is open to its enricher alone, not to media")
    func purpose() async throws {
        let server = try await MediaServer { _ in .status(204) }
        let bench = try FetchBench()
        let url = server.url("/enrich")
        let posting = try bench.fetcher.posting(to: url, of: "webhook:test", by: .inside(url))
        let answer = await posting.post(
            body: [],
            headers: [],
            answerBytes: 10,
            deadline: .now + .seconds(60)
        )
        #expect(try answer.get().status == 204)
        #expect(await bench.code(url) == "scheme-refused")
        #expect(server.requests.count == 1)
    }

}
