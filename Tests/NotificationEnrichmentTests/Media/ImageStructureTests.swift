import OutboundHTTP
import Testing

@testable import NotificationEnrichment

struct TrailingBytesTests {
    @Test(arguments: MediaSample.images)
    func `an image that is also something else is refused`(_ sample: MediaSample) {
        for tail in [tag("PK\u{3}\u{4}"), tag("<script>"), [0, 0, 1], tag("\n"), sample.bytes] {
            #expect(refusal(sample.bytes + tail) == .malformed)
            #expect(refusal(sample.bytes + tail, chunk: 1) == .malformed)
        }
    }

    @Test func `zeros may follow, up to a bound`() {
        for sample in [[UInt8].png(), .gif(), .jpeg(), .wav(), .aiff(), .avi()] {
            let zeros = [UInt8](repeating: 0, count: MediaReader.paddingBytes)
            #expect(refusal(sample + zeros) == nil)
            #expect(refusal(sample + zeros + [0], chunk: 1000) == .malformed)
        }
    }
}

struct PNGStructureTests {
    private static func file(_ chunks: [UInt8]...) -> [UInt8] { .pngSignature + chunks.joined() }

    private static let header = [UInt8].pngHeader(2, 2)
    private static let pixels = [UInt8].pngChunk("IDAT", .pngPixels)
    private static let end = [UInt8].pngChunk("IEND")

    @Test func `the checksum is the one of the specification`() {
        var checksum = CRC32()
        tag("123456789").withUnsafeBytes { checksum.update($0) }
        #expect(checksum.value == 0xCBF4_3926)
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        var (whole, parts) = (CRC32(), CRC32())
        bytes.withUnsafeBytes { whole.update($0) }
        for byte in bytes { [byte].withUnsafeBytes { parts.update($0) } }
        #expect(whole.value == parts.value)
    }

    @Test func `every flipped bit is found`() {
        let bytes = [UInt8].animatedPNG(frames: 2)
        for bit in 0..<bytes.count * 8 {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << (bit % 8)
            #expect(refusal(flipped) != nil, "bit \(bit)")
        }
    }

    @Test func `chunks at the wrong place are refused`() {
        let palette = [UInt8].pngChunk("PLTE", [1, 2, 3])
        let indexed = [UInt8].pngHeader(2, 2, color: 3)
        let wrong: [[UInt8]] = [
            Self.file(Self.pixels, Self.header, Self.end), Self.file(Self.header, Self.header, Self.pixels, Self.end),
            Self.file(Self.header, Self.end), Self.file(Self.header, .pngChunk("IDAT"), Self.end),
            Self.file(Self.header, Self.pixels, .pngChunk("tEXt"), Self.pixels, Self.end),
            Self.file(Self.header, Self.pixels, .pngChunk("IEND", [0])), Self.file(indexed, Self.pixels, Self.end),
            Self.file(Self.header, palette, palette, Self.pixels, Self.end),
            Self.file(Self.header, Self.pixels, palette, Self.end),
            Self.file(Self.header, .pngChunk("PLTE", [1, 2]), Self.pixels, Self.end),
            Self.file(Self.header, .pngChunk("CgBI", [1]), Self.pixels, Self.end),
            Self.file(Self.header, .pngChunk("te3t"), Self.pixels, Self.end),
            Self.file(.pngHeader(2, 2, depth: 3), Self.pixels, Self.end),
            Self.file(.pngHeader(2, 2, color: 5), Self.pixels, Self.end),
        ]
        for (index, bytes) in wrong.enumerated() { #expect(refusal(bytes) == .malformed, "\(index)") }
        #expect(refusal(Self.file(indexed, palette, Self.pixels, Self.end)) == nil)
        #expect(refusal(Self.file(Self.header, Self.pixels, Self.pixels, .pngChunk("tEXt"), Self.end)) == nil)
    }

    @Test func `a chunk of an impossible length is refused`() {
        #expect(refusal(Self.file(Self.header, big(0x8000_0000, 4) + tag("tEXt"))) == .malformed)
        #expect(refusal(Self.file(Self.header, big(0x7FFF_FFFF, 4) + tag("tEXt"))) == .truncated)
    }

    @Test(arguments: [(0, 2), (2, 0), (16_385, 1), (1, 16_385), (10_000, 10_000), (0xFFFF_FFFF, 0xFFFF_FFFF)])
    func `an image of unreasonable size is refused`(_ width: Int, _ height: Int) {
        #expect(refusal(.png(width, height)) == .dimensions)
    }

    @Test func `an animation has the announced frames, inside the image, and not too many`() {
        #expect(refusal(.animatedPNG(frames: 2, announced: 3)) == .malformed)
        #expect(refusal(.animatedPNG(frames: 1, announced: 0)) == .malformed)
        #expect(refusal(.animatedPNG(frames: 1, announced: 2001)) == .dimensions)
        #expect(refusal(.animatedPNG(frames: 1, announced: 2000, 1000, 1000)) == .dimensions)
        let outside = [UInt8].frameControl(0, x: 1)
        #expect(refusal(.png(extra: outside)) == .malformed)
        #expect(refusal(.png(extra: .frameControl(0, 0xFFFF_FFFF, x: 0xFFFF_FFFF))) == .malformed)
        let many = times(2001, .frameControl(0))
        #expect(refusal(.png(extra: many)) == .dimensions)
    }
}

struct GIFStructureTests {
    @Test func `frames must be there and lie inside the image`() {
        #expect(refusal(.gif(frames: 0)) == .malformed)
        #expect(refusal(.gif(extra: .gifFrame(x: 1))) == .malformed)
        #expect(refusal(.gif(extra: .gifFrame(0, 2))) == .malformed)
        #expect(refusal(.gif(extra: .gifFrame(1, 1, x: 2))) == nil)
    }

