import NIOCore
import OutboundHTTP
import Testing

@testable import NotificationEnrichment

@Suite("Time limits and cancellation of fetches")
struct FetchTimeTests {
    private static let part = Array(FetchImage.png(bytes: 1000).prefix(500))
    private static let halfBody = MediaServer.Answer.head(200, [("content-length", "1000")], part, .hang)

    private func failure(_ bench: FetchBench, _ url: String, within time: TimeAmount = .seconds(120)) async
        -> OutboundFailure?
    {
        await bench.fetch(url, within: time).failure
    }

    @Test("a look-up without an end times out")
    func resolving() async throws {
        let server = try await MediaServer { _ in .hang }
        let bench = try FetchBench(server, resolver: SilentResolver()) { $0.resolveTimeout = .milliseconds(100) }
        #expect(await bench.code(server.url("/")) == "timed-out")
        let late = try FetchBench(server, resolver: SilentResolver())
        let failure = await failure(late, server.url("/"), within: .milliseconds(100))
        #expect(failure?.code == "timed-out")
        #expect(failure?.detail.hasSuffix(OutboundPhase.resolving.rawValue) == true)
    }

    @Test("a TLS handshake without an end times out")
    func handshake() async throws {
        let server = try await MediaServer { _ in .hang }
        let bench = try FetchBench(server, scheme: "https", roots: try FetchCertificate().roots) {
            $0.connectTimeout = .milliseconds(500)
        }
        let failure = await failure(bench, server.url("/", scheme: "https"))
        #expect(failure?.code == "timed-out")
        await server.wait { $0.openConnections == 0 }
    }

    @Test("an answer that does not begin times out, and the connection ends")
    func head() async throws {
        let server = try await MediaServer { _ in .hang }
        let bench = try FetchBench(server) { $0.firstByteTimeout = .milliseconds(100) }
        let failure = await failure(bench, server.url("/"))
        #expect(failure?.code == "timed-out")
        #expect(failure?.detail.hasSuffix(OutboundPhase.head.rawValue) == true)
        await server.wait { $0.openConnections == 0 }
    }

    @Test("a body that is slower than the minimum rate ends, and nothing remains")
    func tooSlow() async throws {
        let server = try await MediaServer { _ in Self.halfBody }
        let bench = try FetchBench(server) { ($0.minimumRate, $0.rateWindow) = (1000, .milliseconds(20)) }
        #expect(await failure(bench, server.url("/"))?.code == "too-slow")
        await server.wait { $0.openConnections == 0 }
        await bench.noFilesRemain()
        #expect(bench.fetcher.statistics.outcomes == ["too-slow": 1])
    }

    @Test("a body that stops times out by the deadline and by the whole time, and nothing remains")
    func body() async throws {
        let server = try await MediaServer { _ in Self.halfBody }
        let bench = try FetchBench(server)
        #expect(await failure(bench, server.url("/"), within: .seconds(1))?.code == "timed-out")
        await server.wait { $0.openConnections == 0 }
        await bench.noFilesRemain()
        let short = try FetchBench(server) { $0.wholeTimeout = .seconds(1) }
        #expect(await failure(short, server.url("/"))?.code == "timed-out")
        await server.wait { $0.openConnections == 0 }
    }

    @Test("a deadline that has passed fetches nothing")
    func passed() async throws {
        let server = try await MediaServer { _ in .hang }
        let bench = try FetchBench(server)
        #expect(await failure(bench, server.url("/"), within: .zero)?.code == "timed-out")
        #expect(server.connections == 0)
    }

    @Test("each fetch of a shared download has its own deadline")
    func ownDeadlines() async throws {
        let server = try await MediaServer { _ in .image(FetchImage.png()) }
        server.hold()
        let bench = try FetchBench(server)
        async let patient = bench.fetch(server.url("/"))
        await server.wait { $0.requests.count == 1 }
        #expect(await failure(bench, server.url("/"), within: .milliseconds(50))?.code == "timed-out")
        server.release()
        #expect(await patient.failure == nil)
        #expect(server.requests.count == 1)
    }

    @Test(
        "a cancellation ends the fetch and closes the connection, in the head and in the body",
        arguments: [true, false]
    )
    func cancellation(inHead: Bool) async throws {
        let server = try await MediaServer { _ in inHead ? .hang : Self.halfBody }
        let bench = try FetchBench(server)
        let (steps, step) = AsyncStream<FetchStep>.makeStream()
        let task = Task { await bench.fetch(server.url("/")) { step.yield($0) } }
        if inHead {
            await server.wait { $0.requests.count == 1 }
        } else {
            for await step in steps { if case .answered = step { break } }
        }
        task.cancel()
        #expect(await task.value.failure?.code == "cancelled")
        await server.wait { $0.openConnections == 0 }
        await bench.noFilesRemain()
    }

    @Test("a cancelled fetch does not disturb another one that shares the download")
    func sharedCancellation() async throws {
        let server = try await MediaServer { _ in .image(FetchImage.png()) }
        server.hold()
        let bench = try FetchBench(server)
        let first = Task { await bench.fetch(server.url("/")) }
        await server.wait { $0.requests.count == 1 }
        async let second = bench.fetch(server.url("/"))
        while bench.fetcher.statistics.fetching < 2 { await Task.yield() }
        first.cancel()
        #expect(await first.value.failure?.code == "cancelled")
        server.release()
        #expect(await second.failure == nil)
    }

    @Test("a task that is cancelled before it begins fetches nothing")
    func cancelledBefore() async throws {
        let server = try await MediaServer { _ in .hang }
        let bench = try FetchBench(server)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await bench.fetch(server.url("/"))
        }
        task.cancel()
        #expect(await task.value.failure?.code == "cancelled")
    }

    @Test("the end of the fetcher ends all fetches and connections")
    func close() async throws {
        let server = try await MediaServer { _ in .hang }
        let bench = try FetchBench(server)
        async let hanging = bench.fetch(server.url("/"))
        await server.wait { $0.requests.count == 1 }
        bench.fetcher.close()
        #expect(await hanging.failure?.code == "cancelled")
        await server.wait { $0.openConnections == 0 }
        #expect(await bench.code(server.url("/")) == "cancelled")
    }
}
