import NIOCore
import NIOPosix
import NIOSSL
import NotificationDelivery
import NotificationModel
import Synchronization

/// An HTTP server that answers each request as a test says, with any bytes.
final class ScriptedEndpoint: Sendable {
    struct Request: Sendable {
        var method: String
        var target: String
        /// By name in lower case.
        var headers: [String: String]
        var body: [UInt8]
        /// From 1.
        var connection: Int

        /// The body as JSON; null for anything else.
        var event: JSONValue { (try? JSONValue.parse(body)) ?? .null }
    }

    enum Action: Sendable {
        case answer(Int, headers: [String: String] = [:], body: String = "")
        /// Any bytes, and perhaps the end of the connection.
        case bytes(String, closes: Bool)
        /// Nothing until `release`.
        case hang
        /// The end of the connection.
        case disconnect
    }

    private struct Contents {
        var requests: [Request] = []
        var connections = 0
        var open = 0
        var active = 0
        var mostActive = 0
        var hanging: [any Channel] = []
        var changes: [AsyncStream<Void>.Continuation] = []
    }

    private let contents = Mutex(Contents())
    private let respond: @Sendable (Request) -> Action
    private let server = Mutex<(any Channel)?>(nil)

    /// Listens on a free port, or again on one of an endpoint that stopped.
    init(
        host: String = "127.0.0.1",
        port: Int = 0,
        tls: NIOSSLContext? = nil,
        respond: @escaping @Sendable (Request) -> Action
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
            .bind(host: host, port: port).get()
        self.server.withLock { $0 = server }
    }

    var port: Int { server.withLock { $0?.localAddress?.port ?? 0 } }
    var url: String { "http://127.0.0.1:\(port)/hooks?tenant=1" }
    var requests: [Request] { contents.withLock { $0.requests } }
    var connections: Int { contents.withLock { $0.connections } }
    var openConnections: Int { contents.withLock { $0.open } }
    /// The most requests at one time.
    var mostActive: Int { contents.withLock { $0.mostActive } }
    var hanging: Int { contents.withLock { $0.hanging.count } }

    /// Waits for a condition, which is checked after every change.
    func wait(until condition: (ScriptedEndpoint) -> Bool) async {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        contents.withLock { $0.changes.append(continuation) }
        continuation.yield()
        for await _ in stream where condition(self) { return }
    }

    /// Answers the requests that hang.
    func release(_ status: Int = 204) {
        let hanging = contents.withLock { contents in
            defer { contents.hanging = [] }
            return contents.hanging
        }
        for channel in hanging { perform(.answer(status), on: channel) }
    }

    func stop() async throws {
        guard let server = server.withLock({ $0 }) else { return }
        try await server.close()
    }

    private func change(_ change: (inout Contents) -> Void) {
        contents.withLock { contents in
            change(&contents)
            for continuation in contents.changes { continuation.yield() }
        }
    }

    private func perform(_ action: Action, on channel: any Channel) {
        let (text, closes): (String, Bool)
        switch action {
        case .hang: return change { $0.hanging.append(channel) }
        case .answer(let status, let headers, let body):
            let fields = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
            let length = status == 204 ? "" : "content-length: \(body.utf8.count)\r\n"
            (text, closes) = ("HTTP/1.1 \(status) Text\r\n\(length)\(fields)\r\n\(body)", false)
        case .bytes(let bytes, let end): (text, closes) = (bytes, end)
        case .disconnect: (text, closes) = ("", true)
        }
        change { $0.active -= 1 }
        channel.writeAndFlush(ByteBuffer(string: text)).whenComplete { _ in
            if closes { channel.close(promise: nil) }
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let endpoint: ScriptedEndpoint
        private var number = 0
        private var bytes: [UInt8] = []

        init(_ endpoint: ScriptedEndpoint) { self.endpoint = endpoint }

        func channelActive(context: ChannelHandlerContext) {
            endpoint.change { contents in
                contents.connections += 1
                contents.open += 1
                number = contents.connections
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            endpoint.change { contents in
                contents.open -= 1
                let before = contents.hanging.count
                contents.hanging.removeAll { $0 === context.channel }
                contents.active -= before - contents.hanging.count
            }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            bytes += unwrapInboundIn(data).readableBytesView
            // The first byte of a TLS record.
            if bytes.first == 22 {
                context.writeAndFlush(NIOAny(ByteBuffer(string: "HTTP/1.1 400 No TLS here\r\n\r\n")), promise: nil)
                return context.close(promise: nil)
            }
            while let request = take() {
                endpoint.change { contents in
                    contents.requests.append(request)
                    contents.active += 1
                    contents.mostActive = max(contents.mostActive, contents.active)
                }
                endpoint.perform(endpoint.respond(request), on: context.channel)
            }
        }

        private func take() -> Request? {
            guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
            let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
            let words = lines.first?.split(separator: " ") ?? []
            guard words.count == 3 else { return nil }
            var headers: [String: String] = [:]
            for line in lines.dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1)
                let value = parts.count == 2 ? parts[1].drop { $0 == " " } : ""
                headers[parts[0].lowercased()] = String(value)
            }
            let length = headers["content-length"].flatMap { Int($0) } ?? 0
            guard bytes.count >= end.upperBound + length else { return nil }
            let body = Array(bytes[end.upperBound..<end.upperBound + length])
            bytes.removeFirst(end.upperBound + length)
            return Request(
                method: String(words[0]),
                target: String(words[1]),
                headers: headers,
                body: body,
                connection: number
            )
        }
    }
}
