/// An MPEG-1 or MPEG-2 program stream (ISO/IEC 11172-1, 2.4.3; ISO/IEC 13818-1, 2.5.3). It has no end that could be
/// relied on: after a pack with a packet of audio or video, any bytes may come.
struct MPEGProgramStructure: MediaStructure {
    private enum State {
        case startCode
        case packHeader
        /// The last bytes of a pack header of MPEG-2.
        case packStuffing
        case packetLength(isMedia: Bool)
    }

    private static let packetBound = 1000

    private var state = State.startCode
    private var packets = 0
    private var hasMedia = false

    var opening: MediaDemand { .fields(4) }

    mutating func read(_ fields: MediaFields) throws(MediaProblem) -> MediaDemand {
        switch state {
        case .startCode:
            return try take(startCode: fields.big32(0))
        case .packHeader:
            // 8 bytes in MPEG-1; 10 in MPEG-2, and as many bytes of stuffing as the last bits of the tenth say.
            guard fields.byte(0) >> 6 == 0b01 else { return startCode(after: 0) }
            state = .packStuffing
            return .fields(2)
        case .packStuffing:
            return startCode(after: Int(fields.byte(1) & 7))
        case .packetLength(let isMedia):
            let length = fields.big16(0)
            guard length > 0 else { throw .malformed("MPEG: an empty packet") }
            hasMedia = hasMedia || isMedia
            return startCode(after: length)
        }
    }

    private mutating func startCode(after gap: Int) -> MediaDemand {
        state = .startCode
        return .fields(4, after: Int64(gap))
    }

    private mutating func take(startCode code: Int) throws(MediaProblem) -> MediaDemand {
        packets += 1
        guard code >> 8 == 1, packets <= Self.packetBound else {
            throw .malformed("MPEG: no packet where one begins, or \(Self.packetBound) without audio and video")
        }
        if hasMedia { return .rest }
        switch code & 0xFF {
        case 0xBA:
            state = .packHeader
            return .fields(8)
        case 0xBB...0xFF:
            state = .packetLength(isMedia: (0xC0...0xEF).contains(code & 0xFF))
            return .fields(2)
        default:
            throw .malformed("MPEG: start code 0x\(String(code & 0xFF, radix: 16)) does not belong here")
        }
    }
}

/// An MPEG-1 or MPEG-2 video elementary stream (ISO/IEC 11172-2, 2.4.2; ISO/IEC 13818-2, 6.2.2). After the start of its
/// first picture any bytes may come.
struct MPEGVideoStructure: MediaStructure {
    /// The last bytes that were searched.
    private var last: UInt32 = .max

    var opening: MediaDemand { .fields(12) }

    /// The length of a sequence header with its start code and both matrices, as far as it has them: 12 bytes, each
    /// matrix 64 more. The flag of the second matrix is the last bit before it.
    static func sequenceHeaderBytes(_ fields: MediaFields) -> Int {
        let length = fields.byte(11) & 2 == 0 ? 12 : 76
        return fields.byte(length - 1) & 1 == 0 ? length : length + 64
    }

    mutating func read(_ fields: MediaFields) throws(MediaProblem) -> MediaDemand {
        // Width and height, 12 bits each; aspect ratio and picture rate are never 0.
        let size = (fields.big32(4) >> 20, fields.big32(4) >> 8 & 0xFFF)
        guard size.0 > 0, size.1 > 0, fields.byte(7) >> 4 != 0, fields.byte(7) & 15 != 0 else {
            throw .malformed("MPEG: a sequence header without size, aspect ratio or picture rate")
        }
        return .search
    }

    /// Finds the start code of a picture. A matrix cannot contain one: its values are not 0.
    mutating func search(_ bytes: UnsafeRawBufferPointer) throws(MediaProblem) -> (used: Int, next: MediaDemand?) {
        for byte in bytes {
            last = last << 8 | UInt32(byte)
            if last == 0x0000_0100 { return (bytes.count, .rest) }
        }
        return (bytes.count, nil)
    }
}
