/// What the first bytes of a file say about its format.
enum MediaSignature: Sendable {
    /// More bytes are needed.
    case incomplete
    /// One of these types; the labels choose if there are several. The first is meant without labels.
    case types([MediaType], MediaFormat)
    /// No supported format, by its name for an operator.
    case unsupported(String)

    /// Enough for each format but MPEG elementary streams.
    private static let bytes = 12

    init(of head: MediaFields) {
        guard head.count >= Self.bytes else {
            self = .incomplete
            return
        }
        self =
            Self.container(head) ?? Self.image(head) ?? Self.stream(head)
            ?? .unsupported(Self.foreign.first { head.starts(with: $0.0) }?.1 ?? "of no known type")
    }

    private static func image(_ head: MediaFields) -> Self? {
        if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return .types([.png], .png) }
        if head.starts(with: [0xFF, 0xD8, 0xFF]) { return .types([.jpeg], .jpeg) }
        if head.starts(with: Array("GIF87a".utf8)) || head.starts(with: Array("GIF89a".utf8)) {
            return .types([.gif], .gif)
        }
        return nil
    }

    private static func container(_ head: MediaFields) -> Self? {
        switch (head.tag(0), head.tag(8)) {
        case ("RIFF", "WAVE"): return .types([.wav], .chunks(.wave))
        case ("RIFF", "AVI "): return .types([.avi], .chunks(.avi))
        case ("RIFF", let form): return .unsupported("RIFF of the type \(form)")
        case ("FORM", "AIFF"), ("FORM", "AIFC"): return .types([.aiff], .chunks(.aiff))
        case ("FORM", let form): return .unsupported("an IFF form of the type \(form)")
        case (_, let brand) where head.tag(4) == "ftyp": return mpeg4(brand)
        default: return nil
        }
    }

    /// The major brand decides (ISO/IEC 14496-12, 4.3; https://mp4ra.org). A general brand does not tell whether the
    /// file has a picture, so the labels do; without any it is a movie. QuickTime, 3GPP, HEIC and AVIF are not
    /// supported.
    private static func mpeg4(_ brand: FourCC) -> Self {
        switch brand {
        case "M4A ", "M4B ": .types([.mpeg4Audio], .mpeg4)
        case "M4V ", "M4VH", "M4VP", "MSNV", "f4v ", "XAVC": .types([.mpeg4], .mpeg4)
        case "isom", "iso2", "iso3", "iso4", "iso5", "iso6", "iso7", "iso8", "iso9", "mp41", "mp42", "mp71", "avc1",
            "dash", "msdh", "mmp4":
            .types([.mpeg4, .mpeg4Audio], .mpeg4)
        default: .unsupported("an ISO media file of the brand \(brand)")
        }
    }

    private static func stream(_ head: MediaFields) -> Self? {
        switch head.big32(0) {
        case 0x0000_01BA where head.byte(4) >> 4 == 0b0010: .types([.mpeg], .programStream)
        case 0x0000_01BA where head.byte(4) >> 6 == 0b01: .types([.mpeg2], .programStream)
        case 0x0000_01B3: elementaryStream(head)
        case 0x4944_3300...0x4944_33FF: .types([.mp3], .mp3)
        case let word where MP3FrameHeader(word) != nil: .types([.mp3], .mp3)
        default: nil
        }
    }

    /// A sequence extension follows the sequence header in MPEG-2 only (ISO/IEC 13818-2, 6.1.1.6).
    private static func elementaryStream(_ head: MediaFields) -> Self {
        let length = MPEGVideoStructure.sequenceHeaderBytes(head)
        guard head.count >= length + 4 else { return .incomplete }
        return .types([head.big32(length) == 0x0000_01B5 ? .mpeg2 : .mpeg], .videoStream)
    }

    /// Formats that are often served in place of media.
    private static let foreign: [([UInt8], String)] = [
        (Array("<".utf8), "HTML, XML or SVG"), (Array("{".utf8), "JSON"), (Array("%PDF".utf8), "PDF"),
        (Array("PK".utf8), "a ZIP archive"), ([0x7F] + Array("ELF".utf8), "an ELF program"),
        (Array("#!".utf8), "a script"), (Array("MZ".utf8), "a Windows program"), (Array("BM".utf8), "BMP"),
        (Array("OggS".utf8), "Ogg"), (Array("fLaC".utf8), "FLAC"), ([0x1A, 0x45, 0xDF, 0xA3], "Matroska or WebM"),
        (Array("II*\0".utf8), "TIFF"), (Array("MM\0*".utf8), "TIFF"), ([0x1F, 0x8B], "gzip"),
        ([0, 0, 1, 0], "an icon"), ([0xFF, 0x0A], "JPEG XL"), ([0xFF, 0xF1], "AAC"), ([0xFF, 0xF9], "AAC"),
        (Array("FLV".utf8), "Flash video"), ([0x30, 0x26, 0xB2, 0x75], "Windows Media"),
    ]
}

/// The formats that have a structure of their own.
enum MediaFormat: Sendable {
    case png, jpeg, gif, mpeg4, mp3, programStream, videoStream
    case chunks(ChunkedStructure.Form)

    func structure(_ limits: MediaLimits) -> any MediaStructure {
        switch self {
        case .png: PNGStructure(limits)
        case .jpeg: JPEGStructure(limits)
        case .gif: GIFStructure(limits)
        case .mpeg4: MPEG4Structure()
        case .mp3: MP3Structure()
        case .programStream: MPEGProgramStructure()
        case .videoStream: MPEGVideoStructure()
        case .chunks(let form): ChunkedStructure(form)
        }
    }
}
