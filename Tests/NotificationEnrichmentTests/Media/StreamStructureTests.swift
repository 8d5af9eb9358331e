import OutboundHTTP
import Testing

@testable import NotificationEnrichment

struct ChunkedStructureTests {
    private static let data = [UInt8].chunk("data", [1, 2])

    @Test func `the announced length agrees with the bytes`() {
        var short = [UInt8].wav()
        short[4] -= 2
        #expect(refusal(short) == .malformed)
        var long = [UInt8].wav()
        long[4] += 1
        #expect(refusal(long) == .malformed)
        #expect(refusal(.wav() + tag("more")) == .malformed)
        let unknown = tag("RIFF") + little(0xFFFF_FFFF, 4) + [UInt8].wav().dropFirst(8)
        #expect(refusal(unknown) == .truncated)
        #expect(refusal(tag("RIFF") + little(0, 4) + [UInt8].wav().dropFirst(8)) == .malformed)
    }

    @Test func `a last chunk without its padding passes`() {
        let bytes = [UInt8].riff("WAVE", .wavFormat + [UInt8].chunk("data", [1, 2, 3]).dropLast())
        #expect(refusal(bytes) == nil)
    }

    @Test func `the parts are there, once, and not empty`() {
        let wrong: [[UInt8]] = [
            .riff("WAVE", []), .riff("WAVE", .wavFormat), .riff("WAVE", Self.data),
            .riff("WAVE", Self.data + .wavFormat),
            .riff("WAVE", .wavFormat + .chunk("data", [])), .riff("WAVE", .wavFormat + .wavFormat + Self.data),
            .riff("WAVE", .wavFormat + Self.data + Self.data), .wav(tag("data") + little(9, 4) + [1]),
            .riff("AVI ", .chunk("LIST", tag("movi") + [1, 2])), .avi(.chunk("LIST", tag("movi") + [1, 2])),
        ]
        for (index, bytes) in wrong.enumerated() { #expect(refusal(bytes) == .malformed, "\(index)") }
    }

    @Test func `AIFF may be compressed`() throws { #expect(try inspect(.aiff("AIFC")).get().type == .aiff) }
}

struct MPEG4StructureTests {
    private static let movie = [UInt8].box("moov", .box("mvhd"))
    private static let data = [UInt8].box("mdat", [1, 2, 3])

    @Test(arguments: ["isom", "iso6", "mp41", "mp42", "avc1", "M4V ", "dash"])
    func `the brands of movies pass`(_ brand: String) throws {
        #expect(try inspect(.mpeg4(brand: brand)).get().type == .mpeg4)
    }

    @Test func `boxes may come in any order, the last may reach to the end`() {
        #expect(refusal(.fileType("isom") + Self.data + Self.movie) == nil)
        #expect(refusal(.fileType("isom") + Self.movie + big(0, 4) + tag("mdat") + [1, 2, 3]) == nil)
    }

    @Test func `boxes with impossible sizes, or that do not belong there, are refused`() {
        let start = [UInt8].fileType("isom") + Self.movie
        let wrong: [[UInt8]] = [
            start + big(7, 4) + tag("mdat"), start + big(1, 4) + tag("mdat") + big(15, 8),
            start + big(1, 4) + tag("mdat") + [UInt8](repeating: 0xFF, count: 8), start + Self.movie,
            start + .fileType("isom"),
            start + Self.data + big(8, 4) + [0, 1, 2, 3], start + Self.data + [UInt8](repeating: 0, count: 8),
        ]
        for (index, bytes) in wrong.enumerated() { #expect(refusal(bytes) == .malformed, "\(index)") }
        #expect(refusal(start + Self.data + tag("PK\u{3}\u{4}abcdefgh")) == .truncated)
        #expect(refusal(start + big(1, 4) + tag("mdat") + big(Int.max, 8) + [1]) == .truncated)
    }

    @Test func `without moov or mdat the file is not whole`() {
        #expect(refusal(.fileType("isom") + Self.data) == .truncated)
        #expect(refusal(.fileType("isom") + Self.movie) == .truncated)
        #expect(refusal(.fileType("isom") + big(0, 4) + tag("mdat")) == .truncated)
    }

    @Test func `the number of boxes is bounded`() {
        let boxes = times(MPEG4Structure.boxBound, .box("free"))
        #expect(refusal(.fileType("isom") + boxes) == .malformed)
    }
}

struct MPEGAudioStructureTests {
    @Test(
        arguments: [
            (0xFFFB_1000, 104), (0xFFFB_1200, 105), (0xFFFB_E400, 960), (0xFFF3_1000, 26), (0xFFE3_1000, 52),
            (0xFFFA_9000, 417),
        ]
    )
    func `a frame header tells the size of its frame`(_ word: Int, _ bytes: Int) {
        #expect(MP3FrameHeader(word)?.frameBytes == bytes)
    }

    @Test(arguments: [0xFFFB_0000, 0xFFFB_F000, 0xFFFB_1C00, 0xFFEB_1000, 0xFFFD_1000, 0xFFFF_1000, 0xFF7B_1000])
    func `anything else is no frame header of layer III`(_ word: Int) { #expect(MP3FrameHeader(word) == nil) }

    @Test func `three frames of one stream are needed, then anything may come`() {
        #expect(refusal(.mp3(frames: 2)) == .truncated)
        #expect(refusal(.mp3(frames: 3) + tag("TAG") + [UInt8](repeating: 0, count: 125)) == nil)
        #expect(refusal(.mp3(frames: 2) + [0] + .mp3(frames: 2)) == .malformed)
        let otherRate: [UInt8] = [0xFF, 0xFB, 0x14, 0xC4] + [UInt8](repeating: 0, count: 92)
        #expect(refusal(.mp3(frames: 1) + otherRate + .mp3(frames: 2)) == .malformed)
    }

    @Test func `tags are skipped, with their footer, and bounded`() {
        let tagged = [UInt8].id3(bytes: 1000) + .id3(bytes: 0)
        #expect(refusal(tagged + .mp3(frames: 3)) == nil)
        let withFooter = tag("ID3") + [4, 0, 0x10, 0, 0, 0, 5] + [UInt8](repeating: 0, count: 15)
        #expect(refusal(withFooter + .mp3(frames: 3)) == nil)
        #expect(refusal(tag("ID3") + [4, 0, 0, 0x80, 0, 0, 0] + .mp3(frames: 3)) == .malformed)
        #expect(refusal(.id3(bytes: 10) + tag("<html></html>")) == .malformed)
        let many = times(9, .id3(bytes: 1))
        #expect(refusal(many + .mp3(frames: 3)) == .malformed)
    }
}

struct MPEGStructureTests {
    @Test func `packets must follow each other`() {
        let stream = [UInt8].programStream(isMPEG2: false)
        let (pack, rest) = ([UInt8](stream.prefix(12)), [UInt8](stream.dropFirst(12)))
        let padding: [UInt8] = [0, 0, 1, 0xBE, 0, 1, 0xFF]
        #expect(refusal(join(pack, [1, 2, 3, 4], rest)) == .malformed)
        #expect(refusal(join(pack, [0, 0, 1, 0xE0, 0, 0], rest)) == .malformed)
        #expect(refusal(join(pack, [0, 0, 1, 0x00], rest)) == .malformed)
        #expect(refusal(join(pack, times(1000, padding))) == .malformed)
        #expect(refusal(join(pack, times(100, padding), rest)) == nil)
    }

    @Test func `a video stream has a size and a picture`() {
        var stream = [UInt8].videoStream(isMPEG2: false)
        #expect(refusal(stream.dropLast(8) + tag("no picture")) == .truncated)
        stream.replaceSubrange(4..<7, with: [0, 0, 0])
        #expect(refusal(stream) == .malformed)
    }
}
