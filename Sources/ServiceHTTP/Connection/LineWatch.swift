import NIOCore

/// Directly before the HTTP decoder, after TLS: distinguishes an overlong request line from an overlong header field.
/// The decoder only reports that the head is too long.
final class LineWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The part of a line that has arrived.
    private struct Line {
        var count = 0
        /// Whether a blank comes before a colon, as in `GET /` and not in `host: x`.
        var isOfRequest: Bool?

        mutating func append(_ bytes: Slice<UnsafeRawBufferPointer>) {
            count += bytes.count
            guard isOfRequest == nil else { return }
            let sign = bytes.first { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: ":") }
            isOfRequest = sign.map { $0 == UInt8(ascii: " ") }
        }
    }

    private static let lineFeed = UInt8(ascii: "\n")

    private let connection: ConnectionGuard
    private var line = Line()
    /// The bytes that the decoder is reading.
    private var arriving: ByteBuffer?

    init(_ connection: ConnectionGuard) {
        self.connection = connection
    }

    func handlerAdded(context: ChannelHandlerContext) { connection.lines = self }

    func handlerRemoved(context: ChannelHandlerContext) { connection.lines = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        arriving = bytes
        context.fireChannelRead(data)
        arriving = nil
        // Skip the bytes of a body.
        guard !connection.isReadingBody else { return line = Line() }
        bytes.withUnsafeReadableBytes { bytes in
            if let end = bytes.lastIndex(of: Self.lineFeed) {
                line = Line()
                line.append(bytes[(end + 1)...])
            } else {
                line.append(bytes[...])
            }
        }
    }

    /// Whether the last read contained the first line of a request with more bytes.
    func hasRequestLine(longerThan limit: Int) -> Bool {
        arriving?.withUnsafeReadableBytes { bytes in
            var line = line
            var rest = bytes[...]
            while true {
                let end = rest.firstIndex(of: Self.lineFeed)
                line.append(rest[..<(end ?? rest.endIndex)])
                if line.isOfRequest == true, line.count > limit { return true }
                guard let end else { return false }
                line = Line()
                rest = rest[(end + 1)...]
            }
        } ?? false
    }
}
