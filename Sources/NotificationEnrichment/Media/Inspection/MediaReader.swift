/// Brings the bytes of a file to a structure, in the pieces that it asks for. It copies only fields that are split
/// between two chunks.
struct MediaReader: Sendable {
    /// How many zero bytes may follow the end of a file.
    ///
    /// Anything else after the end is refused: a file that is an image for one program and a ZIP archive or a web page
    /// for another passes filters that look at one of them. That refuses photos with a second image or a movie behind
    /// the first (MPF, Ultra HDR, motion photos) too; a server of attachments has no need to send these. Zeros are
    /// harmless, and cameras and block-wise writers leave them.
    static let paddingBytes = 64 << 10

    private var structure: any MediaStructure
    private var demand: MediaDemand
    /// The first bytes of the fields that the structure asked for.
    private var held: [UInt8] = []
    private var padding = 0

    init(_ structure: any MediaStructure) {
        self.structure = structure
        demand = structure.opening
        held.reserveCapacity(64)
    }

    mutating func consume(_ bytes: UnsafeRawBufferPointer) throws(MediaProblem) {
        var rest = bytes
        while !rest.isEmpty {
            let used = try take(rest)
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(used))
        }
    }

    /// The end of the file.
    func finish() throws(MediaProblem) -> MediaSize? {
        let mayEnd =
            switch demand.part {
            case .rest, .end: demand.gap == 0
            case .fieldsOrEnd: demand.gap == 0 && held.isEmpty
            case .fields, .search: false
            }
        guard mayEnd else {
            throw MediaProblem(.truncated, "the file ends in the middle of its structure; it did not arrive whole")
        }
        return try structure.finish()
    }

    /// Takes some of the bytes, at least one.
    private mutating func take(_ bytes: UnsafeRawBufferPointer) throws(MediaProblem) -> Int {
        if demand.gap > 0 {
            let part = UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(min(demand.gap, Int64(bytes.count)))))
            structure.pass(part)
            demand.gap -= Int64(part.count)
            return part.count
        }
        switch demand.part {
        case .fields(let count), .fieldsOrEnd(let count):
            return try takeFields(count, bytes)
        case .search:
            let (used, next) = try structure.search(bytes)
            if let next { demand = next }
            return used
        case .rest:
            return bytes.count
        case .end:
            padding += bytes.count
            guard padding <= Self.paddingBytes, bytes.allSatisfy({ $0 == 0 }) else {
                throw .malformed("bytes follow the end of the file; only \(Self.paddingBytes) zero bytes may")
            }
            return bytes.count
        }
    }

    private mutating func takeFields(_ count: Int, _ bytes: UnsafeRawBufferPointer) throws(MediaProblem) -> Int {
        if held.isEmpty, bytes.count >= count {
            demand = try structure.read(MediaFields(UnsafeRawBufferPointer(rebasing: bytes.prefix(count))))
            return count
        }
        let part = bytes.prefix(count - held.count)
        held.append(contentsOf: part)
        if held.count == count {
            // Moved out and back: `structure` and `held` cannot both be accessed through `self` in a closure.
            var fields: [UInt8] = []
            swap(&fields, &held)
            demand = try fields.withUnsafeBufferPointer { bytes throws(MediaProblem) in
                try structure.read(MediaFields(UnsafeRawBufferPointer(bytes)))
            }
            fields.removeAll(keepingCapacity: true)
            swap(&fields, &held)
        }
        return part.count
    }
}
