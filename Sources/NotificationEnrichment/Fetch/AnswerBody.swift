import NIOCore
import Synchronization

/// What takes the body of an answer. A connection calls it on a thread, one call at a time.
protocol AnswerBody: Sendable {
    /// Takes the next bytes.
    ///
    /// - Throws: What is wrong with them; then nothing remains of the body.
    func append(_ bytes: ByteBuffer) throws(FetchFailure)

    /// Takes the last bytes.
    ///
    /// - Returns: The whole answer.
    /// - Throws: As `append`.
    func finish(_ bytes: ByteBuffer) throws(FetchFailure) -> FetchAnswer

    /// The rest does not come.
    func abandon()
}

/// Keeps a body in memory, up to a bound.
final class CollectedBody: AnswerBody {
    private let status: Int
    private let bound: Int
    private let collected = Mutex<[UInt8]>([])

    /// - Parameters:
    ///   - status: Of the answer.
    ///   - bound: The most bytes; more are `too-large`.
    init(status: Int, bound: Int) { (self.status, self.bound) = (status, bound) }

    func append(_ bytes: ByteBuffer) throws(FetchFailure) {
        try collected.withLock { collected throws(FetchFailure) in
            guard bytes.readableBytes <= bound - collected.count else { throw .tooLarge("more than \(bound) bytes") }
            collected += bytes.readableBytesView
        }
    }

    func finish(_ bytes: ByteBuffer) throws(FetchFailure) -> FetchAnswer {
        try append(bytes)
        return .collected(status: status, body: collected.withLock { $0 })
    }

    func abandon() { collected.withLock { $0 = [] } }
}
