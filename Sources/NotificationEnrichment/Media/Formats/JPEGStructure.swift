#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// JPEG (ITU-T T.81), baseline, extended and progressive, Huffman-coded with 8 bits a sample: what devices decode. The
/// segments, the frame and the scans are checked; the entropy-coded data is searched for its end, not decoded.
struct JPEGStructure: MediaStructure {
    /// A progressive file with very many scans takes a decoder minutes; encoders write about ten.
    static let scanBound = 100

    private enum State {
        case start
        case marker
        /// The code of a marker after a fill byte.
        case markerCode
        case length(code: UInt8)
        case frame(length: Int)
        case frameComponents
        case scan(length: Int)
        case scanComponents
    }

    private let limits: MediaLimits
    private var state = State.start
    private var size: MediaSize?
    /// The identifiers of the components, and those that no scan has had yet.
    private var components: [UInt8] = []
    private var awaited: Set<UInt8> = []
    private var hasQuantization = false
    private var hasHuffman = false
    private var scans = 0
    /// In a scan: whether the byte before was 0xFF, and whether there was data.
    private var isAfterFF = false
    private var hasData = false

    init(_ limits: MediaLimits) { self.limits = limits }

    var opening: MediaDemand { .fields(2) }

    mutating func read(_ fields: MediaFields) throws(MediaProblem) -> MediaDemand {
        switch state {
        case .start: return marker(after: 0)
        case .marker:
            guard fields.byte(0) == 0xFF else { throw .malformed("JPEG: no marker where a segment ends") }
            return try take(code: fields.byte(1))
        case .markerCode: return try take(code: fields.byte(0))
        case .length(let code): return try beginSegment(code, length: fields.big16(0))
        case .frame(let length): return try readFrame(fields, length)
        case .frameComponents: return try readFrameComponents(fields)
        case .scan(let length): return try readScan(fields, length)
        case .scanComponents: return try readScanComponents(fields)
        }
    }

    /// Finds the marker after entropy-coded data, in which 0xFF is followed by 0 or is a restart marker (B.1.1.5).
    mutating func search(_ bytes: UnsafeRawBufferPointer) throws(MediaProblem) -> (used: Int, next: MediaDemand?) {
        guard let base = bytes.baseAddress else { return (0, nil) }
        var offset = 0
        while offset < bytes.count {
            if isAfterFF {
                let code = bytes[offset]
                offset += 1
                if code == 0xFF { continue }
                isAfterFF = false
                if code == 0 { hasData = true }
                guard code == 0 || (0xD0...0xD7).contains(code) else {
                    guard hasData else { throw .malformed("JPEG: scan \(scans) is empty") }
                    return (offset, try take(code: code))
                }
            } else if let found = memchr(base + offset, 0xFF, bytes.count - offset) {
                let end = base.distance(to: UnsafeRawPointer(found))
                if end > offset { hasData = true }
                (offset, isAfterFF) = (end + 1, true)
            } else {
                hasData = true
                break
            }
        }
        return (bytes.count, nil)
    }

    func finish() throws(MediaProblem) -> MediaSize? { size }

    private mutating func marker(after gap: Int) -> MediaDemand {
        state = .marker
        return .fields(2, after: Int64(gap))
    }

    private mutating func take(code: UInt8) throws(MediaProblem) -> MediaDemand {
        switch code {
        case 0xFF:
            state = .markerCode
            return .fields(1)
        case 0xD9:
            guard scans > 0, awaited.isEmpty else { throw .malformed("JPEG: it ends before each component had a scan") }
            return .end()
        case 0xC0...0xC2, 0xC4, 0xDA, 0xDB, 0xDD, 0xE0...0xEF, 0xFE:
            state = .length(code: code)
            return .fields(2)
        case 0xC3, 0xC5...0xCF, 0xDC, 0xDE, 0xDF:
            throw MediaProblem(
                .unsupportedType,
                "JPEG: marker 0x\(String(code, radix: 16)) of a lossless, arithmetic, hierarchical or open-ended file"
            )
        default:
            throw .malformed("JPEG: marker 0x\(String(code, radix: 16)) does not belong here")
        }
    }

    /// - Parameters:
    ///   - code: of the segment's marker.
    ///   - length: of the segment with these two bytes of length.
    private mutating func beginSegment(_ code: UInt8, length: Int) throws(MediaProblem) -> MediaDemand {
        switch code {
        case 0xC0...0xC2:
            guard size == nil, length >= 11 else { throw .malformed("JPEG: a second frame, or a short header of one") }
            state = .frame(length: length)
            return .fields(6)
        case 0xDA:
            guard size != nil, hasQuantization, hasHuffman else {
                throw .malformed("JPEG: a scan before the frame or the tables that it needs")
            }
            scans += 1
            guard scans <= Self.scanBound else {
                throw MediaProblem(.dimensions, "JPEG: more than \(Self.scanBound) scans")
            }
            state = .scan(length: length)
            return .fields(1)
        default:
            guard length >= 2 else { throw .malformed("JPEG: a segment of \(length) bytes") }
            if code == 0xDB { hasQuantization = true }
            if code == 0xC4 { hasHuffman = true }
            return marker(after: length - 2)
        }
    }

    private mutating func readFrame(_ fields: MediaFields, _ length: Int) throws(MediaProblem) -> MediaDemand {
        let (precision, count) = (fields.byte(0), Int(fields.byte(5)))
        let size = MediaSize(width: fields.big16(3), height: fields.big16(1))
        guard precision == 8, size.height > 0 else {
            // A height of 0 is told after the first scan (DNL), too late to allocate memory by it.
            throw MediaProblem(.unsupportedType, "JPEG: \(precision) bits a sample, or no height in the frame header")
        }
        guard (1...4).contains(count), length == 8 + 3 * count else {
            throw .malformed("JPEG: a frame header of \(length) bytes for \(count) components")
        }
        try limits.check(size)
        self.size = size
        state = .frameComponents
        return .fields(3 * count)
    }

    private mutating func readFrameComponents(_ fields: MediaFields) throws(MediaProblem) -> MediaDemand {
        for offset in stride(from: 0, to: fields.count, by: 3) {
            let sampling = fields.byte(offset + 1)
            guard (1...4).contains(sampling >> 4), (1...4).contains(sampling & 15), fields.byte(offset + 2) <= 3 else {
                throw .malformed("JPEG: a component with sampling factors or a table that do not exist")
            }
            components.append(fields.byte(offset))
        }
        awaited = Set(components)
        return marker(after: 0)
    }

    private mutating func readScan(_ fields: MediaFields, _ length: Int) throws(MediaProblem) -> MediaDemand {
        let count = Int(fields.byte(0))
        guard (1...4).contains(count), count <= components.count, length == 6 + 2 * count else {
            throw .malformed("JPEG: a scan header of \(length) bytes for \(count) components")
        }
        state = .scanComponents
        return .fields(2 * count + 3)
    }

    private mutating func readScanComponents(_ fields: MediaFields) throws(MediaProblem) -> MediaDemand {
        let spectrum = fields.count - 3
        for offset in stride(from: 0, to: spectrum, by: 2) {
            guard components.contains(fields.byte(offset)) else {
                throw .malformed("JPEG: a scan of a component that the frame has not")
            }
            awaited.remove(fields.byte(offset))
        }
        guard fields.byte(spectrum) <= fields.byte(spectrum + 1), fields.byte(spectrum + 1) <= 63 else {
            throw .malformed("JPEG: a scan of coefficients that do not exist")
        }
        (isAfterFF, hasData) = (false, false)
        return .search
    }
}
