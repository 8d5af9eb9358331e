import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import Synchronization

@testable import OutboundHTTP

/// A server that speaks HTTP/2 frame by frame and does what a test says.
final class HTTP2TestServer: Sendable {
    /// A request that has come whole.
    struct Request: Sendable {
        let connection: Connection
        let stream: Int
        let headers: HPACKHeaders
        let body: [UInt8]

        func field(_ name: String) -> String? { headers.first(name: name) }

        func answer(_ status: Int = 200, _ fields: [(String, String)] = [], body: String = "") {
            connection.answer(stream, status, fields, body: body)
        }
    }

    /// A connection from the server's side. Its functions can be called from any thread.
    final class Connection: Sendable {
        let channel: any Channel
        /// From 0, in the order of arrival.
        let number: Int

        init(_ channel: any Channel, _ number: Int) { (self.channel, self.number) = (channel, number) }

        func answer(_ stream: Int, _ status: Int = 200, _ fields: [(String, String)] = [], body: String = "") {
            let headers = HPACKHeaders([(":status", "\(status)")] + fields)
            write(.headers(.init(headers: headers, endStream: body.isEmpty)), on: stream)
            if !body.isEmpty {
                write(.data(.init(data: .byteBuffer(ByteBuffer(string: body)), endStream: true)), on: stream)
            }
        }

        func reset(_ stream: Int, _ code: HTTP2ErrorCode) { write(.rstStream(code), on: stream) }

        func allow(streams: Int) {
            write(.settings(.settings([HTTP2Setting(parameter: .maxConcurrentStreams, value: streams)])), on: 0)
        }

        func goAway(last: Int, _ code: HTTP2ErrorCode = .noError, _ text: String = "") {
            let data = text.isEmpty ? nil : ByteBuffer(string: text)
            write(.goAway(lastStreamID: HTTP2StreamID(last), errorCode: code, opaqueData: data), on: 0)
        }

        /// After what was written.
        func close() { channel.eventLoop.execute { [channel] in channel.close(promise: nil) } }

        private func write(_ payload: HTTP2Frame.FramePayload, on stream: Int) {
            let frame = NIOLoopBoundBox.makeBoxSendingValue(
                HTTP2Frame(streamID: HTTP2StreamID(stream), payload: payload),
                eventLoop: channel.eventLoop
            )
            channel.eventLoop.execute { [channel] in
                channel.pipeline.syncOperations.writeAndFlush(NIOAny(frame.value), promise: nil)
            }
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame
        typealias OutboundOut = HTTP2Frame

        private let server: HTTP2TestServer
        private let connection: Connection
        private var streams: [Int: (headers: HPACKHeaders, body: [UInt8])] = [:]

        init(_ server: HTTP2TestServer, _ connection: Connection) {
            (self.server, self.connection) = (server, connection)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frame = unwrapInboundIn(data)
            let stream = Int(frame.streamID)
            switch frame.payload {
            case .headers(let payload):
                streams[stream] = (payload.headers, [])
                if payload.endStream { end(stream) }
            case .data(let payload):
                if case .byteBuffer(let bytes) = payload.data { streams[stream]?.body += bytes.readableBytesView }
                server.bytes.add(payload.data.readableBytes, ordering: .relaxed)
                if server.grantsWindows, payload.data.readableBytes > 0 {
                    grant(payload.data.readableBytes, on: .rootStream, context)
                    if !payload.endStream { grant(payload.data.readableBytes, on: frame.streamID, context) }
                }
                if payload.endStream { end(stream) }
            case .rstStream: server.resets.add(1, ordering: .relaxed)
            case .goAway: server.goAways.add(1, ordering: .relaxed)
            case .ping(_, let ack): if !ack { server.pings.add(1, ordering: .relaxed) }
            default: break
            }
        }

        private func grant(_ bytes: Int, on stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
            let frame = HTTP2Frame(streamID: stream, payload: .windowUpdate(windowSizeIncrement: bytes))
            context.write(wrapOutboundOut(frame), promise: nil)
        }

        func channelReadComplete(context: ChannelHandlerContext) { context.flush() }

        private func end(_ stream: Int) {
            guard let (headers, body) = streams.removeValue(forKey: stream) else { return }
            let request = Request(connection: connection, stream: stream, headers: headers, body: body)
            server.received.withLock { $0.append(request) }
            server.onRequest(request)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            // Of HTTP/2: such as a frame for a stream above the last one of a GOAWAY.
            if !(error is any NIOHTTP2Error) { context.close(promise: nil) }
        }
    }

