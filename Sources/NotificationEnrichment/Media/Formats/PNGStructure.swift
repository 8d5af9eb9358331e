/// PNG and APNG (W3C, Portable Network Graphics, third edition). The order of the chunks, their checksums and the sizes
/// of image and frames are checked; the compressed pixels are not unpacked.
struct PNGStructure: MediaStructure {
    private enum State {
        case signature
        case chunkHeader
        /// The contents of a chunk and its checksum.
        case contents(FourCC, bytes: Int)
        /// The checksum of a chunk whose contents passed by.
        case checksum(FourCC)
    }

    private enum Pixels { case awaited, present, over }

    private let limits: MediaLimits
    private var state = State.signature
    private var checksum = CRC32()
    private var size: MediaSize?
    private var needsPalette = false
    private var hasPalette = false
    private var pixels = Pixels.awaited
    private var pixelBytes = 0
    /// Of an animation control chunk.
    private var announcedFrames: Int?
    private var frames = 0

    init(_ limits: MediaLimits) { self.limits = limits }

    var opening: MediaDemand { .fields(8) }

    mutating func read(_ fields: MediaFields) throws(MediaProblem) -> MediaDemand {
        switch state {
        case .signature:
            break
        case .chunkHeader:
            return try beginChunk(fields)
        case .contents(let tag, let bytes):
            checksum.update(fields.slice(from: 0, bytes))
            try check(tag, fields.big32(bytes))
            try readContents(of: tag, fields)
        case .checksum(let tag):
            try check(tag, fields.big32(0))
            if tag == "IEND" { return .end() }
        }
        state = .chunkHeader
        return .fields(8)
    }

    mutating func pass(_ bytes: UnsafeRawBufferPointer) { checksum.update(bytes) }

    func finish() throws(MediaProblem) -> MediaSize? { size }

    private mutating func beginChunk(_ fields: MediaFields) throws(MediaProblem) -> MediaDemand {
        let (length, tag) = (fields.big32(0), fields.tag(4))
        guard length <= Int32.max else { throw .malformed("PNG: a chunk of \(length) bytes") }
        guard (tag == "IHDR") == (size == nil) else {
            throw .malformed("PNG: \(tag) where \(size == nil ? "the first chunk" : "another chunk") belongs")
        }
        checksum = CRC32()
        checksum.update(fields.slice(from: 4, 4))
        if pixels == .present, tag != "IDAT" { pixels = .over }
        let bytes: Int
        switch tag {
        case "IHDR": bytes = 13
        case "acTL": bytes = 8
        case "fcTL": bytes = 26
        default:
            try admit(tag, length)
            state = .checksum(tag)
            return .fields(4, after: Int64(length))
        }
        guard length == bytes else { throw .malformed("PNG: \(tag) of \(length) bytes") }
        state = .contents(tag, bytes: bytes)
        return .fields(bytes + 4)
    }

    private mutating func admit(_ tag: FourCC, _ length: Int) throws(MediaProblem) {
        switch tag {
        case "PLTE":
            guard !hasPalette, pixels == .awaited, length % 3 == 0, (3...768).contains(length) else {
                throw .malformed("PNG: a palette of \(length) bytes, or one at the wrong place")
            }
            hasPalette = true
        case "IDAT":
            guard pixels != .over, hasPalette || !needsPalette else {
                throw .malformed("PNG: IDAT at the wrong place, or without the palette that it needs")
            }
            pixels = .present
            pixelBytes += length
        case "IEND":
            guard length == 0, pixelBytes > 0 else { throw .malformed("PNG: IEND that is not empty, or before IDAT") }
            guard announcedFrames ?? frames == frames else {
                throw .malformed("APNG: \(frames) frames, \(announcedFrames ?? 0) are announced")
            }
        default:
            // Bit 5 of the first letter: a decoder that does not know a critical chunk must not show the image.
            guard Self.isName(tag), tag.rawValue & 0x2000_0000 != 0 else {
                throw .malformed("PNG: the critical chunk \(tag) is not known")
            }
        }
    }

    private mutating func readContents(of tag: FourCC, _ fields: MediaFields) throws(MediaProblem) {
        switch tag {
        case "IHDR":
            try readHeader(fields)
        case "acTL":
            guard announcedFrames == nil, pixels == .awaited else { throw .malformed("APNG: acTL at the wrong place") }
            announcedFrames = fields.big32(0)
            try checkFrames(fields.big32(0))
        default:
            frames += 1
            try checkFrames(frames)
            let (width, height) = (fields.big32(4), fields.big32(8))
            guard let size, width > 0, height > 0, width + fields.big32(12) <= size.width,
                height + fields.big32(16) <= size.height
            else { throw .malformed("APNG: frame \(frames) does not lie inside the image") }
        }
    }

    private mutating func readHeader(_ fields: MediaFields) throws(MediaProblem) {
        let (depth, color) = (fields.byte(8), fields.byte(9))
        let depths: [UInt8] =
            switch color {
            case 0: [1, 2, 4, 8, 16]
            case 3: [1, 2, 4, 8]
            case 2, 4, 6: [8, 16]
            default: []
            }
        guard depths.contains(depth), fields.byte(10) == 0, fields.byte(11) == 0, fields.byte(12) <= 1 else {
            throw .malformed("PNG: IHDR with color type \(color), depth \(depth), or an unknown method")
        }
        let size = MediaSize(width: fields.big32(0), height: fields.big32(4))
        try limits.check(size)
        self.size = size
        needsPalette = color == 3
    }

    private func checkFrames(_ count: Int) throws(MediaProblem) {
        guard let size, count > 0 else { throw .malformed("APNG: an animation without frames") }
        try limits.check(size, frames: count)
    }

    private func check(_ tag: FourCC, _ announced: Int) throws(MediaProblem) {
        guard announced == Int(checksum.value) else { throw .malformed("PNG: the checksum of \(tag) is wrong") }
    }

    private static func isName(_ tag: FourCC) -> Bool {
        // Bit 5 alone tells small letters from capital ones.
        [24, 16, 8, 0].allSatisfy { (0x61...0x7A).contains(tag.rawValue >> $0 & 0xFF | 0x20) }
    }
}
