import NIOCore
import OutboundHTTP
import Synchronization
import Testing

@testable import NotificationEnrichment

@Suite("Fetching media")
struct MediaFetcherTests {
    private static let png = FetchImage.png()

    @Test("an image is downloaded, checked and stored", arguments: [100, 5000, 65536, 200_000, 3_000_000])
    func download(bytes: Int) async throws {
        let image = FetchImage.png(bytes: bytes)
        let server = try await MediaServer { _ in .image(image) }
        let bench = try FetchBench(server)
        let media = try await bench.fetch(server.url("/a.png?b"), typeHint: "public.png").get()
        #expect(media.origin == .downloaded)
        #expect(media.facts == MediaFacts(type: .png, bytes: Int64(image.count), width: 1, height: 1))
        #expect(try bench.bytes(media.stored) == image)
        #expect(bench.unfinished.isEmpty)
        let headers = try #require(server.requests.first?.headers)
        #expect(server.targets == ["/a.png?b"])
        #expect(headers["host"] == "\(FetchBench.host):\(server.port)")
        #expect(headers["accept-encoding"] == "identity")
        #expect(bench.fetcher.statistics.outcomes == ["downloaded": 1])
        #expect(bench.fetcher.statistics.downloadedBytes == Int64(image.count))
    }

    @Test("a chunked body, and one that ends with the connection, are whole")
    func otherLengths() async throws {
        let image = FetchImage.png(bytes: 150_000)
        let server = try await MediaServer { request in
            guard request.target == "/chunked" else { return .head(200, [], image, .close) }
            var body: [UInt8] = []
            for start in stride(from: 0, to: image.count, by: 1000) {
                let part = image[start..<min(image.count, start + 1000)]
                body += Array("\(String(part.count, radix: 16))\r\n".utf8) + part + Array("\r\n".utf8)
            }
            return .head(200, [("transfer-encoding", "chunked")], body + Array("0\r\n\r\n".utf8), .keep)
        }
        let bench = try FetchBench(server)
        for target in ["/chunked", "/to-the-end"] {
            let media = try await bench.fetch(server.url(target)).get()
            #expect(try bench.bytes(media.stored) == image)
        }
    }

