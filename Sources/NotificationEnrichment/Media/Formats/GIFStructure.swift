/// GIF (CompuServe, "Graphics Interchange Format", versions 87a and 89a). The blocks and the sizes of image and frames
/// are checked; the compressed pixels are not unpacked.
struct GIFStructure: MediaStructure {
    private enum State {
        case header
        case block
        case imageDescriptor
        case codeSize
        /// The length of a sub-block; `isEmpty` until an image has had one.
        case subBlock(ofImage: Bool, isEmpty: Bool)
    }

    private let limits: MediaLimits
    private var state = State.header
    private var size = MediaSize(width: 0, height: 0)
    private var frames = 0

    init(_ limits: MediaLimits) { self.limits = limits }

    var opening: MediaDemand { .fields(13) }

    mutating func read(_ fields: MediaFields) throws(MediaProblem) -> MediaDemand {
        switch state {
        case .header:
            size = MediaSize(width: fields.little16(6), height: fields.little16(8))
            try limits.check(size)
            return block(after: Self.colorTableBytes(fields.byte(10)))
        case .block:
            return try beginBlock(fields.byte(0))
        case .imageDescriptor:
            try countFrame(fields)
            state = .codeSize
            return .fields(1, after: Self.colorTableBytes(fields.byte(8)))
        case .codeSize:
            guard (2...8).contains(fields.byte(0)) else { throw .malformed("GIF: a code size of \(fields.byte(0))") }
            state = .subBlock(ofImage: true, isEmpty: true)
            return .fields(1)
        case .subBlock(let isImage, let isEmpty):
            let length = Int64(fields.byte(0))
            guard length == 0 else {
                state = .subBlock(ofImage: isImage, isEmpty: false)
                return .fields(1, after: length)
            }
            guard !isImage || !isEmpty else { throw .malformed("GIF: frame \(frames) has no pixels") }
            return block(after: 0)
        }
    }

    func finish() throws(MediaProblem) -> MediaSize? { size }

    private mutating func block(after gap: Int64) -> MediaDemand {
        state = .block
        return .fields(1, after: gap)
    }

    private mutating func beginBlock(_ introducer: UInt8) throws(MediaProblem) -> MediaDemand {
        switch introducer {
        case 0x21:
            // An extension: the byte before its sub-blocks is its label.
            state = .subBlock(ofImage: false, isEmpty: true)
            return .fields(1, after: 1)
        case 0x2C:
            state = .imageDescriptor
            return .fields(9)
        case 0x3B:
            guard frames > 0 else { throw .malformed("GIF: no frame") }
            return .end()
        default:
            throw .malformed("GIF: the block 0x\(String(introducer, radix: 16)) is not known")
        }
    }

    /// A frame outside the image is refused: some programs cut it off, others enlarge the image for it.
    private mutating func countFrame(_ fields: MediaFields) throws(MediaProblem) {
        frames += 1
        try limits.check(size, frames: frames)
        let (width, height) = (fields.little16(4), fields.little16(6))
        guard width > 0, height > 0, fields.little16(0) + width <= size.width,
            fields.little16(2) + height <= size.height
        else { throw .malformed("GIF: frame \(frames) does not lie inside the image") }
    }

    /// Three bytes for each color; their number is in the low bits.
    private static func colorTableBytes(_ flags: UInt8) -> Int64 { flags & 0x80 == 0 ? 0 : 6 << Int64(flags & 7) }
}
