import Foundation
import NIOHTTP2
import NotificationModel
import Testing

@testable import APNsSimulator

/// Connections over TLS on the loopback address, with a client that shows every frame.
@Suite(.timeLimit(.minutes(2)))
struct ConnectionTests {
    private func client(_ simulator: APNsSimulator, _ port: Int? = nil) async throws -> TestClient {
        try await TestClient.connect(port ?? simulator.productionPort, authority: simulator.authorityFile)
    }

    @Test func `a push is accepted over TLS and shown, and the number of streams grows with the first success`()
        async throws
    {
        try await withSimulator { simulator async throws in
            let client = try await client(simulator)
            let authorization = try simulator.authorization()
            #expect(try await client.streams() == 1)
            let answer = try await client.answer(client.send(authorization, collapseID: "order-1"))
            #expect(answer.status == 200)
            #expect(answer.headers["apns-id"].map(PushHeaders.isIdentifier) == true)
            #expect(answer.headers["apns-unique-id"] == nil)
            #expect(try await client.streams() == 500)
            #expect(simulator.device("phone")?.shown(by: Desk.topic).map(\.identifier) == ["order-1"])
            let connections = await simulator.connections
            #expect(connections.map(\.team) == [APNsSimulator.ownTeam])
            #expect(connections.map(\.requests) == [1])
        }
    }

    @Test func `a refusal has its reason in a JSON object, and the time with 410`() async throws {
        try await withSimulator { simulator async throws in
            let client = try await client(simulator)
            let authorization = try simulator.authorization()
            let refused = try await client.answer(client.send(to: "abc", authorization))
            #expect((refused.status, refused.body) == (400, #"{"reason":"BadDeviceToken"}"#))
            simulator.uninstall(Desk.topic, from: "phone")
            let gone = try await client.answer(client.send(authorization))
            #expect(gone.status == 410)
            #expect(gone.body.hasPrefix(#"{"reason":"Unregistered","timestamp":1"#))
        }
    }

    @Test func `the other port is the other environment, and tells a unique id`() async throws {
        try await withSimulator { simulator async throws in
            try simulator.register(
                String(repeating: "cd", count: 32),
                device: "phone",
                topic: Desk.topic,
                environment: .development
            )
            let client = try await client(simulator, simulator.developmentPort)
            let authorization = try simulator.authorization()
            #expect(try await client.answer(client.send(authorization)).body == #"{"reason":"BadDeviceToken"}"#)
            let answer = try await client.answer(client.send(to: String(repeating: "cd", count: 32), authorization))
            #expect(answer.status == 200)
            #expect(answer.headers["apns-unique-id"].map(PushHeaders.isIdentifier) == true)
        }
    }

    @Test func `HTTP/2 needs no negotiation, and HTTP/1.1 ends the connection`() async throws {
        try await withSimulator { simulator async throws in
            let client = try await TestClient.connect(
                simulator.productionPort,
                authority: simulator.authorityFile,
                protocols: []
            )
            #expect(try await client.answer(client.send(try simulator.authorization())).status == 200)
            let old = try await TestClient.connect(
                simulator.productionPort,
                authority: simulator.authorityFile,
                protocols: ["http/1.1"],
                instead: Array("POST /3/device/\(Desk.token) HTTP/1.1\r\nhost: localhost\r\n\r\n".utf8)
            )
            try await old.closed()
            #expect(simulator.statistics.requests == 1)
        }
    }

    @Test func `with a client certificate pushes of its app need no token`() async throws {
        try await withSimulator { simulator async throws in
            let client = try await TestClient.connect(
                simulator.productionPort,
                authority: simulator.authorityFile,
                certificate: try await simulator.makeCertificate(for: Desk.topic)
            )
            #expect(try await client.streams() == 500)
            #expect(try await client.answer(client.send(nil)).status == 200)
            let other = try await client.answer(client.send(nil, topic: "com.example.bank"))
            #expect(other.body == #"{"reason":"TopicDisallowed"}"#)
        }
    }

