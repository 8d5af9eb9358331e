import Foundation
import HTTPTesting
import LocalBroker
import NIOCore
import NIOPosix
import Testing
import TestSupport

@testable import OutboundHTTP

/// A pool against the server of nghttp2, which shares no code with SwiftNIO.
@Suite(
    "HTTP/2 to nghttpd",
    .timeLimit(.minutes(5)),
    .enabled(if: NGHTTPServer.path != nil, "nghttpd is not installed: apt-get install nghttp2-server")
)
struct HTTP2OtherServerTests {
    @Test(arguments: [[], ["--padding=200", "--window-bits=10", "--max-concurrent-streams=7"]])
    func `requests with bodies are answered, also with small windows, padding and few streams`(options: [String])
        async throws
    {
        let files = try TestFiles()
        defer { files.remove() }
        let made = try files.certificate("server")
        _ = try files.write("found", "device")
        let server = try await NGHTTPServer(made, documents: files.path(""), options)
        let client = try HTTP2TestClient(
            port: server.port,
            scheme: "https",
            trusting: OutboundTLS.authorities(path: made.certificate)
        ) {
            ($0.connections, $0.longestBackoff) = (2, .milliseconds(50))
        }
        let body = ByteBuffer(repeating: 1, count: 3000)
        let first = await client.answer("/device", body: body)
        #expect(try String(buffer: first.get().body) == "found")
        let outcomes = await client.answers(500, body: body)
        #expect(outcomes.filter { $0.status != 404 }.isEmpty)
        #expect(await client.answer("/device").status == 200)
        await client.close()
        server.stop()
    }

    @Test func `when nghttpd is killed, requests without an answer may be processed, and later ones are not sent`()
        async throws
    {
        let files = try TestFiles()
        defer { files.remove() }
        let made = try files.certificate("server")
        _ = try files.write("found", "device")
        let server = try await NGHTTPServer(made, documents: files.path(""), [])
        let client = try HTTP2TestClient(
            port: server.port,
            scheme: "https",
            trusting: OutboundTLS.authorities(path: made.certificate)
        ) { $0.longestBackoff = .milliseconds(50) }
        #expect(await client.answer("/device").status == 200)
        server.pause()
        async let open = client.answers(20, body: ByteBuffer(repeating: 1, count: 1000))
        try await eventually { client.pool.usage.inFlight == 20 }
        server.stop()
        #expect(await open.allSatisfy { $0.failure?.isSent == true })
        async let late = client.answer()
        try await eventually { !client.events.failures.isEmpty }
        await client.close()
        #expect(await late.failure?.isSent == false)
    }
}

/// A process of nghttpd with TLS on a free port of 127.0.0.1.
final class NGHTTPServer {
    static let path = ["/usr/sbin/nghttpd", "/usr/bin/nghttpd", "/usr/local/bin/nghttpd"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    let port: Int
    private let process = Process()

    init(_ files: (certificate: String, key: String), documents: String, _ options: [String]) async throws {
        // It takes no port 0.
        let socket = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        port = socket.localAddress?.port ?? 0
        try await socket.close()
        process.executableURL = URL(fileURLWithPath: Self.path ?? "")
        process.arguments =
            options + ["--address=127.0.0.1", "--htdocs=\(documents)", "\(port)", files.key, files.certificate]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try LocalBroker.whileNoBrokerGoesDown { try process.run() }
    }

    /// It accepts what the system takes for it, and does nothing.
    func pause() { kill(process.processIdentifier, SIGSTOP) }

    func stop() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
}
