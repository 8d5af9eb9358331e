/// How a format is built: a state machine that asks for bytes and judges them. `MediaReader` brings the bytes.
protocol MediaStructure: Sendable {
    /// What it needs at the start of the file.
    var opening: MediaDemand { get }

    /// Takes the fields that it asked for.
    ///
    /// - Returns: what it needs next.
    mutating func read(_ fields: MediaFields) throws(MediaProblem) -> MediaDemand

    /// Takes a part of the bytes before the fields that it asked for.
    mutating func pass(_ bytes: UnsafeRawBufferPointer)

    /// Searches the next bytes; called while its demand is `search`.
    ///
    /// - Returns: how many of them are done with, and what it needs next; nil to go on searching.
    mutating func search(_ bytes: UnsafeRawBufferPointer) throws(MediaProblem) -> (used: Int, next: MediaDemand?)

    /// Judges the file as a whole; called when it ended where it may end.
    ///
    /// - Returns: the size of an image.
    func finish() throws(MediaProblem) -> MediaSize?
}

extension MediaStructure {
    mutating func pass(_ bytes: UnsafeRawBufferPointer) {}

    mutating func search(_ bytes: UnsafeRawBufferPointer) -> (used: Int, next: MediaDemand?) { (bytes.count, nil) }

    func finish() throws(MediaProblem) -> MediaSize? { nil }
}

/// What a structure needs next, after a gap of bytes that only pass by.
struct MediaDemand: Sendable {
    enum Part: Sendable {
        /// Exactly this many bytes at once, at most 64.
        case fields(Int)
        /// The same, or the end of the file.
        case fieldsOrEnd(Int)
        /// A place that only a search can find.
        case search
        /// Any bytes, to the end of the file.
        case rest
        /// The end of the file, or of what counts of it.
        case end
    }

    var gap: Int64 = 0
    var part: Part

    static func fields(_ count: Int, after gap: Int64 = 0) -> Self { Self(gap: gap, part: .fields(count)) }
    static func fieldsOrEnd(_ count: Int, after gap: Int64) -> Self { Self(gap: gap, part: .fieldsOrEnd(count)) }
    static func end(after gap: Int64 = 0) -> Self { Self(gap: gap, part: .end) }
    static let search = Self(part: .search)
    static let rest = Self(part: .rest)
}