    @Test func `a certificate of another authority ends the handshake`() async throws {
        try await withSimulator { simulator async throws in
            try await withSimulator { other in
                let client = try await TestClient.connect(
                    simulator.productionPort,
                    authority: simulator.authorityFile,
                    certificate: try await other.makeCertificate(for: Desk.topic)
                )
                try await client.closed()
            }
            #expect(simulator.statistics.requests == 0)
        }
    }

    @Test func `a client that does not trust the authority stays away`() async throws {
        try await withSimulator { simulator async throws in
            try await withSimulator { other in
                let stranger = try await TestClient.connect(simulator.productionPort, authority: other.authorityFile)
                try await stranger.closed()
            }
            #expect(simulator.statistics.connections == 0)
        }
    }

    // MARK: Bad days

    @Test func `GOAWAY names the last processed stream and the reason, and what was processed is answered first`()
        async throws
    {
        try await withSimulator { simulator async throws in
            let client = try await client(simulator)
            let authorization = try simulator.authorization()
            _ = try await client.answer(client.send(authorization))
            var behaviour = simulator.behaviour
            behaviour.roundTrip = .milliseconds(200)
            try simulator.setBehaviour(behaviour)
            let processed = [client.send(authorization), client.send(authorization)]
            while simulator.statistics.requests < 3 { await Task.yield() }
            try simulator.setFault("bye", Fault(.goAway(.shutdown), remaining: 1))
            let lost = client.send(authorization)
            let goAway = try await client.goAway()
            #expect(goAway.last == processed[1])
            #expect((goAway.code, goAway.data) == (.noError, #"{"reason":"Shutdown"}"#))
            for stream in processed { #expect(try await client.answer(stream).status == 200) }
            try await client.closed()
            #expect(!client.hasAnswer(lost))
            #expect(simulator.device("phone")?.receivedCount == 3)
            #expect(simulator.statistics.goAways == 1)
        }
    }

    @Test func `an operator's GOAWAY may name any stream`() async throws {
        try await withSimulator { simulator async throws in
            let client = try await client(simulator)
            let stream = client.send(try simulator.authorization())
            _ = try await client.answer(stream)
            let number = try #require(await simulator.connections.first?.number)
            #expect(await !simulator.goAway(number, after: 4))
            #expect(await simulator.goAway(number, .internalServerError, after: 0))
            let goAway = try await client.goAway()
            #expect((goAway.last, goAway.data) == (0, #"{"reason":"InternalServerError"}"#))
            try await client.closed()
            // The other end sees it first.
            while await !simulator.connections.isEmpty { await Task.yield() }
            #expect(await !simulator.goAway(number))
        }
    }

    @Test func `more streams than are allowed end the connection, in the words of APNs`() async throws {
        /// A frame of HTTP/2.
        func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8] = []) -> [UInt8] {
            let number = (0..<4).map { UInt8(truncatingIfNeeded: stream >> (24 - 8 * $0)) }
            return [0, 0, UInt8(payload.count), type, flags] + number + payload
        }
        // `:method: POST`, `:scheme: https`, and a literal `:path`.
        let head: [UInt8] = [0x83, 0x87, 0x04, 1, UInt8(ascii: "/")]
        var bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(4, 0, 0)
        // Before the client has confirmed the first SETTINGS a hundred are allowed.
        for stream in 0...100 { bytes += frame(1, 0x04, UInt32(2 * stream + 1), head) }
        try await withSimulator { simulator async throws in
            let client = try await TestClient.connect(
                simulator.productionPort,
                authority: simulator.authorityFile,
                instead: bytes
            )
            try await client.first { frame -> Void? in
                guard case .bytes(let text) = frame else { return nil }
                return text.contains("Maximum active streams violated") ? () : nil
            }
            try await client.closed()
        }
    }

    @Test func `a request against the rules of HTTP/2 ends its stream only`() async throws {
        try await withSimulator { simulator async throws in
            let client = try await client(simulator)
            let authorization = try simulator.authorization()
            let wrong = client.send(authorization, further: [("Apns-Priority", "5")])
            #expect(try await client.reset(wrong) == .protocolError)
            #expect(try await client.answer(client.send(authorization)).status == 200)
            #expect(simulator.statistics.requests == 1)
        }
    }

    @Test func `a refused stream leaves the others alone`() async throws {
        try await withSimulator { simulator async throws in
            let client = try await client(simulator)
            let authorization = try simulator.authorization()
            _ = try await client.answer(client.send(authorization))
            try simulator.setFault("refuse", Fault(.refuseStream, remaining: 1))
            let (refused, other) = (client.send(authorization), client.send(authorization))
            #expect(try await client.reset(refused) == .refusedStream)
            #expect(try await client.answer(other).status == 200)
            #expect(simulator.device("phone")?.receivedCount == 2)
        }
    }

    @Test func `a cut connection ends with everything that is open on it`() async throws {
        try await withSimulator { simulator async throws in
            let client = try await client(simulator)
            let authorization = try simulator.authorization()
            _ = try await client.answer(client.send(authorization))
            try simulator.setFault("cut", Fault(.cut))
            let stream = client.send(authorization)
            try await client.closed()
            #expect(!client.hasAnswer(stream))
        }
    }

    @Test func `a connection with an expired token is wedged: it answers PINGs and no push`() async throws {
        try await withSimulator { simulator async throws in
            let client = try await client(simulator)
            let old = try simulator.authorization(issuedAt: 1_000)
            #expect(try await client.answer(client.send(old)).body == #"{"reason":"ExpiredProviderToken"}"#)
            let stream = client.send(try simulator.authorization())
            while simulator.statistics.unanswered == 0 { await Task.yield() }
            client.ping()
            try await client.pong()
            #expect(!client.hasAnswer(stream))
            #expect(await simulator.connections.map(\.isSilent) == [true])
            let next = try await self.client(simulator)
            #expect(try await next.answer(next.send(try simulator.authorization())).status == 200)
        }
    }

    @Test func `a frozen connection answers nothing until it thaws`() async throws {
        try await withSimulator { simulator async throws in
            let client = try await client(simulator)
            let authorization = try simulator.authorization()
            _ = try await client.answer(client.send(authorization))
            let number = try #require(await simulator.connections.first?.number)
            #expect(await simulator.setFrozen(true, number))
            let stream = client.send(authorization)
            client.ping()
            #expect(await simulator.connections.map(\.isFrozen) == [true])
            #expect(simulator.device("phone")?.receivedCount == 1)
            #expect(await simulator.setFrozen(false, number))
            #expect(try await client.answer(stream).status == 200)
            try await client.pong()
        }
    }

    @Test func `what is stuck in a frozen connection is lost when it is cut`() async throws {
        try await withSimulator { simulator async throws in
            let client = try await client(simulator)
            let authorization = try simulator.authorization()
            _ = try await client.answer(client.send(authorization))
            let number = try #require(await simulator.connections.first?.number)
            #expect(await simulator.setFrozen(true, number))
            for _ in 0..<20 { _ = client.send(authorization) }
            #expect(await simulator.cut(number))
            while await !simulator.connections.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
            // Another one is served.
            let next = try await self.client(simulator)
            #expect(try await next.answer(next.send(authorization)).status == 200)
            #expect(simulator.device("phone")?.receivedCount == 2)
        }
    }

    @Test func `a body goes through a small window that is opened late`() async throws {
        try await withSimulator {
            $0.behaviour.streamWindow = 16
            $0.behaviour.windowDelay = .milliseconds(1)
        } _: { simulator async throws in
            let client = try await client(simulator)
            let payload = #"{"aps":{"alert":"\#(String(repeating: "a", count: 1_000))"}}"#
            let answer = try await client.answer(client.send(try simulator.authorization(), payload: payload))
            #expect(answer.status == 200)
            #expect(simulator.device("phone")?.shown(by: Desk.topic).first?.payload == Array(payload.utf8))
        }
    }

    @Test func `more than the connection's first window arrives on many streams at once`() async throws {
        try await withSimulator { simulator async throws in
            let client = try await client(simulator)
            let authorization = try simulator.authorization()
            _ = try await client.answer(client.send(authorization))
            _ = try await client.streams()
            _ = try await client.streams()
            let payload = #"{"aps":{"alert":"\#(String(repeating: "a", count: 4_000))"}}"#
            let streams = (0..<400).map { client.send(authorization, payload: payload, collapseID: "\($0)") }
            for stream in streams { #expect(try await client.answer(stream).status == 200) }
            #expect(simulator.device("phone")?.shown(by: Desk.topic).count == 401)
        }
    }

    @Test func `a body without end is refused as too large, and not kept`() async throws {
        try await withSimulator { simulator async throws in
            let client = try await client(simulator)
            let payload = String(repeating: "a", count: 1 << 20)
            let answer = try await client.answer(client.send(try simulator.authorization(), payload: payload))
            #expect((answer.status, answer.body) == (413, #"{"reason":"PayloadTooLarge"}"#))
        }
    }

    @Test func `the first SETTINGS may come late, and what was sent before is answered`() async throws {
        try await withSimulator {
            $0.behaviour.settingsDelay = .milliseconds(50)
        } _: { simulator async throws in
            let client = try await client(simulator)
            let stream = client.send(try simulator.authorization())
            #expect(try await client.streams() == 1)
            #expect(try await client.answer(stream).status == 200)
        }
    }

    @Test func `answers to streams that the client has reset are dropped, and the connection goes on`() async throws {
        try await withSimulator { simulator async throws in
            let client = try await client(simulator)
            let authorization = try simulator.authorization()
            _ = try await client.answer(client.send(authorization))
            try simulator.setFault("late", Fault(.delay(.milliseconds(50)), remaining: 1))
            let stream = client.send(authorization)
            while simulator.statistics.requests < 2 { await Task.yield() }
            client.cancel(stream)
            for _ in 0..<3 { #expect(try await client.answer(client.send(authorization)).status == 200) }
            try await Task.sleep(for: .milliseconds(60))
            #expect(try await client.answer(client.send(authorization)).status == 200)
        }
    }

    // MARK: Start and end

    @Test func `a simulator that stops says so, and one that starts again has the same authority and key`() async throws
    {
        let folder = try TestFolder()
        defer { folder.remove() }
        let configuration = APNsSimulatorConfiguration(directory: folder.path)
        let first = try await APNsSimulator.start(configuration)
        let client = try await TestClient.connect(first.productionPort, authority: first.authorityFile)
        _ = try await client.streams()
        let files = [first.authorityFile, try #require(first.keyFile)]
        let contents = files.map { FileManager.default.contents(atPath: $0) }
        await first.stop()
        #expect(try await client.goAway().data == #"{"reason":"Shutdown"}"#)
        try await client.closed()
        let second = try await APNsSimulator.start(configuration)
        #expect(files.map { FileManager.default.contents(atPath: $0) } == contents)
        await second.stop()
        // Damaged files are made anew, all of them.
        try Data("x".utf8).write(to: URL(fileURLWithPath: "\(folder.path)/server.pem"))
        let third = try await APNsSimulator.start(configuration)
        #expect(FileManager.default.contents(atPath: third.authorityFile) != contents[0])
        let next = try await TestClient.connect(third.productionPort, authority: third.authorityFile)
        #expect(try await next.streams() == 1)
        await third.stop()
    }

    @Test func `secrets can be read by their owner only`() async throws {
        try await withSimulator { simulator async throws in
            let folder = URL(fileURLWithPath: simulator.authorityFile).deletingLastPathComponent().path
            for file in ["\(folder)/server-key.pem", try #require(simulator.keyFile)] {
                let rights = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
                #expect(rights == 0o600)
            }
        }
    }

    @Test func `a port that is taken is told`() async throws {
        try await withSimulator { simulator async throws in
            let folder = try TestFolder()
            defer { folder.remove() }
            for port in [\APNsSimulatorConfiguration.productionPort, \.developmentPort] {
                var configuration = APNsSimulatorConfiguration(directory: folder.path)
                configuration[keyPath: port] = simulator.productionPort
                await #expect(throws: APNsSimulatorError.self) { try await APNsSimulator.start(configuration) }
            }
            var configuration = APNsSimulatorConfiguration(directory: folder.path)
            configuration.controlPort = simulator.controlPort
            await #expect(throws: APNsSimulatorError.self) { try await APNsSimulator.start(configuration) }
        }
    }
}
