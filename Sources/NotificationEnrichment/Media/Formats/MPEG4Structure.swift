/// MPEG-4 (ISO/IEC 14496-12): the boxes at the top level follow each other to the end of the file, with a `moov` and an
/// `mdat` among them. A fragmented file that is cut between two fragments looks whole.
struct MPEG4Structure: MediaStructure {
    /// Bounds the work for a file of empty boxes.
    static let boxBound = 10_000

    private var boxes = 0
    /// Set while the 64-bit size of a box is read.
    private var largeBox: FourCC?
    private var hasMovie = false
    private var hasData = false

    var opening: MediaDemand { .fields(8) }

    mutating func read(_ fields: MediaFields) throws(MediaProblem) -> MediaDemand {
        if let tag = largeBox {
            largeBox = nil
            guard let size = Int64(exactly: fields.big64(0)), size >= 16 else {
                throw .malformed("MPEG-4: \(tag) has an impossible size")
            }
            return .fieldsOrEnd(8, after: size - 16)
        }
        let (size, tag) = (fields.big32(0), fields.tag(4))
        try note(tag)
        switch size {
        case 0: return .rest
        case 1:
            largeBox = tag
            return .fields(8)
        case 2..<8: throw .malformed("MPEG-4: \(tag) of \(size) bytes")
        default: return .fieldsOrEnd(8, after: Int64(size) - 8)
        }
    }

    func finish() throws(MediaProblem) -> MediaSize? {
        guard hasMovie, hasData else {
            throw MediaProblem(.truncated, "MPEG-4: no \(hasMovie ? "mdat" : "moov") before the end of the file")
        }
        return nil
    }

    private mutating func note(_ tag: FourCC) throws(MediaProblem) {
        boxes += 1
        guard boxes <= Self.boxBound else { throw .malformed("MPEG-4: more than \(Self.boxBound) boxes") }
        guard tag.isPrintable, (tag == "ftyp") == (boxes == 1) else {
            throw .malformed("MPEG-4: the box \(tag) does not belong here")
        }
        switch tag {
        case "moov":
            guard !hasMovie else { throw .malformed("MPEG-4: a second moov") }
            hasMovie = true
        case "mdat": hasData = true
        default: break
        }
    }
}
