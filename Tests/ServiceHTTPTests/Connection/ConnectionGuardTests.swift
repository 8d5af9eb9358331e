import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOTLS
import Testing

@testable import ServiceHTTP

/// The handlers in a pipeline without a network, and with a clock that the test advances.
@Suite("The guard of a connection")
struct ConnectionGuardTests {
    /// The parts that the application behind the guard receives.
    private final class Application: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        var targets: [String] = []
        var hosts: [[String]] = []
        var bodyBytes = 0
        var ends = 0
        var errors = 0

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                targets.append(head.uri)
                hosts.append(head.headers["host"])
            case .body(let buffer): bodyBytes += buffer.readableBytes
            case .end: ends += 1
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { errors += 1 }
    }

    private struct Connection {
        let channel = EmbeddedChannel()
        let application = Application()
        let memory: CallMemory

        init(
            memory limit: Int = 1 << 20,
            targetBytes: Int = 1_000,
            headerBytes: Int = 500,
            headerCount: Int = 10,
            isTLS: Bool = false
        )
            throws
        {
            memory = CallMemory(limit: limit)
            var bounds = ConnectionBounds(
                targetBytes: targetBytes,
                headerBytes: headerBytes,
                headerCount: headerCount,
                receiveTimeout: .seconds(10),
                answerTimeout: .seconds(100),
                sendTimeout: .seconds(60),
                unanswered: .overloaded
            )
            bounds.discardedBytes = 1_000
            var limits = NIOHTTPDecoderLimitConfiguration()
            limits.maxHeaderFieldSize = bounds.headBytes
            limits.maxHeaderListSize = bounds.headBytes
            limits.maxHeaderFieldCount = bounds.headerCount
            let connection = ConnectionGuard(bounds: bounds, isTLS: isTLS, memory: memory, metrics: .none)
            try channel.pipeline.syncOperations.addHandlers([
                ConnectionGate(connection), HTTPResponseEncoder(),
                LineWatch(connection), ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: limits)), connection,
                application,
            ])
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        }

        func send(_ text: String) throws { try channel.writeInbound(ByteBuffer(string: text)) }

        func wait(_ time: TimeAmount) { channel.embeddedEventLoop.advanceTime(by: time) }

        func answer(_ status: HTTPResponseStatus, body: String = "") throws {
            let headers = HTTPHeaders([("content-length", "\(body.utf8.count)")])
            let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
            try channel.writeOutbound(HTTPServerResponsePart.head(head))
            if !body.isEmpty {
                try channel.writeOutbound(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: body))))
            }
            try channel.writeOutbound(HTTPServerResponsePart.end(nil))
        }

        /// All output since the last call.
        func received() throws -> String {
            var text = ""
            while let data = try channel.readOutbound(as: IOData.self) {
                if case .byteBuffer(let buffer) = data { text += String(buffer: buffer) }
            }
            return text
        }

        /// The test channel has no half-closed state.
        var isOver: Bool { !channel.isActive }
    }

    private static let get = "GET /a HTTP/1.1\r\nhost: x\r\n\r\n"

    @Test("A dripping head is refused with 408 exactly after the timeout, however many bytes arrive")
    func slowHead() throws {
        let connection = try Connection()
        for byte in "GET /a HT".map(String.init) {
            try connection.send(byte)
            connection.wait(.seconds(1))
            #expect(try connection.received() == "")
        }
        connection.wait(.seconds(1))
        let answer = try connection.received()
        #expect(answer.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
        #expect(answer.contains("connection: close\r\n"))
        #expect(answer.contains("content-type: application/problem+json\r\n"))
        #expect(answer.contains("\"reason\":\"receive-timeout\""))
        #expect(connection.isOver)
        #expect(connection.application.targets.isEmpty)
    }

    @Test("A client that does not finish the TLS handshake is disconnected without an answer")
    func slowGreeting() throws {
        let connection = try Connection(isTLS: true)
        try connection.send("G")
        connection.wait(.seconds(10))
        #expect(try connection.received() == "")
        #expect(connection.isOver)

        let greeted = try Connection(isTLS: true)
        try greeted.send("G")
        greeted.channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: nil))
        greeted.wait(.seconds(60))
        #expect(!greeted.isOver)
        try greeted.send("E")
        greeted.wait(.seconds(10))
        #expect(try greeted.received().hasPrefix("HTTP/1.1 408 "))
    }

    @Test("A dripping body is refused too, and its reader learns that it is incomplete")
    func slowBody() throws {
        let connection = try Connection()
        try connection.send("PUT /a HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n")
        for _ in 0..<9 {
            connection.wait(.seconds(1))
            try connection.send("x")
        }
        #expect(try connection.received() == "")
        connection.wait(.seconds(1))
        #expect(try connection.received().hasPrefix("HTTP/1.1 408 "))
        #expect(connection.application.bodyBytes == 9)
        #expect(connection.application.ends == 0)
        #expect(connection.application.errors == 1)
        #expect(connection.isOver)
    }

    @Test("Complete requests are never late, and neither are pauses between them")
    func inTime() throws {
        let connection = try Connection()
        for _ in 0..<3 {
            try connection.send(Self.get)
            connection.wait(.seconds(30))
            try connection.answer(.accepted)
            connection.wait(.seconds(30))
            try connection.send("PUT /b HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\n\r\n")
            connection.wait(.seconds(9))
            try connection.send("x")
            connection.wait(.seconds(30))
            try connection.answer(.accepted)
            #expect(try !connection.received().contains("408"))
        }
        #expect(connection.application.ends == 6)
        #expect(!connection.isOver)
    }

    @Test("The receive timeout of a request starts when the earlier ones are answered")
    func behindOthers() throws {
        let connection = try Connection()
        try connection.send(Self.get + "PUT /b HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\nx")
        connection.wait(.seconds(60))
        try connection.answer(.accepted)
        #expect(try connection.received().hasPrefix("HTTP/1.1 202 "))
        connection.wait(.seconds(9))
        #expect(try connection.received() == "")
        connection.wait(.seconds(1))
        #expect(try connection.received().hasPrefix("HTTP/1.1 408 "))
    }

    @Test(
        "Bytes that are not HTTP get a problem after the earlier answers, and no handler writes after that"
    )
    func garbage() throws {
        let connection = try Connection()
        try connection.send(Self.get + Self.get + "GARBAGE\r\n\r\n")
        #expect(connection.application.targets == ["/a", "/a"])
        #expect(try connection.received() == "")
        try connection.send("more garbage")
        try connection.answer(.accepted)
        #expect(try connection.received() == "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")
        try connection.answer(.accepted)
        let answers = try connection.received()
        #expect(answers.hasPrefix("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\nHTTP/1.1 400 Bad Request\r\n"))
        #expect(answers.contains("\"reason\":\"invalid\""))
        #expect(connection.isOver)
    }

    @Test(
        "Each kind of invalid request gets its own problem",
        arguments: [
            ("GARBAGE\r\n\r\n", "400 Bad Request", "method"), ("GET / HTTP/2.0\r\n\r\n", "400 Bad Request", "HTTP/1.1"),
            ("GET / HTTP/1.1\r\nhost: localhost\r\na b: c\r\n\r\n", "400 Bad Request", "header field"),
            ("PUT / HTTP/1.1\r\nhost: localhost\r\ncontent-length: x\r\n\r\n", "400 Bad Request", "content-length"),
            (
                "PUT / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
                "400 Bad Request", "content-length"
            ),
            (
                "PUT / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
                "400 Bad Request",
                "content-length"
            ),
            (
                "PUT / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", "400 Bad Request",
                "transfer-encoding"
            ),
            (
                "GET /\(String(repeating: "a", count: 1_000)) HTTP/1.1\r\nhost: localhost\r\n\r\n", "414 URI Too Long",
                "target"
            ),
            (
                "GET /\(String(repeating: "a", count: 5_000)) HTTP/1.1\r\nhost: localhost\r\n\r\n", "414 URI Too Long",
                "target"
            ),
            (
                "GET / HTTP/1.1\r\nhost: localhost\r\nx: a b \(String(repeating: "a", count: 5_000))\r\n\r\n",
                "431 Request Header Fields Too Large", "headers"
            ),
            (
                "GET / HTTP/1.1\r\nhost: localhost\r\nx: \(String(repeating: "a", count: 500))\r\n\r\n",
                "431 Request Header Fields Too Large", "headers"
            ),
            (
                "GET / HTTP/1.1\r\nhost: localhost\r\n\(String(repeating: "a: b\r\n", count: 11))\r\n",
                "431 Request Header Fields Too Large", "headers"
            ),
        ]
    )
    func broken(text: String, status: String, mention: String) throws {
        let connection = try Connection()
        try connection.send(text)
        let answer = try connection.received()
        #expect(answer.hasPrefix("HTTP/1.1 \(status)\r\n"), "\(answer)")
        #expect(answer.contains(mention), "\(answer)")
        #expect(connection.isOver)
    }

    @Test(
        "An endless target and an endless field get different problems, however they are split",
        arguments: [
            ("GET /", "414 URI Too Long"),
            ("GET / HTTP/1.1\r\nhost: localhost\r\n\r\nGET /", "414 URI Too Long"),
            ("GET / HTTP/1.1\r\nhost: localhost\r\nx: a b", "431 Request Header Fields Too Large"),
            ("GET / HTTP/1.1\r\nx", "431 Request Header Fields Too Large"),
        ],
        [1, 7, 100, 1_499]
    )
    func endless(beginning: (text: String, status: String), piece: Int) throws {
        let connection = try Connection()
        try connection.send(beginning.text)
        if beginning.text.contains("\r\n\r\n") { try connection.answer(.accepted) }
        var count = 0
        var answer = ""
        while !answer.contains("HTTP/1.1 4"), count < 10_000 {
            try connection.send(String(repeating: "a", count: piece))
            count += piece
            answer = try connection.received()
        }
        #expect(answer.contains("HTTP/1.1 \(beginning.status)\r\n"), "\(answer)")
        #expect(connection.isOver)
    }

    @Test(
        "A request has one Host field; only HTTP/1.0 may omit it",
        arguments: [
            ("GET /a HTTP/1.1\r\n\r\n", false), ("GET /a HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", false),
            ("GET /a HTTP/1.1\r\nhost: a\r\nHost: a\r\n\r\n", false), ("GET /a HTTP/1.1\r\nhost: a b\r\n\r\n", false),
            ("GET /a HTTP/1.1\r\nhost: a/b\r\n\r\n", false), ("GET /a HTTP/1.1\r\nhost: [::1\r\n\r\n", false),
            ("GET /a HTTP/1.1\r\nhost: a:b\r\n\r\n", false), ("GET /a HTTP/1.0\r\nhost: a\r\nhost: a\r\n\r\n", false),
            ("GET /a HTTP/1.1\r\nhost:\r\n\r\n", true), ("GET /a HTTP/1.1\r\nHOST:  example.com:80 \r\n\r\n", true),
            ("GET /a HTTP/1.1\r\nhost: [::1]:8080\r\n\r\n", true), ("GET /a HTTP/1.0\r\n\r\n", true),
        ]
    )
    func host(text: String, isTaken: Bool) throws {
        let connection = try Connection()
        try connection.send(text)
        #expect(connection.application.targets == (isTaken ? ["/a"] : []))
        let answer = try connection.received()
        guard !isTaken else { return #expect(answer == "") }
        #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"), "\(answer)")
        #expect(answer.contains("\"field\":\"host\""))
        #expect(connection.isOver)
    }

    @Test(
        "A target in absolute form is passed on as a path with its host",
        arguments: [
            ("http://example.com/a%2Fb?c=/d", "/a%2Fb?c=/d", "example.com"), ("HTTPS://[::1]:80/", "/", "[::1]:80"),
            ("http://a", "/", "a"), ("http://a?b", "/?b", "a"), ("http://a:1//b", "//b", "a:1"),
            ("http://a/http://b/c", "/http://b/c", "a"), ("http://a/%zz|%2541", "/%zz|%2541", "a"),
        ]
    )
    func absoluteForm(target: String, path: String, host: String) throws {
        for field in ["host: x\r\n", "Host: \(host)\r\n"] {
            let connection = try Connection()
            try connection.send("GET \(target) HTTP/1.1\r\n\(field)\r\n")
            #expect(connection.application.targets == [path])
            #expect(connection.application.hosts == [[host]])
        }
        let old = try Connection()
        try old.send("GET \(target) HTTP/1.0\r\n\r\n")
        #expect(old.application.hosts == [[host]])
    }

    @Test("Targets in other forms and their Host field are unchanged")
    func otherForms() throws {
        for (method, target) in [("OPTIONS", "*"), ("CONNECT", "a:1"), ("GET", "//b/c"), ("GET", "/http://b/c")] {
            let connection = try Connection()
            try connection.send("\(method) \(target) HTTP/1.1\r\nhost: x\r\n\r\n")
            #expect(connection.application.targets == [target])
            #expect(connection.application.hosts == [["x"]])
        }
    }

    @Test(
        "An invalid target is refused, and a target in absolute form still needs a Host field",
        arguments: [
            ("ftp://a/b", "host: a\r\n", "target"), ("http://a@b/c", "host: a\r\n", "target"),
            ("http://a:b/c", "host: a\r\n", "target"), ("http:///a", "host: a\r\n", "target"),
            ("http://:80/a", "host: a\r\n", "target"), ("http://[::1/a", "host: a\r\n", "target"),
            ("http:/a", "host: a\r\n", ""), ("a/b", "host: a\r\n", ""), ("http://a/b", "", "host"),
            ("http://a/b", "host: a b\r\n", "host"), ("http://a/b", "host: a\r\nhost: a\r\n", "host"),
        ]
    )
    func noForm(target: String, fields: String, field: String) throws {
        let connection = try Connection()
        try connection.send("GET \(target) HTTP/1.1\r\n\(fields)\r\n")
        let answer = try connection.received()
        #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"), "\(answer)")
        // A head that the decoder rejects has none.
        #expect(answer.contains("\"field\":\"\(field)\"") || field.isEmpty, "\(answer)")
        #expect(connection.application.targets.isEmpty)
        #expect(connection.isOver)
    }

    @Test(
        "An unknown transfer encoding is answered with 501, and the body is not read",
        arguments: [
            ("1.1", "transfer-encoding: gzip\r\n", "501 Not Implemented"),
            ("1.1", "Transfer-Encoding: gzip, chunked\r\n", "501 Not Implemented"),
            ("1.1", "transfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n", "501 Not Implemented"),
            ("1.1", "transfer-encoding: identity\r\n", "501 Not Implemented"),
            ("1.0", "transfer-encoding: chunked\r\n", "400 Bad Request"),
        ]
    )
    func transferEncoding(version: String, field: String, status: String) throws {
        let connection = try Connection()
        try connection.send("PUT /a HTTP/\(version)\r\nhost: a\r\n\(field)\r\n1\r\nx\r\n0\r\n\r\n")
        let answer = try connection.received()
        #expect(answer.hasPrefix("HTTP/1.1 \(status)\r\n"), "\(answer)")
        #expect(answer.contains("\"field\":\"transfer-encoding\""))
        #expect(connection.application.targets.isEmpty)
        #expect(connection.isOver)

        let known = try Connection()
        try known.send("PUT /a HTTP/1.1\r\nhost: a\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n")
        #expect(known.application.bodyBytes == 1)
        #expect(known.application.ends == 1)
    }

    @Test("A request cut off by the end of the connection is answered, and is incomplete for its reader")
    func cutOff() throws {
        for text in ["PUT /a HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nhalf", "PUT /a HT"] {
            let connection = try Connection()
            try connection.send(text)
            connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            let answer = try connection.received()
            #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
            #expect(answer.contains("the connection ended within a request"))
            #expect(connection.application.errors == 1)
            #expect(connection.application.ends == 0)
        }
    }

    @Test("The client is asked once for a wanted body, and not for a refused one")
    func expectation() throws {
        let head = "PUT /a HTTP/1.1\r\nhost: localhost\r\nexpect: 100-Continue\r\ncontent-length: 4\r\n\r\n"
        let wanted = try Connection()
        try wanted.send(head)
        #expect(try wanted.received() == "")
        for _ in 0..<2 {
            wanted.channel.pipeline.triggerUserOutboundEvent(ConnectionGuard.BodyIsWanted(), promise: nil)
        }
        #expect(try wanted.received() == "HTTP/1.1 100 Continue\r\n\r\n")
        try wanted.send("body")
        try wanted.answer(.accepted)
        #expect(try wanted.received() == "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")
        #expect(!wanted.isOver)

        let refused = try Connection()
        try refused.send(head)
        try refused.answer(.payloadTooLarge)
        #expect(try refused.received().contains("connection: close\r\n"))
        #expect(refused.isOver)

        let old = try Connection()
        try old.send(head.replacing("HTTP/1.1", with: "HTTP/1.0"))
        old.channel.pipeline.triggerUserOutboundEvent(ConnectionGuard.BodyIsWanted(), promise: nil)
        #expect(try old.received() == "", "HTTP/1.0 knows no such answer")
    }

    @Test(
        "The connection closes after the answer to a request that asks for its end or for another protocol",
        arguments: [
            "GET /a HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
            "GET /a HTTP/1.1\r\nhost: localhost\r\nConnection: TE, Close\r\n\r\n",
            "GET /a HTTP/1.0\r\n\r\n",
            "GET /a HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
            "CONNECT example.com:443 HTTP/1.1\r\nhost: localhost\r\n\r\n",
        ]
    )
    func lastRequest(text: String) throws {
        let connection = try Connection()
        try connection.send(text)
        // A client must not fill the memory after the last request.
        for _ in 0..<10 { try connection.send(String(repeating: "x", count: 90)) }
        #expect(connection.application.targets.count == 1)
        try connection.answer(.accepted)
        #expect(try connection.received().contains("connection: close\r\n"))
        #expect(connection.isOver)
    }

    @Test("A client that keeps sending after the last request is disconnected at a limit")
    func sendsOn() throws {
        let connection = try Connection()
        try connection.send("GET /a HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        try connection.send(String(repeating: "x", count: 1_000))
        #expect(!connection.isOver)
        try connection.send("x")
        #expect(connection.isOver)
    }

    @Test("Slowly arriving heads share a limit, and release their share")
    func headMemory() throws {
        let connection = try Connection(memory: 100)
        try connection.send("GET /")
        #expect(connection.memory.leaves(95))
        try connection.send("a HTTP/1.1\r\nhost: localhost\r\n")
        #expect(connection.memory.leaves(66))
        try connection.send("\r\n")
        #expect(connection.memory.leaves(100))
        try connection.answer(.accepted)
        #expect(try connection.received().hasPrefix("HTTP/1.1 202 "))
        try connection.send("GET /\(String(repeating: "a", count: 100))")
        let answer = try connection.received()
        #expect(answer.hasPrefix("HTTP/1.1 503 "))
        #expect(answer.contains("Retry-After: 1\r\n"))
        #expect(answer.contains("\"reason\":\"overloaded\""))
        connection.channel.embeddedEventLoop.run()
        #expect(connection.memory.leaves(100))
    }

    @Test("A request without an answer gets 503 at its timeout, counted from when it was complete and next")
    func noAnswer() throws {
        let connection = try Connection()
        try connection.send("PUT /a HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\n\r\n")
        connection.wait(.seconds(9))
        try connection.send("x" + Self.get)
        connection.wait(.seconds(99))
        #expect(try connection.received() == "")
        try connection.answer(.accepted)
        #expect(try connection.received() == "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")
        connection.wait(.seconds(99))
        #expect(try connection.received() == "")
        connection.wait(.seconds(1))
        let answer = try connection.received()
        #expect(answer.hasPrefix("HTTP/1.1 503 "), "\(answer)")
        #expect(answer.contains("Retry-After: 1\r\n"))
        #expect(answer.contains("connection: close\r\n"))
        #expect(answer.contains("\"reason\":\"overloaded\""))
        #expect(connection.isOver)
    }

    @Test("A started answer is not replaced")
    func slowAnswer() throws {
        let connection = try Connection()
        try connection.send(Self.get)
        connection.wait(.seconds(99))
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": "0"])
        try connection.channel.writeOutbound(HTTPServerResponsePart.head(head))
        connection.wait(.seconds(99))
        try connection.channel.writeOutbound(HTTPServerResponsePart.end(nil))
        #expect(try connection.received() == "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        connection.wait(.seconds(200))
        #expect(!connection.isOver)
    }

    @Test("A client that reads no answers is disconnected after a while")
    func takesNothing() throws {
        let connection = try Connection()
        connection.channel.isWritable = false
        connection.channel.pipeline.fireChannelWritabilityChanged()
        connection.wait(.seconds(59))
        connection.channel.isWritable = true
        connection.channel.pipeline.fireChannelWritabilityChanged()
        connection.wait(.seconds(59))
        #expect(!connection.isOver)
        connection.channel.isWritable = false
        connection.channel.pipeline.fireChannelWritabilityChanged()
        connection.wait(.seconds(60))
        #expect(connection.isOver)
    }

    @Test("The answer to a refused HEAD has no body")
    func head() throws {
        let connection = try Connection()
        try connection.send("HEAD /a HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n")
        let answer = try connection.received()
        #expect(answer.hasPrefix("HTTP/1.1 400 "))
        #expect(answer.hasSuffix("\r\n\r\n"))
    }
}

extension CallMemory {
    /// Whether exactly so many bytes are free.
    fileprivate func leaves(_ bytes: Int) -> Bool { hasRoom(for: bytes) && !hasRoom(for: bytes + 1) }
}
