/// What an inspection found out about a whole file.
package struct MediaFacts: Hashable, Sendable {
    package var type: MediaType
    package var bytes: Int64
    /// Of an image, in pixels; nil for audio and movies.
    package var width: Int?
    package var height: Int?

    package init(type: MediaType, bytes: Int64, width: Int? = nil, height: Int? = nil) {
        (self.type, self.bytes, self.width, self.height) = (type, bytes, width, height)
    }
}

/// Checks a file while it arrives: type, size, and whether it is whole. It keeps at most a few hundred bytes of it.
///
/// 1. The first bytes decide the type (`MediaSignature`); the labels must agree with it.
/// 2. A `MediaStructure` walks through the rest without decoding it. An image is checked from its first byte to its
///    last, WAV, AIFF, AVI and MPEG-4 as far as the sizes of their parts go. MP3 and MPEG have no end that could be
///    checked: their first frames are.
/// 3. After the first problem each call throws it again.
package struct MediaInspector: Sendable {
    /// Enough for each signature; the longest is the sequence header of an MPEG video with 144 bytes.
    private static let headBytes = 256

    private let expectation: MediaExpectation
    private let limits: MediaLimits
    private var bytes: Int64 = 0
    /// The bytes so far while they do not decide the type.
    private var head: [UInt8] = []
    private var reader: MediaReader?
    private var problem: MediaProblem?

    /// The type of the bytes, once they decide it and the labels agree.
    package private(set) var type: MediaType?

    /// - Parameters:
    ///   - expectation: what the labels say; judged when the bytes have decided the type.
    ///   - limits: how large the file may be.
    package init(_ expectation: MediaExpectation, _ limits: MediaLimits) {
        (self.expectation, self.limits) = (expectation, limits)
    }

    /// Takes the next bytes, any number of them.
    ///
    /// - Throws: why they make the file unacceptable, as soon as that is certain.
    package mutating func consume(_ bytes: UnsafeRawBufferPointer) throws(MediaProblem) {
        try remember { inspector throws(MediaProblem) in try inspector.take(bytes) }
    }

    /// The end of the file.
    ///
    /// - Throws: `truncated` if the file is not whole, and any problem of an earlier call.
    package mutating func finish() throws(MediaProblem) -> MediaFacts {
        try remember { inspector throws(MediaProblem) in
            guard let reader = inspector.reader, let type = inspector.type else {
                throw MediaProblem(.truncated, "\(inspector.bytes) bytes do not tell a type")
            }
            let size = try reader.finish()
            return MediaFacts(type: type, bytes: inspector.bytes, width: size?.width, height: size?.height)
        }
    }

    private mutating func remember<T>(_ step: (inout Self) throws(MediaProblem) -> T) throws(MediaProblem) -> T {
        if let problem { throw problem }
        do throws(MediaProblem) {
            return try step(&self)
        } catch {
            problem = error
            throw error
        }
    }

    private mutating func take(_ chunk: UnsafeRawBufferPointer) throws(MediaProblem) {
        bytes += Int64(chunk.count)
        try checkBytes()
        if reader != nil {
            try reader?.consume(chunk)
            return
        }
        let needed = chunk.prefix(Self.headBytes - head.count)
        head.append(contentsOf: needed)
        guard let (type, structure) = try identify() else { return }
        self.type = type
        try checkBytes()
        var reader = MediaReader(structure)
        try head.withUnsafeBufferPointer { head throws(MediaProblem) in
            try reader.consume(UnsafeRawBufferPointer(head))
        }
        head = []
        try reader.consume(UnsafeRawBufferPointer(rebasing: chunk[needed.endIndex...]))
        self.reader = reader
    }

    /// nil while more bytes are needed.
    private func identify() throws(MediaProblem) -> (MediaType, any MediaStructure)? {
        let signature = head.withUnsafeBufferPointer { MediaSignature(of: MediaFields(UnsafeRawBufferPointer($0))) }
        switch signature {
        case .incomplete:
            return nil
        case .unsupported(let name):
            throw MediaProblem(.unsupportedType, "the bytes are \(name)")
        case .types(let types, let format):
            return (try expectation.choose(among: types), format.structure(limits))
        }
    }

    private func checkBytes() throws(MediaProblem) {
        let bound = type.map { limits.bytes(of: $0.kind) } ?? limits.largestBytes
        guard bytes <= bound else {
            throw MediaProblem(.tooLarge, "at least \(bytes) bytes, at most \(bound) are allowed")
        }
    }
}
