import NIOCore
import NIOPosix
import NIOSSL
import OutboundHTTP
import Synchronization
import Testing

/// An HTTP server that answers each request as a test says, with any bytes.
final class MediaServer: Sendable {
    struct Request: Sendable {
        var method = ""
        /// `TLS` if the client begins with it, and this server does not.
        var target: String
        /// By name in lower case.
        var headers: [String: String]
        var body: [UInt8] = []
        /// From 1.
        var connection: Int
    }

    enum End: Sendable {
        /// The connection waits for the next request.
        case keep
        case close
        case reset
        /// As `close`, without the message that ends TLS.
        case cut
        /// Nothing more, and the connection stays.
        case hang
        /// More of the last byte until the client ends the connection.
        case endless
    }

    struct Answer: Sendable, CustomTestStringConvertible {
        var bytes: [UInt8]
        var end = End.keep

        static func raw(_ text: String, _ end: End = .keep) -> Answer { Answer(bytes: Array(text.utf8), end: end) }

        static func status(_ status: Int, _ headers: [(String, String)] = [], body: [UInt8] = []) -> Answer {
            let length = status == 304 ? [] : [("content-length", "\(body.count)")]
            return head(status, length + headers, body, .keep)
        }

        /// With exactly these fields.
        static func head(_ status: Int, _ headers: [(String, String)], _ body: [UInt8] = [], _ end: End) -> Answer {
            let fields = headers.map { "\($0.0): \($0.1)\r\n" }.joined()
            return Answer(bytes: Array("HTTP/1.1 \(status) Text\r\n\(fields)\r\n".utf8) + body, end: end)
        }

        static func image(_ bytes: [UInt8], _ headers: [(String, String)] = []) -> Answer {
            status(200, [("content-type", "image/png")] + headers, body: bytes)
        }

        static func redirect(to location: String, _ status: Int = 302) -> Answer {
            .status(status, [("location", location)], body: Array("moved".utf8))
        }

        static let hang = raw("", .hang)

        var testDescription: String {
            "\(String(decoding: bytes.prefix(80), as: UTF8.self).debugDescription), \(bytes.count) bytes, \(end)"
        }
    }

    private struct Contents {
        var requests: [Request] = []
        var connections = 0
        var open = 0
        var mostOpen = 0
        var held: [@Sendable () -> Void] = []
        var isHolding = false
        var changes: [AsyncStream<Void>.Continuation] = []
    }

    private let contents = Mutex(Contents())
    private let respond: @Sendable (Request) -> Answer
    private let channel = Mutex<(any Channel)?>(nil)

    init(
        tls: NIOSSLContext? = nil,
        host: String = "127.0.0.1",
        respond: @escaping @Sendable (Request) -> Answer
    ) async throws {
        self.respond = respond
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.addHandler(Handler(self))
                }
            }
            .bind(host: host, port: 0).get()
        channel.withLock { $0 = server }
    }

    deinit { channel.withLock { $0 }?.close(promise: nil) }

    var port: Int { channel.withLock { $0?.localAddress?.port ?? 0 } }
    var requests: [Request] { contents.withLock { $0.requests } }
    var targets: [String] { requests.map(\.target) }
    var connections: Int { contents.withLock { $0.connections } }
    var openConnections: Int { contents.withLock { $0.open } }
    var mostConnections: Int { contents.withLock { $0.mostOpen } }

    /// Waits for a condition, which is checked after every change.
    func wait(until condition: (MediaServer) -> Bool) async {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        contents.withLock { $0.changes.append(continuation) }
        continuation.yield()
        for await _ in stream where condition(self) { return }
    }

    /// Keeps the answers back until `release`.
    func hold() { contents.withLock { $0.isHolding = true } }

    func release() {
        let held = contents.withLock { contents in
            defer { (contents.held, contents.isHolding) = ([], false) }
            return contents.held
        }
        for answer in held { answer() }
    }

    private func change(_ change: (inout Contents) -> Void) {
        contents.withLock { contents in
            change(&contents)
            for continuation in contents.changes { continuation.yield() }
        }
    }

    private func take(_ request: Request, _ channel: any Channel) {
        let answer: @Sendable () -> Void = { [self] in perform(respond(request), on: channel) }
        var isHolding = false
        change { contents in
            contents.requests.append(request)
            isHolding = contents.isHolding
            if isHolding { contents.held.append(answer) }
        }
        if !isHolding { answer() }
    }

    private func perform(_ answer: Answer, on channel: any Channel) {
        let written = channel.writeAndFlush(ByteBuffer(bytes: answer.bytes))
        switch answer.end {
        case .keep, .hang: break
        case .close: written.whenComplete { _ in channel.close(promise: nil) }
        case .cut:
            written.whenComplete { _ in
                let context = try? channel.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
                context?.close(promise: nil)
            }
        case .reset:
            written.flatMap {
                (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                    ?? channel.eventLoop.makeSucceededVoidFuture()
            }
            .whenComplete { _ in channel.close(promise: nil) }
        case .endless: written.whenSuccess { [self] in pour(answer.bytes.last ?? 0, on: channel) }
        }
    }

    private func pour(_ byte: UInt8, on channel: any Channel) {
        channel.writeAndFlush(ByteBuffer(repeating: byte, count: 65536)).whenSuccess { [self] in pour(byte, on: channel)
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let server: MediaServer
        private var number = 0
        private var bytes: [UInt8] = []

        init(_ server: MediaServer) { self.server = server }

        func channelActive(context: ChannelHandlerContext) {
            server.change { contents in
                contents.connections += 1
                contents.open += 1
                contents.mostOpen = max(contents.mostOpen, contents.open)
                number = contents.connections
            }
            context.fireChannelActive()
        }

        func channelInactive(context: ChannelHandlerContext) { server.change { $0.open -= 1 } }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            bytes += unwrapInboundIn(data).readableBytesView
            // The first byte of a TLS record.
            if bytes.first == 22 {
                bytes = []
                server.take(Request(target: "TLS", headers: [:], connection: number), context.channel)
            }
            while let request = take() { server.take(request, context.channel) }
        }

        /// The next whole request.
        private func take() -> Request? {
            guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
            let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
            let words = lines.first?.split(separator: " ") ?? []
            var headers: [String: String] = [:]
            for line in lines.dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1)
                headers[parts[0].lowercased()] = parts.count == 2 ? String(parts[1].drop { $0 == " " }) : ""
            }
            let length = headers["content-length"].flatMap { Int($0) } ?? 0
            guard bytes.count >= end.upperBound + length else { return nil }
            let body = Array(bytes[end.upperBound..<end.upperBound + length])
            bytes.removeFirst(end.upperBound + length)
            return Request(
                method: words.first.map { String($0) } ?? "",
                target: words.count == 3 ? String(words[1]) : "",
                headers: headers,
                body: body,
                connection: number
            )
        }
    }
}
