import NIOCore
import NIOHPACK

/// Turns what a server sends into frames. Bounded: a frame by 16 KiB, the fields of an answer by what the decoder allows.
struct HTTP2FrameReader {
    enum Frame {
        /// - Parameter size: What counts for flow control, with the padding.
        case data(stream: Int, ByteBuffer, size: Int, isLast: Bool)
        case headers(stream: Int, HPACKHeaders, isLast: Bool)
        case reset(stream: Int, code: UInt32)
        case settings([Setting])
        case ping(UInt64, isAck: Bool)
        case goAway(last: Int, code: UInt32, data: ByteBuffer)
        case windowUpdate(stream: Int, by: Int)
    }

    struct Setting: Hashable {
        var id: UInt16
        var value: UInt32
    }

    private struct Head {
        var length: Int
        var type: UInt8
        var flags: UInt8
        var stream: Int

        func has(_ flag: UInt8) -> Bool { flags & flag != 0 }
    }

    /// Fields whose end has not come.
    private struct Block {
        var stream: Int
        var isLast: Bool
        var bytes: ByteBuffer
        var frames = 1
    }

    /// Of fields, compressed; and in how many frames.
    private static let mostBlockBytes = 4 * HTTP2Wire.maxFrameSize
    private static let mostBlockFrames = 16

    private var buffer = ByteBuffer()
    private var decoder = HPACKDecoder(
        allocator: ByteBufferAllocator(),
        maxDynamicTableSize: HTTP2Wire.headerTableSize,
        maxHeaderListSize: HTTP2Wire.maxHeaderListSize
    )
    private var block: Block?
    private var isFirst = true

    mutating func append(_ bytes: ByteBuffer) {
        guard buffer.readableBytes > 0 else { return buffer = bytes }
        buffer.discardReadBytes()
        buffer.writeImmutableBuffer(bytes)
    }

    /// - Returns: The next frame that is whole and means something to a client; nil when there is none.
    mutating func next() throws(HTTP2ProtocolError) -> Frame? {
        while let head = peek() {
            guard head.length <= HTTP2Wire.maxFrameSize else {
                throw HTTP2ProtocolError(HTTP2Wire.ErrorCode.frameSizeError, "a frame of \(head.length) bytes")
            }
            if isFirst, head.type != HTTP2Wire.FrameType.settings || head.has(HTTP2Wire.Flag.ack) {
                throw HTTP2ProtocolError("the first frame is not SETTINGS")
            }
            guard buffer.readableBytes >= HTTP2Wire.headBytes + head.length else { return nil }
            buffer.moveReaderIndex(forwardBy: HTTP2Wire.headBytes)
            guard let payload = buffer.readSlice(length: head.length) else { return nil }
            isFirst = false
            if let frame = try frame(head, payload) { return frame }
        }
        return nil
    }

    private func peek() -> Head? {
        let start = buffer.readerIndex
        guard let first = buffer.getInteger(at: start, as: UInt32.self),
            let flags = buffer.getInteger(at: start + 4, as: UInt8.self),
            let stream = buffer.getInteger(at: start + 5, as: UInt32.self)
        else { return nil }
        return Head(
            length: Int(first >> 8),
            type: UInt8(first & 0xFF),
            flags: flags,
            stream: Int(stream & 0x7FFF_FFFF)
        )
    }

    private mutating func frame(_ head: Head, _ payload: ByteBuffer) throws(HTTP2ProtocolError) -> Frame? {
        var payload = payload
        if block != nil { return try continuation(head, payload) }
        switch head.type {
        case HTTP2Wire.FrameType.data:
            guard head.stream > 0 else { throw HTTP2ProtocolError("DATA without a stream") }
            try unpad(&payload, head)
            let isLast = head.has(HTTP2Wire.Flag.endStream)
            return .data(stream: head.stream, payload, size: head.length, isLast: isLast)
        case HTTP2Wire.FrameType.headers: return try headers(head, &payload)
        case HTTP2Wire.FrameType.resetStream:
            guard head.stream > 0 else { throw HTTP2ProtocolError("RST_STREAM without a stream") }
            return .reset(stream: head.stream, code: try integer(&payload, "RST_STREAM", isWhole: true))
        case HTTP2Wire.FrameType.settings: return try settings(head, &payload)
        case HTTP2Wire.FrameType.ping:
            guard head.stream == 0 else { throw HTTP2ProtocolError("PING with a stream") }
            return .ping(try integer(&payload, "PING", isWhole: true), isAck: head.has(HTTP2Wire.Flag.ack))
        case HTTP2Wire.FrameType.goAway:
            guard head.stream == 0 else { throw HTTP2ProtocolError("GOAWAY with a stream") }
            let last: UInt32 = try integer(&payload, "GOAWAY", isWhole: false)
            let code: UInt32 = try integer(&payload, "GOAWAY", isWhole: false)
            return .goAway(last: Int(last & 0x7FFF_FFFF), code: code, data: payload)
        case HTTP2Wire.FrameType.windowUpdate:
            let increment: UInt32 = try integer(&payload, "WINDOW_UPDATE", isWhole: true)
            return .windowUpdate(stream: head.stream, by: Int(increment & 0x7FFF_FFFF))
        case HTTP2Wire.FrameType.pushPromise: throw HTTP2ProtocolError("PUSH_PROMISE, which SETTINGS do not allow")
        case HTTP2Wire.FrameType.continuation: throw HTTP2ProtocolError("CONTINUATION without HEADERS")
        // PRIORITY, and types that a later extension defines.
        default: return nil
        }
    }

