@testable import NotificationEnrichment

extension [UInt8] {
    // MARK: - RIFF and IFF

    static func chunk(_ name: String, _ contents: Self) -> Self {
        join(tag(name), little(contents.count, 4), contents, times(contents.count & 1, [0]))
    }

    static func riff(_ form: String, _ chunks: Self) -> Self {
        join(tag("RIFF"), little(chunks.count + 4, 4), tag(form), chunks)
    }

    static let wavFormat = chunk(
        "fmt ",
        join(little(1, 2), little(1, 2), little(8000, 4), little(8000, 4), little(1, 2), little(8, 2))
    )

    static func wav(_ extra: Self = []) -> Self {
        riff("WAVE", join(wavFormat, chunk("LIST", tag("INFO")), chunk("data", times(25, [0x80])), extra))
    }

    static func avi(_ extra: Self = []) -> Self {
        let header = chunk("LIST", join(tag("hdrl"), chunk("avih", times(56, [1]))))
        let movie = chunk("LIST", join(tag("movi"), chunk("00dc", [1, 2, 3])))
        return riff("AVI ", join(header, chunk("JUNK", [9]), movie, extra, chunk("idx1", times(16, [0]))))
    }

    static func bigChunk(_ name: String, _ contents: Self) -> Self {
        join(tag(name), big(contents.count, 4), contents, times(contents.count & 1, [0]))
    }

    static func aiff(_ form: String = "AIFF") -> Self {
        // 44,100 Hz as an extended number of 80 bits.
        let rate: Self = [0x40, 0x0E, 0xAC, 0x44, 0, 0, 0, 0, 0, 0]
        let format = bigChunk("COMM", join(big(1, 2), big(5, 4), big(8, 2), rate))
        let chunks = join(format, bigChunk("SSND", join(times(8, [0]), [1, 2, 3, 4, 5])))
        return join(tag("FORM"), big(chunks.count + 4, 4), tag(form), chunks)
    }

    // MARK: - MPEG-4

    static func box(_ name: String, _ contents: Self = []) -> Self {
        join(big(contents.count + 8, 4), tag(name), contents)
    }

    static func largeBox(_ name: String, _ contents: Self) -> Self {
        join(big(1, 4), tag(name), big(contents.count + 16, 8), contents)
    }

    static func fileType(_ brand: String) -> Self { box("ftyp", join(tag(brand), big(0x200, 4), tag("mp42isom"))) }

    static func mpeg4(brand: String = "isom") -> Self {
        join(fileType(brand), box("moov", box("mvhd", times(100, [0]))), box("free"), largeBox("mdat", times(33, [7])))
    }

    // MARK: - MP3

    /// Frames of MPEG-1, 32 kbit/s, 44,100 Hz: 104 bytes each.
    static func mp3(frames: Int) -> Self { times(frames, join([0xFF, 0xFB, 0x10, 0xC4], times(100, [0x55]))) }

    static func id3(bytes: Int) -> Self {
        join(tag("ID3"), [4, 0, 0, 0, 0, UInt8(bytes >> 7), UInt8(bytes & 0x7F)], times(bytes, [0]))
    }

    // MARK: - MPEG

    static func programStream(isMPEG2: Bool) -> Self {
        let pack1: Self = [0x21, 0, 1, 0, 1, 0x80, 0, 1]
        let pack2: Self = [0x44, 0, 4, 0, 4, 1, 0, 0, 3, 0xFB, 0xFF, 0xFF, 0xFF]
        let packet = join([0, 0, 1, 0xE0], big(30, 2), times(30, [0x11]))
        return join([0, 0, 1, 0xBA], isMPEG2 ? pack2 : pack1, packet, [0, 0, 1, 0xB9], tag("anything"))
    }

    /// With both matrices in MPEG-2.
    static func videoStream(isMPEG2: Bool) -> Self {
        let header: Self = [0, 0, 1, 0xB3, 0x16, 0x01, 0x20, 0x13, 0xFF, 0xFF, 0xE0]
        let matrices = join([0x1A], times(63, [16]), [17], times(64, [16]), [0, 0, 1, 0xB5, 0x14, 0x8A, 0, 1, 0, 0])
        let group: Self = [0x18, 0, 0, 1, 0xB8, 0, 8, 0, 0]
        return join(header, isMPEG2 ? matrices : group, [0, 0, 1, 0, 0, 0x0F, 0xFF, 0xF8])
    }
}
