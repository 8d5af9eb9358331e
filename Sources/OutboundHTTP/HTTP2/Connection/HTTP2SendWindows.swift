import NIOCore

/// The bodies that the windows of a server keep back (RFC 9113, section 5.2), first come first served.
struct HTTP2SendWindows {
    private struct Blocked {
        var rest: ByteBuffer
        /// Of the stream; negative after SETTINGS that make it smaller.
        var window: Int
    }

    /// Of the connection.
    private(set) var window = HTTP2Wire.window
    /// Of a new stream.
    private var streamWindow = HTTP2Wire.window
    private var blocked: [Int: Blocked] = [:]
    /// Of the streams that are kept back, and of some that were.
    private var order: [Int] = []

    /// Writes a body, or what of it is allowed.
    mutating func send(_ body: ByteBuffer, stream: Int, _ writer: inout HTTP2FrameWriter) {
        var blocked = Blocked(rest: body, window: streamWindow)
        // If others wait for the window of the connection, there is nothing of it.
        write(&blocked, stream, &writer)
        guard blocked.rest.readableBytes > 0 else { return }
        if order.count > 2 * self.blocked.count { order.removeAll { self.blocked[$0] == nil } }
        self.blocked[stream] = blocked
        order.append(stream)
    }

    /// The stream has ended.
    ///
    /// - Returns: Bytes of its body that were not written.
    mutating func end(_ stream: Int) -> Int {
        blocked.isEmpty ? 0 : blocked.removeValue(forKey: stream)?.rest.readableBytes ?? 0
    }

    /// WINDOW_UPDATE for the connection.
    mutating func update(by increment: Int, _ writer: inout HTTP2FrameWriter) throws(HTTP2ProtocolError) {
        guard increment > 0 else { throw HTTP2ProtocolError("WINDOW_UPDATE by 0") }
        window += increment
        guard window <= HTTP2Wire.largestWindow else { throw Self.overflow }
        proceed(&writer)
    }

    /// WINDOW_UPDATE for a stream. It matters only to one that is kept back.
    mutating func update(_ stream: Int, by increment: Int, _ writer: inout HTTP2FrameWriter)
        throws(HTTP2ProtocolError)
    {
        guard var entry = blocked[stream] else { return }
        guard increment > 0 else { throw HTTP2ProtocolError("WINDOW_UPDATE by 0") }
        entry.window += increment
        guard entry.window <= HTTP2Wire.largestWindow else { throw Self.overflow }
        write(&entry, stream, &writer)
        blocked[stream] = entry.rest.readableBytes > 0 ? entry : nil
    }

    /// SETTINGS_INITIAL_WINDOW_SIZE, which changes the windows of all streams.
    mutating func set(streamWindow new: Int, _ writer: inout HTTP2FrameWriter) throws(HTTP2ProtocolError) {
        guard new <= HTTP2Wire.largestWindow else { throw Self.overflow }
        let difference = new - streamWindow
        streamWindow = new
        for stream in Array(blocked.keys) {
            let changed = (blocked[stream]?.window ?? 0) + difference
            guard changed <= HTTP2Wire.largestWindow else { throw Self.overflow }
            blocked[stream]?.window = changed
        }
        proceed(&writer)
    }

    private mutating func proceed(_ writer: inout HTTP2FrameWriter) {
        guard !blocked.isEmpty else { return }
        var left: [Int] = []
        for stream in order {
            guard var entry = blocked[stream] else { continue }
            write(&entry, stream, &writer)
            blocked[stream] = entry.rest.readableBytes > 0 ? entry : nil
            if entry.rest.readableBytes > 0 { left.append(stream) }
        }
        order = left
    }

    private mutating func write(_ entry: inout Blocked, _ stream: Int, _ writer: inout HTTP2FrameWriter) {
        // An empty body ends the stream, too.
        if entry.rest.readableBytes == 0 { return writer.data(&entry.rest, count: 0, stream: stream) }
        while entry.rest.readableBytes > 0 {
            let count = min(entry.rest.readableBytes, window, entry.window, writer.maxFrameSize)
            guard count > 0 else { return }
            writer.data(&entry.rest, count: count, stream: stream)
            window -= count
            entry.window -= count
        }
    }

    private static var overflow: HTTP2ProtocolError {
        HTTP2ProtocolError(HTTP2Wire.ErrorCode.flowControlError, "a window above 2^31 - 1")
    }
}