    @Test func `too many frames or pixels are refused`() {
        #expect(refusal(.gif(frames: 2000)) == nil)
        #expect(refusal(.gif(frames: 2001)) == .dimensions)
        #expect(refusal(.gif(1000, 1000, frames: 500)) == nil)
        #expect(refusal(.gif(1000, 1000, frames: 501)) == .dimensions)
        #expect(refusal(.gif(0, 1)) == .dimensions)
        #expect(refusal(.gif(65_535, 65_535)) == .dimensions)
    }

    @Test func `blocks that the format has not are refused`() {
        #expect(refusal(.gif(extra: [0])) == .malformed)
        let frame = [UInt8].gifFrame()
        #expect(refusal(.gif(extra: frame.prefix(16) + [9] + frame.dropFirst(17))) == .malformed)
        #expect(refusal(.gif(extra: frame.prefix(17) + [0])) == .malformed)
    }
}

struct JPEGStructureTests {
    private static func file(_ parts: [UInt8]...) -> [UInt8] { [0xFF, 0xD8] + parts.joined() }

    private static let frame = [UInt8].jpegFrame(8, 8)
    private static let end: [UInt8] = [0xFF, 0xD9]
    private static let scan = [UInt8].jpegScan + [0x3F]

    @Test(arguments: [0xC0, 0xC1, 0xC2] as [UInt8])
    func `Huffman-coded frames pass`(_ code: UInt8) { #expect(refusal(.jpeg(code: code)) == nil) }

    @Test(arguments: [0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF] as [UInt8])
    func `lossless, hierarchical and arithmetic-coded frames are not supported`(_ code: UInt8) {
        #expect(refusal(.jpeg(code: code)) == .unsupportedType)
    }

    @Test func `a height that is told later, and more than eight bits, are not supported`() {
        #expect(refusal(.jpeg(8, 0)) == .unsupportedType)
        #expect(refusal(.jpeg(extra: .segment(0xDC, [0, 8]))) == .unsupportedType)
        let deep = Self.file(.jpegTables, .jpegFrame(8, 8, precision: 12), Self.scan, Self.end)
        #expect(refusal(deep) == .unsupportedType)
    }

    @Test func `metadata, fill bytes and markers inside of metadata are skipped`() {
        let thumbnail = [UInt8].segment(0xE1, tag("Exif\0\0") + .jpeg())
        let comment = join([0xFF, 0xFF, 0xFF], .segment(0xFE, tag("comment")))
        #expect(refusal(.jpeg(extra: thumbnail + comment)) == nil)
        #expect(refusal(.jpeg(data: [0x3F, 0xFF, 0xFF, 0xFF])) == nil)
    }

    @Test func `segments at the wrong place are refused`() {
        let wrong: [[UInt8]] = [
            Self.file(.jpegTables, Self.frame, Self.frame, Self.scan, Self.end),
            Self.file(.jpegTables, Self.scan, Self.end), Self.file(Self.frame, Self.scan, Self.end),
            Self.file(.jpegTables, Self.frame, Self.end), Self.file(.jpegTables, Self.frame, .jpegScan, Self.end),
            Self.file(.jpegTables, Self.frame, Self.scan, [0xFF, 0xD8]),
            Self.file(.jpegTables, [0xFF, 0xD0], Self.frame, Self.scan, Self.end),
            Self.file([0xFF, 0xFE, 0, 1], .jpegTables, Self.frame, Self.scan, Self.end),
            Self.file(.jpegTables, [0x00], Self.frame, Self.scan, Self.end),
            Self.file(.jpegTables, Self.frame, .segment(0xDA, [1, 2, 0, 0, 63, 0]) + [0x3F], Self.end),
            Self.file(.jpegTables, Self.frame, .segment(0xDA, [1, 1, 0, 0, 64, 0]) + [0x3F], Self.end),
            Self.file(.jpegTables, Self.frame, .segment(0xDA, [2, 1, 0, 0, 63, 0]) + [0x3F], Self.end),
            Self.file(.jpegTables, .segment(0xC0, [8, 0, 8, 0, 8, 1, 1, 0x51, 0]), Self.scan, Self.end),
            Self.file(.jpegTables, .segment(0xC0, [8, 0, 8, 0, 8, 5, 1, 0x11, 0]), Self.scan, Self.end),
        ]
        for (index, bytes) in wrong.enumerated() { #expect(refusal(bytes) == .malformed, "\(index)") }
    }

    @Test func `each component needs a scan`() {
        let twoComponents = [UInt8].segment(0xC0, [8, 0, 8, 0, 8, 2, 1, 0x11, 0, 2, 0x11, 0])
        let second = [UInt8].segment(0xDA, [1, 2, 0, 0, 63, 0]) + [0x3F]
        #expect(refusal(Self.file(.jpegTables, twoComponents, Self.scan, Self.end)) == .malformed)
        #expect(refusal(Self.file(.jpegTables, twoComponents, Self.scan, second, Self.end)) == nil)
    }

    @Test func `too many pixels or scans are refused`() {
        #expect(refusal(.jpeg(65_535, 65_535)) == .dimensions)
        #expect(refusal(.jpeg(0, 8)) == .dimensions)
        let scans = times(JPEGStructure.scanBound, Self.scan)
        #expect(refusal(Self.file(.jpegTables, Self.frame, scans, Self.end)) == nil)
        #expect(refusal(Self.file(.jpegTables, Self.frame, scans, Self.scan, Self.end)) == .dimensions)
    }
}