    @Test(
        "an answer without a usable medium is refused with its code",
        arguments: [
            (.status(404), "http-status"), (.status(410), "http-status"), (.status(500), "http-status"),
            (.status(204), "http-status"), (.status(206, body: png), "http-status"), (.status(304), "http-status"),
            (.status(302), "invalid-response"),
            (
                .head(302, [("location", "/a"), ("location", "/b"), ("content-length", "0")], [], .keep),
                "invalid-response"
            ),
            (.head(101, [("upgrade", "h2c"), ("connection", "upgrade")], [], .keep), "invalid-response"),
            (.image(png, [("content-encoding", "gzip")]), "encoding-refused"),
            (.image(png, [("content-encoding", "identity, br")]), "encoding-refused"),
            (.head(200, [("transfer-encoding", "gzip, chunked")], Array("0\r\n\r\n".utf8), .keep), "encoding-refused"),
            (.head(200, [("content-length", "60000000")], [], .hang), "too-large"),
            (.head(200, [("content-length", "9000000000000000000")], [], .hang), "too-large"),
            (.head(200, [("content-length", "99999999999999999999")], [], .hang), "invalid-response"),
            (.head(200, [("content-length", "5000")], png, .close), "truncated"),
            (.head(200, [("content-length", "20")], png, .keep), "truncated"),
            (.head(200, [], Array(png.dropLast(20)), .close), "truncated"),
            (.head(200, [("transfer-encoding", "chunked")], Array("5\r\n\u{89}PN".utf8), .close), "truncated"),
            (.head(200, [("content-length", "5000")], png, .reset), "disconnected"),
            (.head(200, [("content-length", "0")], [], .keep), "truncated"),
            (.raw("", .close), "disconnected"), (.raw("", .reset), "disconnected"),
            (.raw("HTTP/1.1 200 OK\r\nconte", .close), "disconnected"),
            (.raw("SSH-2.0-OpenSSH_9.9\r\n", .hang), "invalid-response"),
            (.raw("\0\0\u{12}\u{4}\0\0\0\0\0\0\u{3}\0\0\0\u{80}\0\u{4}\0\u{1}\0\0", .hang), "invalid-response"),
            (.raw("HTTP/2 200\r\n\r\n", .hang), "invalid-response"),
            (.raw("HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", .hang), "invalid-response"),
            (.raw("HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd", .hang), "invalid-response"),
            (.raw("HTTP/1.1 200 OK\r\nendless: a", .endless), "invalid-response"),
            (.raw("HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: 20_000), .hang), "invalid-response"),
            (.image(Array("<html></html>".utf8) + [UInt8](repeating: 32, count: 5000)), "unsupported-type"),
            (.status(200, [("content-type", "text/html")], body: png), "type-mismatch"),
        ] as [(MediaServer.Answer, String)]
    )
    func refusedAnswer(answer: MediaServer.Answer, code: String) async throws {
        let server = try await MediaServer { _ in answer }
        let bench = try FetchBench(server)
        #expect(await bench.code(server.url("/a.png")) == code)
        #expect(bench.fetcher.statistics.outcomes == [code: 1])
        await bench.noFilesRemain()
    }

    @Test("an endless body is refused when it is too large, and the connection ends")
    func endlessBody() async throws {
        let head = "HTTP/1.1 200 OK\r\n\r\n"
        let server = try await MediaServer { _ in
            // A chunk of a PNG that goes on for two gigabytes.
            let start = FetchImage.png().prefix(33) + [0x7F, 0xFF, 0xFF, 0xFF] + Array("teSt".utf8)
            return .init(bytes: Array(head.utf8) + start, end: .endless)
        }
        let bench = try FetchBench(server)
        #expect(await bench.code(server.url("/a.png")) == "too-large")
        await server.wait { $0.openConnections == 0 }
        await bench.noFilesRemain()
    }

    @Test("each fetch compares its own type hint with the medium that it shares")
    func typeHints() async throws {
        let server = try await MediaServer { _ in .image(Self.png) }
        let bench = try FetchBench(server)
        server.hold()
        async let good = bench.fetch(server.url("/a"), typeHint: "public.image")
        async let bad = bench.fetch(server.url("/a"), typeHint: "public.jpeg")
        while bench.fetcher.statistics.fetching < 2 || server.requests.isEmpty { await Task.yield() }
        server.release()
        #expect(await good.failure == nil)
        #expect(await bad.failure?.code == "type-mismatch")
        #expect(await bench.code(server.url("/a"), typeHint: "public.flac") == "unsupported-type")
        #expect(server.targets == ["/a"])
    }

    @Test("a store without room refuses the medium, and nothing remains")
    func storeFull() async throws {
        let server = try await MediaServer { _ in .image(FetchImage.png(bytes: 500_000)) }
        let bench = try FetchBench(server, storeBytes: 300_000)
        #expect(await bench.code(server.url("/a.png")) == "store-full")
        await bench.noFilesRemain()
    }

    @Test("the steps of a fetch are reported in order")
    func steps() async throws {
        let server = try await MediaServer { $0.target == "/b" ? .image(Self.png) : .redirect(to: "/b") }
        let bench = try FetchBench(server)
        let steps = Mutex<[FetchStep]>([])
        let media = try await bench.fetch(server.url("/a")) { step in steps.withLock { $0.append(step) } }.get()
        let origin = "http://\(FetchBench.host):\(server.port)"
        let address = try #require(server.address)
        let expected: [FetchStep] = [
            .requested(origin: origin), .resolved([address], refusal: nil), .connected(address, isReused: false),
            .answered(status: 302, contentType: nil, contentLength: 5), .redirected(status: 302, origin: origin),
            .resolved([address], refusal: nil), .connected(address, isReused: true),
            .answered(status: 200, contentType: "image/png", contentLength: Int64(Self.png.count)),
            .checked(media.facts), .stored(media.stored),
        ]
        #expect(steps.withLock { $0 } == expected)
    }
}
