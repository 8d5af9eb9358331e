import NIOCore
import NIOHTTP1

/// Writes a request of HTTP/1.1 as one buffer.
///
/// NIO's encoder and validator take a request in three parts, each of which passes all handlers: a twentieth of the CPU of
/// a delivery by webhook. NIO's decoder of answers comes before this handler, and has to see the head.
final class OutboundRequestEncoder: ChannelOutboundHandler {
    /// Only `head` is written; it stands for the whole request.
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = IOData

    /// Of the request that is written next; its length is among the fields.
    var body: ByteBuffer?

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        defer { body = nil }
        guard case .head(let head) = unwrapOutboundIn(data), let bytes = Self.bytes(of: head, body) else {
            promise?.fail(HTTPParserError.invalidHeaderToken)
            context.fireErrorCaught(HTTPParserError.invalidHeaderToken)
            return
        }
        context.write(wrapOutboundOut(.byteBuffer(bytes)), promise: promise)
    }

    /// - Returns: Nil when a character would end the target or a field, or begin another one (RFC 9110, section 5; RFC 9112,
    ///   section 3.2).
    static func bytes(of head: HTTPRequestHead, _ body: ByteBuffer?) -> ByteBuffer? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512 + (body?.readableBytes ?? 0))
        guard bytes.append(head.method.rawValue, if: token.contains) else { return nil }
        bytes.append(UInt8(ascii: " "))
        guard bytes.append(head.uri, if: target.contains) else { return nil }
        bytes += " HTTP/1.1\r\n".utf8
        for (name, value) in head.headers {
            guard bytes.append(name, if: token.contains) else { return nil }
            bytes += [UInt8(ascii: ":"), UInt8(ascii: " ")]
            guard value.isEmpty || bytes.append(value, if: isValue) else { return nil }
            bytes += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        }
        bytes += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        body?.withUnsafeReadableBytes { bytes += $0 }
        return ByteBuffer(bytes: bytes)
    }

    private static let token = ASCIISet("!#$%&'*+-.^_`|~")
    /// What RFC 3986 allows.
    private static let target = ASCIISet("-._~:/?#[]@!$&'()*+,;=%")

    private static func isValue(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7F || byte == UInt8(ascii: "\t")
    }
}

extension [UInt8] {
    /// - Returns: Whether it has bytes, and all are allowed.
    fileprivate mutating func append(_ text: String, if isAllowed: (UInt8) -> Bool) -> Bool {
        var text = text
        return text.withUTF8 { utf8 in
            self += utf8
            return !utf8.isEmpty && utf8.allSatisfy(isAllowed)
        }
    }
}

/// The letters and digits of ASCII, and some others.
private struct ASCIISet {
    /// A bit for each.
    private var bits: (UInt64, UInt64) = (0, 0)

    init(_ others: String) {
        for byte in "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz\(others)".utf8 {
            if byte < 64 { bits.0 |= 1 << byte } else { bits.1 |= 1 << (byte - 64) }
        }
    }

    func contains(_ byte: UInt8) -> Bool {
        byte < 0x80 && (byte < 64 ? bits.0 >> byte : bits.1 >> (byte - 64)) & 1 == 1
    }
}
