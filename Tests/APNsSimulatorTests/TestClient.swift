import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import NIOTLS
import Testing

@testable import APNsSimulator

/// A client of HTTP/2 that shows every frame. For one task.
final class TestClient {
    enum Received: Sendable {
        case settings([HTTP2Setting])
        case headers(Int, [String: String], isEnd: Bool)
        case data(Int, String, isEnd: Bool)
        case reset(Int, HTTP2ErrorCode)
        case goAway(last: Int, HTTP2ErrorCode, String)
        case pong
        /// Of a client that does not speak HTTP/2.
        case bytes(String)
        case closed
    }

    struct Answer {
        var status: Int
        var headers: [String: String]
        var body: String
    }

    private let channel: any Channel
    private var frames: AsyncStream<Received>.Iterator
    /// What came while something else was waited for.
    private var earlier: [Received] = []
    private var last = -1

    /// - Parameters:
    ///   - protocols: Offered in ALPN.
    ///   - certificate: With its key, PEM.
    ///   - bytes: Sent instead of HTTP/2.
    static func connect(
        _ port: Int,
        authority: String,
        protocols: [String] = ["h2"],
        certificate: (certificate: [UInt8], key: [UInt8])? = nil,
        instead bytes: [UInt8]? = nil
    ) async throws -> TestClient {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .file(authority)
        configuration.applicationProtocols = protocols
        if let certificate {
            configuration.certificateChain = try NIOSSLCertificate.fromPEMBytes(certificate.certificate).map {
                .certificate($0)
            }
            configuration.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: certificate.key, format: .pem))
        }
        let tls = try NIOSSLContext(configuration: configuration)
        let (frames, feed) = AsyncStream.makeStream(of: Received.self)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: "localhost"))
                    if let bytes {
                        try pipeline.addHandler(Talker(bytes, feed))
                    } else {
                        // It may send what is wrong.
                        try pipeline.addHandler(NIOHTTP2Handler(mode: .client, headerBlockValidation: .disabled))
                        try pipeline.addHandler(Collector(feed))
                    }
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        return TestClient(channel, frames.makeAsyncIterator())
    }

    private init(_ channel: any Channel, _ frames: AsyncStream<Received>.Iterator) {
        (self.channel, self.frames) = (channel, frames)
    }

    deinit { channel.close(promise: nil) }

    /// Sends a push.
    ///
    /// - Returns: Its stream.
    func send(
        to token: String = Desk.token,
        _ authorization: String?,
        payload: String = Desk.alert,
        topic: String = Desk.topic,
        collapseID: String? = nil,
        further: [(String, String)] = []
    ) -> Int {
        last += 2
        let stream = HTTP2StreamID(last)
        var headers = HPACKHeaders([
            (":method", "POST"), (":scheme", "https"), (":authority", "localhost"), (":path", "/3/device/\(token)"),
            ("apns-topic", topic), ("apns-push-type", "alert"),
        ])
        if let authorization { headers.add(name: "authorization", value: authorization) }
        if let collapseID { headers.add(name: "apns-collapse-id", value: collapseID) }
        for (name, value) in further { headers.add(name: name, value: value) }
        write(stream, .headers(.init(headers: headers)))
        write(stream, .data(.init(data: .byteBuffer(ByteBuffer(string: payload)), endStream: true)))
        return last
    }

    func cancel(_ stream: Int) { write(HTTP2StreamID(stream), .rstStream(.cancel)) }

    func ping() { write(.rootStream, .ping(HTTP2PingData(), ack: false)) }

    private func write(_ stream: HTTP2StreamID, _ payload: HTTP2Frame.FramePayload) {
        channel.writeAndFlush(HTTP2Frame(streamID: stream, payload: payload), promise: nil)
    }

    // MARK: Waiting

    /// The first frame that is looked for, in the order of arrival.
    func first<Found>(_ find: (Received) -> Found?) async throws -> Found {
        for (index, frame) in earlier.enumerated() {
            guard let found = find(frame) else { continue }
            earlier.remove(at: index)
            return found
        }
        while let frame = await frames.next() {
            if let found = find(frame) { return found }
            earlier.append(frame)
        }
        throw Failure(earlier: earlier)
    }

    struct Failure: Error {
        var earlier: [Received]
    }

    func answer(_ stream: Int) async throws -> Answer {
        let (headers, isEnd) = try await first { frame -> ([String: String], Bool)? in
            guard case .headers(stream, let headers, let isEnd) = frame else { return nil }
            return (headers, isEnd)
        }
        var body = ""
        if !isEnd {
            body = try await first { frame in
                guard case .data(stream, let text, _) = frame else { return nil }
                return text
            }
        }
        return Answer(status: headers[":status"].flatMap { Int($0) } ?? 0, headers: headers, body: body)
    }

    /// The next announced number of streams.
    func streams() async throws -> Int {
        try await first { frame in
            guard case .settings(let settings) = frame else { return nil }
            return settings.last { $0.parameter == .maxConcurrentStreams }?.value
        }
    }

    func reset(_ stream: Int) async throws -> HTTP2ErrorCode {
        try await first { frame in
            guard case .reset(stream, let code) = frame else { return nil }
            return code
        }
    }

    func goAway() async throws -> (last: Int, code: HTTP2ErrorCode, data: String) {
        try await first { frame in
            guard case .goAway(let last, let code, let data) = frame else { return nil }
            return (last, code, data)
        }
    }

    func pong() async throws { try await first { if case .pong = $0 { () } else { nil } } }

    func closed() async throws { try await first { if case .closed = $0 { () } else { nil } } }

    /// Whether an answer to the stream came among what was received until now.
    func hasAnswer(_ stream: Int) -> Bool {
        earlier.contains { if case .headers(stream, _, _) = $0 { true } else { false } }
    }

    /// Sends bytes at once, and waits for the end.
    private final class Talker: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let bytes: [UInt8]
        private let feed: AsyncStream<Received>.Continuation

        init(_ bytes: [UInt8], _ feed: AsyncStream<Received>.Continuation) { (self.bytes, self.feed) = (bytes, feed) }

        func channelActive(context: ChannelHandlerContext) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
            context.fireChannelActive()
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            feed.yield(.bytes(String(decoding: unwrapInboundIn(data).readableBytesView, as: UTF8.self)))
        }

        func channelInactive(context: ChannelHandlerContext) {
            feed.yield(.closed)
            feed.finish()
            context.fireChannelInactive()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {}
    }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame
        typealias OutboundOut = HTTP2Frame

        private let feed: AsyncStream<Received>.Continuation

        init(_ feed: AsyncStream<Received>.Continuation) { self.feed = feed }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frame = unwrapInboundIn(data)
            let stream = Int(frame.streamID)
            switch frame.payload {
            case .settings(.settings(let settings)): feed.yield(.settings(settings))
            case .headers(let part):
                let fields = part.headers.map { ($0.name, $0.value) }
                feed.yield(.headers(stream, Dictionary(fields) { $1 }, isEnd: part.endStream))
            case .data(let part):
                guard case .byteBuffer(let bytes) = part.data else { return }
                feed.yield(.data(stream, String(buffer: bytes), isEnd: part.endStream))
            case .rstStream(let code): feed.yield(.reset(stream, code))
            case .goAway(let last, let code, let data):
                feed.yield(.goAway(last: Int(last), code, data.map { String(buffer: $0) } ?? ""))
            case .ping(_, ack: true): feed.yield(.pong)
            default: break
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            feed.yield(.closed)
            feed.finish()
            context.fireChannelInactive()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {}
    }
}

/// A simulator that listens, with a folder of its own.
func withSimulator(
    _ change: (inout APNsSimulatorConfiguration) -> Void = { _ in },
    _ body: (APNsSimulator) async throws -> Void
) async throws {
    let files = try TestFolder()
    defer { files.remove() }
    var configuration = APNsSimulatorConfiguration(directory: files.path)
    configuration.seed = 1
    change(&configuration)
    let simulator = try await APNsSimulator.start(configuration)
    do {
        try simulator.register(Desk.token, device: "phone", topic: Desk.topic)
        try await body(simulator)
    } catch {
        await simulator.stop()
        throw error
    }
    await simulator.stop()
}
