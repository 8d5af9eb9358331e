import NIOCore
import OutboundHTTP
import Testing

@testable import NotificationEnrichment

@Suite("Connections of the fetcher")
struct FetchConnectionsTests {
    private func fetchAll(_ bench: FetchBench, _ urls: [String]) async -> [String: Int] {
        await withTaskGroup(of: String?.self) { group in
            for url in urls { group.addTask { await bench.code(url) } }
            return await group.reduce(into: [:]) { $0[$1 ?? "fetched", default: 0] += 1 }
        }
    }

    @Test("a thousand fetches of one URL are one download")
    func shared() async throws {
        let server = try await MediaServer { _ in .image(FetchImage.png()) }
        let bench = try FetchBench(server)
        server.hold()
        async let results = fetchAll(bench, Array(repeating: server.url("/a"), count: 1000))
        while bench.fetcher.statistics.fetching < 1000 || server.requests.isEmpty { await Task.yield() }
        server.release()
        #expect(await results == ["fetched": 1000])
        #expect(server.requests.count == 1)
        #expect(bench.fetcher.statistics.outcomes == ["downloaded": 1, "shared": 999])
    }

    @Test("the bound for a host is kept, and the others wait for their turn")
    func boundPerHost() async throws {
        let server = try await MediaServer { .image(FetchImage.png(bytes: 100_000, seed: $0.target.hashValue)) }
        let bench = try FetchBench(server) { $0.connectionsPerHost = 3 }
        let urls = (0..<200).map { server.url("/\($0)") }
        #expect(await fetchAll(bench, urls) == ["fetched": 200])
        #expect(server.mostConnections <= 3)
        #expect(server.requests.count == 200)
        #expect(bench.fetcher.statistics.waiting == 0)
    }

    @Test("the bound overall is kept with several hosts; idle connections make room")
    func boundOverall() async throws {
        let servers = [
            try await MediaServer { _ in .image(FetchImage.png(seed: 1)) },
            try await MediaServer { _ in .image(FetchImage.png(seed: 2)) },
            try await MediaServer { _ in .image(FetchImage.png(seed: 3)) },
        ]
        let bench = try FetchBench(servers[0], servers[1], servers[2]) { $0.connections = 2 }
        let urls = (0..<30).map { servers[$0 % 3].url("/\($0)") }
        #expect(await fetchAll(bench, urls) == ["fetched": 30])
        #expect(bench.fetcher.statistics.connections <= 2)
    }

    @Test("more waiting downloads than the bound are refused as overloaded")
    func overloaded() async throws {
        let server = try await MediaServer { _ in .image(FetchImage.png()) }
        server.hold()
        let bench = try FetchBench(server) { ($0.connectionsPerHost, $0.waiting) = (1, 2) }
        async let results = fetchAll(bench, (0..<5).map { server.url("/\($0)") })
        while bench.fetcher.statistics.outcomes["overloaded"] != 2 || server.requests.isEmpty { await Task.yield() }
        #expect(bench.fetcher.statistics.waiting == 2)
        server.release()
        #expect(await results == ["fetched": 3, "overloaded": 2])
    }

