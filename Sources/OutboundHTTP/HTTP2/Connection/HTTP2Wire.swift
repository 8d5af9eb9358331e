/// The numbers of HTTP/2 (RFC 9113) that a client needs.
enum HTTP2Wire {
    /// Frame types, section 6.
    enum FrameType {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let resetStream: UInt8 = 3
        static let settings: UInt8 = 4
        static let pushPromise: UInt8 = 5
        static let ping: UInt8 = 6
        static let goAway: UInt8 = 7
        static let windowUpdate: UInt8 = 8
        static let continuation: UInt8 = 9
    }

    enum Flag {
        static let endStream: UInt8 = 0x1
        static let ack: UInt8 = 0x1
        static let endHeaders: UInt8 = 0x4
        static let padded: UInt8 = 0x8
        static let priority: UInt8 = 0x20
    }

    /// Settings, section 6.5.2.
    enum Setting {
        static let headerTableSize: UInt16 = 1
        static let enablePush: UInt16 = 2
        static let maxConcurrentStreams: UInt16 = 3
        static let initialWindowSize: UInt16 = 4
        static let maxFrameSize: UInt16 = 5
        static let maxHeaderListSize: UInt16 = 6
    }

    /// Error codes, section 7.
    enum ErrorCode {
        static let noError: UInt32 = 0
        static let protocolError: UInt32 = 1
        static let flowControlError: UInt32 = 3
        static let frameSizeError: UInt32 = 6
        static let refusedStream: UInt32 = 7
        static let cancel: UInt32 = 8
        static let compressionError: UInt32 = 9
        static let enhanceYourCalm: UInt32 = 0xB
    }

    static let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    /// Length, type, flags and stream of a frame.
    static let headBytes = 9
    /// The initial size of all windows.
    static let window = 65_535
    static let largestWindow = Int(Int32.max)
    /// The largest frame before SETTINGS allow more; of this side they never do.
    static let maxFrameSize = 16_384
    static let largestFrameSize = 16_777_215
    /// The most bytes of the fields of an answer, uncompressed and with 32 for each.
    static let maxHeaderListSize = 16_384
    /// The table of the compression in both directions.
    static let headerTableSize = 4096
}

/// What a server sent against RFC 9113: the connection ends with a GOAWAY.
struct HTTP2ProtocolError: Error, Hashable {
    let code: UInt32
    /// Without contents.
    let text: String

    init(_ code: UInt32, _ text: String) { (self.code, self.text) = (code, text) }

    init(_ text: String) { self.init(HTTP2Wire.ErrorCode.protocolError, text) }
}
