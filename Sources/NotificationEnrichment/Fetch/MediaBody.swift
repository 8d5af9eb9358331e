import OutboundHTTP
import NIOCore
import Synchronization

/// The bytes of one download on their way to the store: checked and written. Its calls block: only on a thread pool.
final class MediaBody: AnswerBody {
    struct Stored: Hashable, Sendable {
        var media: StoredMedia
        var facts: MediaFacts
    }

    private struct Contents {
        var inspector: MediaInspector
        /// Nil before the first bytes, and when the download has ended.
        var writer: MediaWriter?
        var isOver = false
    }

    private let store: MediaStore
    private let owner: MediaOwner
    private let freshness: HTTPFreshness
    private let neededUntil: Int64
    private let contents: Mutex<Contents>

    /// - Parameters:
    ///   - inspector: for these bytes.
    ///   - freshness: of the answer that has them.
    ///   - store: where they go.
    ///   - owner: for whom they are fetched.
    ///   - neededUntil: in milliseconds since 1970.
    init(
        _ inspector: MediaInspector,
        _ freshness: HTTPFreshness,
        store: MediaStore,
        for owner: MediaOwner,
        neededUntil: Int64
    ) {
        (self.freshness, self.store, self.owner, self.neededUntil) = (freshness, store, owner, neededUntil)
        contents = Mutex(Contents(inspector: inspector))
    }

    /// Checks and writes the next bytes.
    ///
    /// - Throws: what is wrong with them; then nothing remains of the download.
    func append(_ bytes: ByteBuffer) throws(OutboundFailure) {
        _ = try orClean { contents in try append(bytes, &contents) }
    }

    /// Checks and writes the last bytes, and stores the medium.
    ///
    /// - Throws: as `append`.
    func finish(_ bytes: ByteBuffer) throws(OutboundFailure) -> any OutboundAnswer {
        try orClean { contents in
            let writer = try append(bytes, &contents)
            let facts = try contents.inspector.finish()
            let media = try writer.finish(facts.type, neededUntil: neededUntil)
            (contents.writer, contents.isOver) = (nil, true)
            return FetchAnswer.media(Stored(media: media, facts: facts), freshness)
        }
    }

    /// Removes what was written, if the medium is not stored yet.
    func abandon() { contents.withLock { Self.clean(&$0) } }

    @discardableResult
    private func append(_ bytes: ByteBuffer, _ contents: inout Contents) throws -> MediaWriter {
        guard !contents.isOver else { throw OutboundFailure.cancelled }
        return try bytes.withUnsafeReadableBytes { bytes in
            // First, so that what is refused at once costs no file.
            try contents.inspector.consume(bytes)
            let writer = try contents.writer ?? store.write(for: owner)
            contents.writer = writer
            try writer.append(bytes)
            return writer
        }
    }

    private func orClean<Value>(_ body: (inout Contents) throws -> Value) throws(OutboundFailure) -> Value {
        try contents.withLock { contents throws(OutboundFailure) in
            do {
                return try body(&contents)
            } catch {
                Self.clean(&contents)
                throw OutboundFailure(ofBody: error)
            }
        }
    }

    private static func clean(_ contents: inout Contents) {
        contents.writer?.abandon()
        (contents.writer, contents.isOver) = (nil, true)
    }
}

extension OutboundFailure {
    fileprivate init(ofBody error: any Error) {
        switch error {
        case let problem as MediaProblem: self.init(problem)
        case let error as MediaStoreError: self.init(error)
        default: self = error as? OutboundFailure ?? .cancelled
        }
    }
}
