import NIOCore
import NIOHPACK

/// Turns what a client sends into bytes, which are collected: frames are small, and TLS would make a record of each write.
struct HTTP2FrameWriter {
    /// What was written since it was taken.
    private var bytes = ByteBuffer()
    /// Huffman's code would make fields a fifth smaller, for half as much time again.
    private var encoder = HPACKEncoder(
        allocator: ByteBufferAllocator(),
        useHuffmanEncoding: false,
        maxDynamicTableSize: HTTP2Wire.headerTableSize
    )
    /// The blocks of shared fields that are all in the table: each byte is an index. They stay so until something enters the
    /// table or leaves it.
    private var indexed: [(shared: HTTP2Fields.Shared, block: [UInt8])] = []
    private static let mostIndexed = 8
    /// The largest frame that the server takes.
    var maxFrameSize = HTTP2Wire.maxFrameSize

    /// Bytes that were not taken.
    var count: Int { bytes.readableBytes }

    /// The bytes, which are sent next.
    mutating func take() -> ByteBuffer {
        defer { bytes = ByteBufferAllocator().buffer(capacity: max(1024, min(65_536, bytes.readableBytes))) }
        return bytes
    }

    /// The preface and the first SETTINGS of a client.
    mutating func begin() {
        bytes.writeString(HTTP2Wire.preface)
        head(length: 12, HTTP2Wire.FrameType.settings, flags: 0, stream: 0)
        bytes.writeMultipleIntegers(HTTP2Wire.Setting.enablePush, UInt32(0))
        bytes.writeMultipleIntegers(HTTP2Wire.Setting.maxHeaderListSize, UInt32(HTTP2Wire.maxHeaderListSize))
    }

    /// The fields of a request.
    ///
    /// - Throws: When the table of the compression is lost, and with it the connection.
    mutating func headers(_ fields: HTTP2Fields, stream: Int, isLast: Bool) throws {
        let start = bytes.writerIndex
        head(length: 0, HTTP2Wire.FrameType.headers, flags: 0, stream: stream)
        try write(fields)
        let length = bytes.writerIndex - start - HTTP2Wire.headBytes
        let flags = isLast ? HTTP2Wire.Flag.endStream : 0
        guard length > maxFrameSize else {
            return setHead(start, length, HTTP2Wire.FrameType.headers, flags | HTTP2Wire.Flag.endHeaders, stream)
        }
        guard var block = bytes.getSlice(at: start + HTTP2Wire.headBytes, length: length) else { return }
        bytes.moveWriterIndex(to: start)
        var type = HTTP2Wire.FrameType.headers
        while let part = block.readSlice(length: min(maxFrameSize, block.readableBytes)), part.readableBytes > 0 {
            let end = block.readableBytes == 0 ? HTTP2Wire.Flag.endHeaders : 0
            let first = type == HTTP2Wire.FrameType.headers ? flags : 0
            head(length: part.readableBytes, type, flags: first | end, stream: stream)
            bytes.writeImmutableBuffer(part)
            type = HTTP2Wire.FrameType.continuation
        }
    }

    private mutating func write(_ fields: HTTP2Fields) throws {
        let (shared, path) = (fields.shared, fields.literals[..<fields.pathEnd])
        let own = fields.literals[fields.pathEnd...]
        if let known = indexed.first(where: { $0.shared === shared }) {
            let count = shared.beginning.count
            bytes.writeBytes(known.block[..<count])
            bytes.writeBytes(path)
            bytes.writeBytes(known.block[count...])
            bytes.writeBytes(own)
            return
        }
        let beginning = try encode(shared.beginning)
        bytes.writeBytes(path)
        let rest = try encode(shared.rest)
        bytes.writeBytes(own)
        guard let beginning, let rest else { return indexed.removeAll() }
        if indexed.count == Self.mostIndexed { indexed.removeFirst() }
        indexed.append((shared, beginning + rest))
    }

    /// - Returns: The bytes, when each is the index of a field; nil when the table has changed.
    private mutating func encode(_ fields: HPACKHeaders) throws -> [UInt8]? {
        let start = bytes.writerIndex
        try encoder.encode(headers: fields, to: &bytes)
        let length = bytes.writerIndex - start
        return length == fields.count ? bytes.getBytes(at: start, length: length) : nil
    }

    /// A part of a body.
    ///
    /// - Parameters:
    ///   - body: Loses its first bytes.
    ///   - count: At most those of the body, and at most `maxFrameSize`.
    mutating func data(_ body: inout ByteBuffer, count: Int, stream: Int) {
        guard let part = body.readSlice(length: count) else { return }
        let flags = body.readableBytes == 0 ? HTTP2Wire.Flag.endStream : 0
        head(length: count, HTTP2Wire.FrameType.data, flags: flags, stream: stream)
        bytes.writeImmutableBuffer(part)
    }

    mutating func reset(stream: Int, code: UInt32) {
        head(length: 4, HTTP2Wire.FrameType.resetStream, flags: 0, stream: stream)
        bytes.writeInteger(code)
    }

    mutating func acknowledgeSettings() {
        head(length: 0, HTTP2Wire.FrameType.settings, flags: HTTP2Wire.Flag.ack, stream: 0)
    }

    mutating func ping(_ data: UInt64, isAck: Bool) {
        head(length: 8, HTTP2Wire.FrameType.ping, flags: isAck ? HTTP2Wire.Flag.ack : 0, stream: 0)
        bytes.writeInteger(data)
    }

    /// No stream of the server was processed: there is none.
    mutating func goAway(code: UInt32) {
        head(length: 8, HTTP2Wire.FrameType.goAway, flags: 0, stream: 0)
        bytes.writeMultipleIntegers(UInt32(0), code)
    }

    /// - Parameter increment: 1 to 2^31 - 1.
    mutating func windowUpdate(by increment: Int) {
        head(length: 4, HTTP2Wire.FrameType.windowUpdate, flags: 0, stream: 0)
        bytes.writeInteger(UInt32(truncatingIfNeeded: increment))
    }

    /// SETTINGS_HEADER_TABLE_SIZE of the server.
    mutating func allowTable(of size: Int) throws {
        indexed.removeAll()
        try encoder.setDynamicTableSize(min(HTTP2Wire.headerTableSize, size))
    }

    private mutating func head(length: Int, _ type: UInt8, flags: UInt8, stream: Int) {
        let first = UInt32(truncatingIfNeeded: length) << 8 | UInt32(type)
        bytes.writeMultipleIntegers(first, flags, UInt32(truncatingIfNeeded: stream))
    }

    private mutating func setHead(_ start: Int, _ length: Int, _ type: UInt8, _ flags: UInt8, _ stream: Int) {
        bytes.setInteger(UInt32(truncatingIfNeeded: length) << 8 | UInt32(type), at: start)
        bytes.setInteger(flags, at: start + 4)
        bytes.setInteger(UInt32(truncatingIfNeeded: stream), at: start + 5)
    }
}