    // MARK: - Fields

    private mutating func headers(_ head: Head, _ payload: inout ByteBuffer) throws(HTTP2ProtocolError) -> Frame? {
        guard head.stream > 0 else { throw HTTP2ProtocolError("HEADERS without a stream") }
        try unpad(&payload, head)
        if head.has(HTTP2Wire.Flag.priority) {
            guard payload.readSlice(length: 5) != nil else { throw Self.tooShort("HEADERS") }
        }
        let isLast = head.has(HTTP2Wire.Flag.endStream)
        guard head.has(HTTP2Wire.Flag.endHeaders) else {
            block = Block(stream: head.stream, isLast: isLast, bytes: payload)
            return nil
        }
        return .headers(stream: head.stream, try decoded(&payload), isLast: isLast)
    }

    private mutating func continuation(_ head: Head, _ payload: ByteBuffer) throws(HTTP2ProtocolError) -> Frame? {
        guard var block, head.type == HTTP2Wire.FrameType.continuation, head.stream == block.stream else {
            throw HTTP2ProtocolError("a frame between HEADERS and CONTINUATION")
        }
        block.bytes.writeImmutableBuffer(payload)
        block.frames += 1
        guard block.bytes.readableBytes <= Self.mostBlockBytes, block.frames <= Self.mostBlockFrames else {
            throw HTTP2ProtocolError(HTTP2Wire.ErrorCode.enhanceYourCalm, "too many bytes or frames of fields")
        }
        guard head.has(HTTP2Wire.Flag.endHeaders) else {
            self.block = block
            return nil
        }
        self.block = nil
        return .headers(stream: block.stream, try decoded(&block.bytes), isLast: block.isLast)
    }

    private mutating func decoded(_ bytes: inout ByteBuffer) throws(HTTP2ProtocolError) -> HPACKHeaders {
        do {
            return try decoder.decodeHeaders(from: &bytes)
        } catch {
            // The errors of the decoder may have contents.
            throw HTTP2ProtocolError(
                HTTP2Wire.ErrorCode.compressionError,
                "fields that are too large or cannot be decoded"
            )
        }
    }

    // MARK: - Parts

    private func settings(_ head: Head, _ payload: inout ByteBuffer) throws(HTTP2ProtocolError) -> Frame? {
        guard head.stream == 0 else { throw HTTP2ProtocolError("SETTINGS with a stream") }
        guard head.length % 6 == 0, head.length == 0 || !head.has(HTTP2Wire.Flag.ack) else {
            throw HTTP2ProtocolError(HTTP2Wire.ErrorCode.frameSizeError, "SETTINGS of \(head.length) bytes")
        }
        // That the server has applied this side's settings changes nothing.
        if head.has(HTTP2Wire.Flag.ack) { return nil }
        var settings: [Setting] = []
        while let id = payload.readInteger(as: UInt16.self), let value = payload.readInteger(as: UInt32.self) {
            settings.append(Setting(id: id, value: value))
        }
        return .settings(settings)
    }

    private func unpad(_ payload: inout ByteBuffer, _ head: Head) throws(HTTP2ProtocolError) {
        guard head.has(HTTP2Wire.Flag.padded) else { return }
        guard let padding = payload.readInteger(as: UInt8.self), Int(padding) <= payload.readableBytes else {
            throw HTTP2ProtocolError("more padding than bytes")
        }
        payload.moveWriterIndex(to: payload.writerIndex - Int(padding))
    }

    private func integer<Value: FixedWidthInteger>(
        _ payload: inout ByteBuffer,
        _ frame: String,
        isWhole: Bool
    ) throws(HTTP2ProtocolError) -> Value {
        guard let value = payload.readInteger(as: Value.self), !isWhole || payload.readableBytes == 0 else {
            throw Self.tooShort(frame)
        }
        return value
    }

    private static func tooShort(_ frame: String) -> HTTP2ProtocolError {
        HTTP2ProtocolError(HTTP2Wire.ErrorCode.frameSizeError, "\(frame) of another size")
    }
}
