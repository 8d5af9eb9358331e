/// MPEG audio of layer III: tags (https://id3.org), then frames. The format has no end; after three frames that follow
/// each other, any bytes may come.
struct MP3Structure: MediaStructure {
    private static let framesToCheck = 3
    private static let tagBound = 8

    private enum State {
        case start
        /// The rest of the header of an ID3v2 tag.
        case tag
    }

    private var state = State.start
    private var tags = 0
    private var frames = 0
    private var first: MP3FrameHeader?

    var opening: MediaDemand { .fields(4) }

    mutating func read(_ fields: MediaFields) throws(MediaProblem) -> MediaDemand {
        switch state {
        case .start where first == nil && fields.big32(0) >> 8 == 0x494433:
            tags += 1
            guard tags <= Self.tagBound else { throw .malformed("MP3: more than \(Self.tagBound) ID3 tags") }
            state = .tag
            return .fields(6)
        case .start:
            return try takeFrame(fields.big32(0))
        case .tag:
            state = .start
            // 28 bits of size, seven in each byte; a footer repeats the header (ID3v2.4, 3.1 and 3.4).
            let size = (2..<6).map { Int64(fields.byte($0)) }
            guard size.allSatisfy({ $0 < 0x80 }) else { throw .malformed("MP3: the size of the ID3 tag is wrong") }
            let footer: Int64 = fields.byte(1) & 0x10 == 0 ? 0 : 10
            return .fields(4, after: size.reduce(0) { $0 << 7 | $1 } + footer)
        }
    }

    private mutating func takeFrame(_ word: Int) throws(MediaProblem) -> MediaDemand {
        guard let header = MP3FrameHeader(word), header.follows(first) else {
            throw .malformed("MP3: no frame of layer III where frame \(frames + 1) begins")
        }
        first = first ?? header
        frames += 1
        let rest = Int64(header.frameBytes - 4)
        return frames < Self.framesToCheck ? .fields(4, after: rest) : MediaDemand(gap: rest, part: .rest)
    }
}

/// The first four bytes of a frame of layer III (ISO/IEC 11172-3, 2.4.2.3; ISO/IEC 13818-3 for MPEG-2; 2.5 is an
/// extension of it by Fraunhofer).
struct MP3FrameHeader: Sendable {
    /// 0 for MPEG-2.5, 2 for MPEG-2, 3 for MPEG-1.
    private let version: Int
    private let rate: Int
    /// With the header; at least 24.
    let frameBytes: Int

    private static let rates = [44_100, 48_000, 32_000]
    private static let kilobits = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
    private static let kilobitsMPEG2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]

    /// nil for anything else, also for frames of "free format", which do not tell their size.
    init?(_ word: Int) {
        let (bitrate, rateIndex) = (word >> 12 & 15, word >> 10 & 3)
        version = word >> 19 & 3
        guard word >> 21 & 0x7FF == 0x7FF, version != 1, word >> 17 & 3 == 1, (1...14).contains(bitrate), rateIndex < 3
        else { return nil }
        let isMPEG1 = version == 3
        rate = Self.rates[rateIndex] >> (isMPEG1 ? 0 : version == 2 ? 1 : 2)
        let bits = (isMPEG1 ? Self.kilobits : Self.kilobitsMPEG2)[bitrate] * 1000
        frameBytes = (isMPEG1 ? 144 : 72) * bits / rate + (word >> 9 & 1)
    }

    /// Whether it may belong to the same stream as an earlier frame: the bit rate may vary, nothing else.
    func follows(_ earlier: Self?) -> Bool { earlier.map { $0.version == version && $0.rate == rate } ?? true }
}
