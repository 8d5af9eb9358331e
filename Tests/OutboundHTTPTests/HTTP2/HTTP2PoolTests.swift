import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import Synchronization
import Testing
import TestSupport

@testable import OutboundHTTP

/// A pool against a server that speaks HTTP/2 as it should.
@Suite("HTTP/2 to other systems", .timeLimit(.minutes(5)))
struct HTTP2PoolTests {
    /// A body of so many bytes, each one's value its place.
    private static func body(_ count: Int) -> ByteBuffer {
        ByteBuffer(bytes: (0..<count).map { UInt8(truncatingIfNeeded: $0) })
    }

    @Test func `a request arrives with its fields and its body, and its answer comes with those of the server`()
        async throws
    {
        let server = HTTP2TestServer { request in
            request.answer(410, [("apns-id", "abc"), ("retry-after", "3")], body: #"{"reason":"Unregistered"}"#)
        }
        let client = try HTTP2TestClient(port: await server.start())
        let outcome = await client.answer("/3/device/00ff", [("apns-topic", "com.example")], body: Self.body(300))
        let answer = try outcome.get()
        #expect(answer.status == 410)
        #expect(answer.field("apns-id") == "abc" && answer.field("retry-after") == "3" && answer.field("x") == nil)
        #expect(String(buffer: answer.body) == #"{"reason":"Unregistered"}"#)
        let received = try #require(server.received.withLock { $0.first })
        let names = received.headers.map(\.name)
        #expect(names == [":method", ":scheme", ":authority", ":path", "apns-topic"])
        #expect(received.field(":path") == "/3/device/00ff" && received.field(":authority") == client.origin.hostHeader)
        #expect(received.body == Array(Self.body(300).readableBytesView))
        await client.close()
        try await eventually { server.goAways.load(ordering: .relaxed) == 1 }
        try await server.stop()
    }

    @Test func `a request without a body ends with its fields`() async throws {
        let server = HTTP2TestServer { $0.answer() }
        let client = try HTTP2TestClient(port: await server.start())
        #expect(await client.answer().status == 200)
        #expect(server.received.withLock { $0.first?.body } == [])
        await client.close()
        try await server.stop()
    }

    @Test func `thousands of requests from several threads are each answered once`() async throws {
        let server = HTTP2TestServer { request in request.answer(200, body: request.field(":path") ?? "") }
        let client = try HTTP2TestClient(port: await server.start()) { $0.connections = 3 }
        let (threads, each) = (4, 500)
        let outcomes = await withTaskGroup(of: [HTTP2TestClient.Outcome].self) { group in
            for _ in 0..<threads { group.addTask { await client.answers(each, body: Self.body(500)) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for results in outcomes {
            for (number, outcome) in results.enumerated() {
                #expect(try String(buffer: outcome.get().body) == "/\(number)")
            }
        }
        #expect(server.received.withLock { $0.count } == threads * each)
        try await eventually { client.pool.usage.inFlight == 0 && client.pool.usage.waiting == 0 }
        await client.close()
        try await server.stop()
    }

    @Test func `what is written goes out when it is flushed, and the first of it says that it must be`() async throws {
        let server = HTTP2TestServer { $0.answer() }
        let client = try HTTP2TestClient(port: await server.start())
        let outcomes = Mutex<[HTTP2TestClient.Outcome]>([])
        let written = (0..<3).map { number in
            client.pool.write(client.request("/\(number)") { outcome in outcomes.withLock { $0.append(outcome) } })
        }
        #expect(written == [true, false, false])
        #expect(client.pool.usage.waiting == 0 && client.pool.usage.inFlight == 0, "the pool does not know them")
        client.pool.flush()
        try await eventually { outcomes.withLock { $0.count } == 3 }
        #expect(outcomes.withLock { $0.allSatisfy { $0.status == 200 } })
        #expect(client.pool.write(client.request { _ in }), "again after they were taken")
        await client.close()
        try await server.stop()
    }

    @Test func `what was written and not flushed holds up nothing: neither its cancel nor the next request`()
        async throws
    {
        let server = HTTP2TestServer { $0.answer() }
        let client = try HTTP2TestClient(port: await server.start())
        let outcomes = Mutex<[HTTP2TestClient.Outcome]>([])
        let request = client.request { outcome in outcomes.withLock { $0.append(outcome) } }
        #expect(client.pool.write(request))
        client.pool.cancel(request)
        try await eventually { outcomes.withLock { $0.count } == 1 }
        #expect(outcomes.withLock { $0.first?.failure?.clientCode } == .cancelled)
        #expect(client.pool.write(client.request { outcome in outcomes.withLock { $0.append(outcome) } }))
        #expect(await client.answer().status == 200)
        try await eventually { outcomes.withLock { $0.count } == 2 }
        await client.close()
        try await server.stop()
    }

    @Test func `nothing is sent before the first SETTINGS, however long they take`() async throws {
        let gate = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: Void.self)
        let server = HTTP2TestServer(beforeSettings: { _ in gate.futureResult }) { $0.answer() }
        let client = try HTTP2TestClient(port: await server.start())
        async let outcome = client.answer()
        try await eventually { !server.connections.withLock { $0.isEmpty } }
        try await eventually { client.pool.usage.waiting == 1 && client.pool.usage.opening == 1 }
        gate.succeed()
        #expect(await outcome.status == 200)
        await client.close()
        try await server.stop()
    }

    @Test func `one request at a time until the server has accepted one and allows more`() async throws {
        let open = Atomic<Int>(0)
        let most = Atomic<Int>(0)
        let first = Atomic<Bool>(true)
        let server = HTTP2TestServer(maxStreams: 1) { request in
            let count = open.add(1, ordering: .relaxed).newValue
            most.max(count, ordering: .relaxed)
            if first.exchange(false, ordering: .relaxed) {
                #expect(count == 1)
                request.connection.allow(streams: 50)
                open.subtract(1, ordering: .relaxed)
                return request.answer()
            }
            // Until as many are here as are allowed: they do come.
            guard count == 45 else { return }
            for stream in 0..<45 { request.connection.answer(request.stream - 2 * stream) }
            open.subtract(45, ordering: .relaxed)
        }
        let client = try HTTP2TestClient(port: await server.start()) { $0.connections = 1 }
        let outcomes = await client.answers(46)
        #expect(outcomes.allSatisfy { $0.status == 200 })
        #expect(most.load(ordering: .relaxed) == 45, "50 less the reserved ones")
        await client.close()
        try await server.stop()
    }

    @Test func `a request that is as large as a write leaves at once`() async throws {
        let server = HTTP2TestServer { $0.answer() }
        let client = try HTTP2TestClient(port: await server.start()) { $0.connections = 1 }
        #expect(await client.answer(body: Self.body(65_530)).status == 200)
        #expect(await client.answer(body: Self.body(65_530)).status == 200)
        await client.close()
        try await server.stop()
    }

    @Test func `large bodies wait for the windows of the streams and of the connection`() async throws {
        let server = HTTP2TestServer(maxStreams: 500, window: 1000) { $0.answer() }
        let client = try HTTP2TestClient(port: await server.start()) { ($0.connections, $0.reservedShare) = (1, 0) }
        // 200 x 4 KiB are twelve windows of the connection.
        #expect(await client.answers(200, body: Self.body(4096)).allSatisfy { $0.status == 200 })
        let expected = Array(Self.body(4096).readableBytesView)
        #expect(server.received.withLock { $0.allSatisfy { $0.body == expected } })
        await client.close()
        try await server.stop()
    }

    @Test func `an answer before the whole request ends the request, and its bytes do not count against the window`()
        async throws
    {
        let server = HTTP2TestServer(window: 100, grantsWindows: false) { request in
            if request.field(":path") != "/silent" { request.answer() }
        }
        let client = try HTTP2TestClient(port: await server.start()) { $0.connections = 1 }
        async let large = client.answer(body: Self.body(60_000))
        try await eventually { server.bytes.load(ordering: .relaxed) == 100 }
        server.connections.withLock { $0.first }?.answer(1, 413, body: "too large")
        #expect(await large.status == 413)
        try await eventually { server.resets.load(ordering: .relaxed) == 1 }
        #expect(await client.answer().status == 200)
        // Beside another request only what fits into the window is sent.
        async let silent = client.answer("/silent", within: .seconds(3))
        try await eventually { client.pool.usage.inFlight == 1 }
        #expect(await client.answer(body: Self.body(50)).status == 200)
        #expect(await silent.failure?.isSent == true)
        await client.close()
        try await server.stop()
    }

    @Test func `a field that would begin another one is not sent, and ends no other request`() async throws {
        let server = HTTP2TestServer { $0.answer() }
        let client = try HTTP2TestClient(port: await server.start())
        #expect(await client.answer().status == 200)
        let failure = await client.answer("/", [("x-a", "b\r\nx-c: d")], body: Self.body(10)).failure
        #expect(failure?.clientCode == .invalidResponse && failure?.isSent == false)
        #expect(await client.answer().status == 200)
        #expect(server.received.withLock { $0.count } == 2)
        #expect(client.pool.usage.opened == 1)
        await client.close()
        try await server.stop()
    }

    @Test func `a cancelled request loses its stream, one that waits is not sent`() async throws {
        let server = HTTP2TestServer(maxStreams: 1) { request in
            if request.field(":path") != "/silent" { request.answer() }
        }
        let client = try HTTP2TestClient(port: await server.start()) { $0.connections = 1 }
        let failures = Mutex<[OutboundFailure?]>([])
        let note: @Sendable (HTTP2TestClient.Outcome) -> Void = { outcome in
            failures.withLock { $0.append(outcome.failure) }
        }
        let (sent, waits) = (client.request("/silent", onEnd: note), client.request("/waits", onEnd: note))
        client.pool.send(sent)
        client.pool.send(waits)
        try await eventually { server.received.withLock { $0.count } == 1 }
        client.pool.cancel(waits)
        client.pool.cancel(sent)
        try await eventually { failures.withLock { $0.count } == 2 }
        #expect(failures.withLock { $0.map { $0?.isSent } } == [false, true])
        #expect(failures.withLock { $0.allSatisfy { $0?.clientCode == .cancelled } })
        #expect(await client.answer("/next").status == 200)
        #expect(server.received.withLock { $0.map { $0.field(":path") } } == ["/silent", "/next"])
        #expect(server.resets.load(ordering: .relaxed) == 1)
        await client.close()
        try await server.stop()
    }

    @Test func `a result may send the next request, and retire its connection before`() async throws {
        let server = HTTP2TestServer { request in
            if request.connection.number == 0 {
                request.answer(403, body: #"{"reason":"ExpiredProviderToken"}"#)
            } else {
                request.answer()
            }
        }
        let client = try HTTP2TestClient(port: await server.start())
        let outcomes: [HTTP2Answer] = try await withCheckedThrowingContinuation { continuation in
            client.pool.send(
                client.request("/first") { first in
                    guard case .success(let answer) = first else { return continuation.resume(returning: []) }
                    client.pool.retire(answer.connection)
                    client.pool.send(
                        client.request("/second") { second in
                            continuation.resume(with: second.map { [answer, $0] })
                        }
                    )
                }
            )
        }
        #expect(outcomes.map(\.status) == [403, 200])
        #expect(Set(outcomes.map(\.connection)).count == 2)
        #expect(client.events.retirements.first == .requested)
        await client.close()
        try await server.stop()
    }

    @Test func `a pool that is released closes its connections`() async throws {
        let server = HTTP2TestServer { $0.answer() }
        var client: HTTP2TestClient? = try HTTP2TestClient(port: await server.start())
        #expect(await client?.answer().status == 200)
        client = nil
        try await eventually { server.goAways.load(ordering: .relaxed) == 1 }
        try await server.stop()
    }

    @Test func `after a shutdown nothing is sent`() async throws {
        let server = HTTP2TestServer { $0.answer() }
        let client = try HTTP2TestClient(port: await server.start())
        #expect(await client.answer().status == 200)
        await client.pool.shutdown(by: .now() + .seconds(60))
        let failure = await client.answer().failure
        #expect(failure == .closed && failure?.isSent == false)
        #expect(server.received.withLock { $0.count } == 1)
        try await server.stop()
    }
}
