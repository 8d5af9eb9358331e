/// Files of one outer chunk that contains all others: WAV and AVI (RIFF, little-endian) and AIFF (IFF, big-endian).
/// Each chunk has a tag and a length, and a byte of padding behind an odd number of bytes.
struct ChunkedStructure: MediaStructure {
    enum Form: Sendable {
        case wave, avi, aiff

        /// What describes the media, and what contains it. For AVI: the types of the lists.
        fileprivate var parts: (format: FourCC, media: FourCC) {
            switch self {
            case .wave: ("fmt ", "data")
            case .avi: ("hdrl", "movi")
            case .aiff: ("COMM", "SSND")
            }
        }

        /// The bytes of a chunk with media, before its first byte of media.
        fileprivate var mediaHeaderBytes: Int { self == .aiff ? 8 : 0 }
    }

    private enum State {
        case header
        case chunk
        /// The type of a list with so many further bytes, padding included.
        case list(bytes: Int)
    }

    private let form: Form
    private var state = State.header
    /// Bytes of the outer chunk that are still to come.
    private var left = 0
    private var hasFormat = false
    private var hasMedia = false

    init(_ form: Form) { self.form = form }

    var opening: MediaDemand { .fields(12) }

    mutating func read(_ fields: MediaFields) throws(MediaProblem) -> MediaDemand {
        switch state {
        case .header:
            left = number(fields) - 4
            guard left >= 0 else { throw .malformed("\(form): a file of \(number(fields)) bytes") }
            return try chunk(after: 0)
        case .chunk:
            left -= 8
            return try beginChunk(fields.tag(0), number(fields))
        case .list(let bytes):
            try note(fields.tag(0), isEmpty: bytes == 0)
            return try chunk(after: bytes)
        }
    }

    private func number(_ fields: MediaFields) -> Int { form == .aiff ? fields.big32(4) : fields.little32(4) }

    private mutating func beginChunk(_ tag: FourCC, _ length: Int) throws(MediaProblem) -> MediaDemand {
        guard length <= left else {
            throw .malformed("\(form): \(tag) of \(length) bytes, \(left) are left of the file's announced length")
        }
        // Some writers leave out the padding behind the last chunk.
        let padded = min(length + length & 1, left)
        left -= padded
        if form == .avi, tag == "LIST", length >= 4 {
            state = .list(bytes: padded - 4)
            return .fields(4)
        }
        if form != .avi { try note(tag, isEmpty: length <= form.mediaHeaderBytes) }
        return try chunk(after: padded)
    }

    private mutating func note(_ tag: FourCC, isEmpty: Bool) throws(MediaProblem) {
        let (format, media) = form.parts
        guard tag == format || tag == media else { return }
        guard !isEmpty else { throw .malformed("\(form): \(tag) is empty") }
        if tag == format {
            guard !hasFormat else { throw .malformed("\(form): a second \(tag)") }
            hasFormat = true
        } else {
            // AIFF alone has no rule for the order of both.
            guard !hasMedia, hasFormat || form == .aiff else {
                throw .malformed("\(form): \(tag) before \(format), or twice")
            }
            hasMedia = true
        }
    }

    private mutating func chunk(after gap: Int) throws(MediaProblem) -> MediaDemand {
        state = .chunk
        guard left > 0 else {
            guard hasFormat, hasMedia else {
                throw .malformed("\(form): no \(hasFormat ? form.parts.media : form.parts.format)")
            }
            return .end(after: Int64(gap))
        }
        guard left >= 8 else { throw .malformed("\(form): \(left) bytes behind the last chunk") }
        return .fields(8, after: Int64(gap))
    }
}