    let received = Mutex<[Request]>([])
    let connections = Mutex<[Connection]>([])
    let bytes = Atomic<Int>(0)
    let resets = Atomic<Int>(0)
    let goAways = Atomic<Int>(0)
    let pings = Atomic<Int>(0)
    private let settings: HTTP2Settings
    private let tls: NIOSSLContext?
    private let grantsWindows: Bool
    /// The SETTINGS of a connection wait for it.
    private let beforeSettings: (@Sendable (Connection) -> EventLoopFuture<Void>)?
    private let onRequest: @Sendable (Request) -> Void
    private let channel = Mutex<(any Channel)?>(nil)

    /// - Parameters:
    ///   - maxStreams: SETTINGS_MAX_CONCURRENT_STREAMS.
    ///   - window: SETTINGS_INITIAL_WINDOW_SIZE; nil: 65,535.
    ///   - grantsWindows: Whether the windows are opened again by what arrives.
    ///   - onRequest: Called on the event loop of the connection.
    init(
        maxStreams: Int = 100,
        window: Int? = nil,
        grantsWindows: Bool = true,
        tls: NIOSSLContext? = nil,
        beforeSettings: (@Sendable (Connection) -> EventLoopFuture<Void>)? = nil,
        onRequest: @escaping @Sendable (Request) -> Void
    ) {
        var settings = [HTTP2Setting(parameter: .maxConcurrentStreams, value: maxStreams)]
        if let window { settings.append(HTTP2Setting(parameter: .initialWindowSize, value: window)) }
        (self.settings, self.tls, self.grantsWindows) = (settings, tls, grantsWindows)
        (self.beforeSettings, self.onRequest) = (beforeSettings, onRequest)
    }

    /// - Returns: The port on 127.0.0.1.
    func start() async throws -> Int {
        let bound = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { [self] channel in
                let connection = connections.withLock { connections in
                    let connection = Connection(channel, connections.count)
                    connections.append(connection)
                    return connection
                }
                return channel.eventLoop.makeCompletedFuture { [tls, self] in
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    guard let beforeSettings else { return try speak(connection) }
                    channel.eventLoop.execute {
                        _ = channel.setOption(.autoRead, value: false)
                        beforeSettings(connection).hop(to: channel.eventLoop).whenSuccess { [self] in
                            try? speak(connection)
                            _ = channel.setOption(.autoRead, value: true)
                        }
                    }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        channel.withLock { $0 = bound }
        return bound.localAddress?.port ?? 0
    }

    func stop() async throws {
        try await channel.withLock { $0 }?.close()
        for connection in connections.withLock({ $0 }) { connection.close() }
    }

    private func speak(_ connection: Connection) throws {
        var configuration = NIOHTTP2Handler.ConnectionConfiguration()
        configuration.initialSettings = settings
        // So that it can send what it should not.
        (configuration.headerBlockValidation, configuration.contentLengthValidation) = (.disabled, .disabled)
        var streams = NIOHTTP2Handler.StreamConfiguration()
        streams.streamResetFrameRateLimit.maximumCount = 10_000
        try connection.channel.pipeline.syncOperations.addHandlers(
            NIOHTTP2Handler(
                mode: .server,
                frameDelegate: nil,
                connectionConfiguration: configuration,
                streamConfiguration: streams
            ),
            Handler(self, connection)
        )
    }
}