    @Test("downloads that hang, under many names of one registered name, leave connections for others")
    func shares() async throws {
        let slow = try await MediaServer { _ in .hang }
        let fast = try await MediaServer { _ in .image(FetchImage.png()) }
        let origins = (0..<10).map { "http://h\($0).slow.com:\(slow.port)" }
        let bench = try FetchBench(fast, internalOrigins: origins) {
            ($0.connections, $0.connectionsPerHost) = (10, 10)
        }
        let hanging = origins.map { origin in Task { await bench.fetch("\(origin)/a", for: "shop") } }
        await slow.wait { $0.requests.count == 7 }
        #expect(await bench.fetch(fast.url("/b"), for: "bank").failure == nil)
        #expect(slow.requests.count == 7)
        for task in hanging { task.cancel() }
        for task in hanging { #expect(await task.value.failure?.code == "cancelled") }
        #expect(bench.fetcher.statistics.waiting == 0)
    }

    @Test("a cancelled download leaves the queue")
    func leavesQueue() async throws {
        let server = try await MediaServer { _ in .image(FetchImage.png()) }
        server.hold()
        let bench = try FetchBench(server) { $0.connectionsPerHost = 1 }
        async let first = bench.fetch(server.url("/a"))
        await server.wait { $0.requests.count == 1 }
        let second = Task { await bench.fetch(server.url("/b")) }
        while bench.fetcher.statistics.waiting == 0 { await Task.yield() }
        second.cancel()
        #expect(await second.value.failure?.code == "cancelled")
        #expect(bench.fetcher.statistics.waiting == 0)
        server.release()
        #expect(await first.failure == nil)
    }

    @Test("a connection is used again, also after an answer without a medium")
    func reuse() async throws {
        let server = try await MediaServer {
            $0.target == "/none" ? .status(404, body: [1, 2, 3]) : .image(FetchImage.png())
        }
        let bench = try FetchBench(server)
        for target in ["/a", "/none", "/b"] { _ = await bench.fetch(server.url(target)) }
        #expect(server.connections == 1)
        #expect(bench.fetcher.statistics.connections == 1)
    }

    @Test("an idle connection that its server closes is replaced, and the request is sent once more")
    func stale() async throws {
        let server = try await MediaServer { request in
            // The second request of the first connection finds it closed.
            request.target == "/b" && request.connection == 1 ? .raw("", .close) : .image(FetchImage.png())
        }
        let bench = try FetchBench(server)
        #expect(await bench.code(server.url("/a")) == nil)
        #expect(await bench.code(server.url("/b")) == nil)
        #expect(server.targets == ["/a", "/b", "/b"])
        #expect(server.connections == 2)
    }

    @Test("a server that closes every connection before its answer is asked at most twice")
    func staleTwice() async throws {
        let server = try await MediaServer { $0.target == "/a" ? .image(FetchImage.png()) : .raw("", .close) }
        let bench = try FetchBench(server)
        #expect(await bench.code(server.url("/a")) == nil)
        #expect(await bench.code(server.url("/b")) == "disconnected")
        #expect(server.targets == ["/a", "/b", "/b"])
    }

    @Test("bytes without a request end an idle connection")
    func unsolicited() async throws {
        let server = try await MediaServer { request in
            let answer = MediaServer.Answer.image(FetchImage.png())
            let second = Array("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".utf8)
            return request.target == "/a" ? .init(bytes: answer.bytes + second) : answer
        }
        let bench = try FetchBench(server)
        #expect(await bench.code(server.url("/a")) == nil)
        await server.wait { $0.openConnections == 0 }
        #expect(await bench.code(server.url("/b")) == nil)
        #expect(server.connections == 2)
    }

    @Test("an idle connection ends after its time")
    func idleTime() async throws {
        let server = try await MediaServer { _ in .image(FetchImage.png()) }
        let bench = try FetchBench(server) { $0.idleTimeout = .milliseconds(50) }
        #expect(await bench.code(server.url("/a")) == nil)
        await server.wait { $0.connections == 1 && $0.openConnections == 0 }
    }

    @Test("a connection serves only requests whose addresses contain its own")
    func addressChange() async throws {
        let server = try await MediaServer(host: "0.0.0.0") { .image(FetchImage.png(seed: $0.target.count)) }
        let resolver = ScriptedResolver([["127.0.0.1"], ["127.0.0.2"]])
        let bench = try FetchBench(server, resolver: resolver) { $0.addressLifetime = .zero }
        #expect(await bench.code(server.url("/a")) == nil)
        #expect(await bench.code(server.url("/bb")) == nil)
        #expect(server.connections == 2)
    }
}
