import OutboundHTTP
import Testing

@testable import NotificationEnrichment

/// A small whole file, and what an inspection should say about it.
struct MediaSample: CustomTestStringConvertible, Sendable {
    let name: String
    let bytes: [UInt8]
    let type: MediaType
    var size: MediaSize?
    /// Shorter prefixes are refused. The formats without an end may be cut behind it.
    var wholeFrom: Int

    var testDescription: String { name }

    init(_ name: String, _ bytes: [UInt8], _ type: MediaType, _ size: MediaSize? = nil, wholeFrom: Int? = nil) {
        (self.name, self.bytes, self.type, self.size) = (name, bytes, type, size)
        self.wholeFrom = wholeFrom ?? bytes.count
    }

    static let all: [Self] = [
        Self("PNG", .png(), .png, MediaSize(width: 2, height: 2)),
        Self("APNG", .animatedPNG(frames: 3), .png, MediaSize(width: 2, height: 2)),
        Self("GIF", .gif(), .gif, MediaSize(width: 3, height: 2)),
        Self("animated GIF", .gif(frames: 4), .gif, MediaSize(width: 3, height: 2)),
        Self("JPEG", .jpeg(), .jpeg, MediaSize(width: 8, height: 8)),
        Self(
            "JPEG with restarts",
            .jpeg(data: [0x3F, 0xFF, 0xD0, 0xFF, 0x00, 0x3F]),
            .jpeg,
            MediaSize(width: 8, height: 8)
        ),
        Self("WAV", .wav(), .wav),
        Self("AIFF", .aiff(), .aiff),
        Self("AVI", .avi(), .avi),
        Self("MPEG-4", .mpeg4(), .mpeg4),
        Self("MPEG-4 audio", .mpeg4(brand: "M4A "), .mpeg4Audio),
        Self("MP3", .mp3(frames: 5), .mp3, wholeFrom: 3 * 104),
        Self("MP3 with tag", .id3(bytes: 200) + .mp3(frames: 3), .mp3),
        Self("MPEG-1 program", .programStream(isMPEG2: false), .mpeg, wholeFrom: 4 + 8 + 6 + 30 + 4),
        Self("MPEG-2 program", .programStream(isMPEG2: true), .mpeg2, wholeFrom: 4 + 10 + 3 + 6 + 30 + 4),
        Self("MPEG-1 video", .videoStream(isMPEG2: false), .mpeg, wholeFrom: 12 + 8 + 4),
        Self("MPEG-2 video", .videoStream(isMPEG2: true), .mpeg2, wholeFrom: 12 + 128 + 10 + 4),
    ]

    static let images = all.filter { $0.type.kind == .image }
}

/// Inspects a file that arrives in chunks of this size; 0 for all at once.
func inspect(
    _ bytes: [UInt8],
    chunk: Int = 0,
    _ expectation: MediaExpectation = MediaExpectation(),
    _ limits: MediaLimits = MediaLimits()
) -> Result<MediaFacts, MediaProblem> {
    var inspector = MediaInspector(expectation, limits)
    return Result { () throws(MediaProblem) in
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(chunk == 0 ? rest.count : chunk))
            rest = rest.dropFirst(part.count)
            try part.withUnsafeBufferPointer { part throws(MediaProblem) in
                try inspector.consume(UnsafeRawBufferPointer(part))
            }
        }
        return try inspector.finish()
    }
}

/// Why a file is refused; nil if it is not.
func refusal(
    _ bytes: [UInt8],
    chunk: Int = 0,
    _ expectation: MediaExpectation = MediaExpectation(),
    _ limits: MediaLimits = MediaLimits()
) -> MediaProblem.Code? {
    switch inspect(bytes, chunk: chunk, expectation, limits) {
    case .success: nil
    case .failure(let problem): problem.code
    }
}

// MARK: - Building files

/// Also spares the compiler long chains of `+` with literals.
func join(_ parts: [UInt8]...) -> [UInt8] { [UInt8](parts.joined()) }

func times(_ count: Int, _ part: [UInt8]) -> [UInt8] { [UInt8](repeatElement(part, count: max(0, count)).joined()) }

func big(_ value: Int, _ bytes: Int) -> [UInt8] {
    (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
}

func little(_ value: Int, _ bytes: Int) -> [UInt8] { big(value, bytes).reversed() }

func tag(_ text: String) -> [UInt8] { [UInt8](text.utf8) }
