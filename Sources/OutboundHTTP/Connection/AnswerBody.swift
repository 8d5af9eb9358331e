package import NIOCore
import Synchronization

/// The result of a request; each kind of request has its own.
package protocol OutboundAnswer: Sendable {}

/// What takes the body of an answer. A connection calls it on a thread, one call at a time.
package protocol AnswerBody: Sendable {
    /// Takes the next bytes.
    ///
    /// - Throws: What is wrong with them; then nothing remains of the body.
    func append(_ bytes: ByteBuffer) throws(OutboundFailure)

    /// Takes the last bytes.
    ///
    /// - Returns: The whole answer.
    /// - Throws: As `append`.
    func finish(_ bytes: ByteBuffer) throws(OutboundFailure) -> any OutboundAnswer

    /// The rest does not come.
    func abandon()
}

/// A status and the body, or none if that is of no interest.
package struct CollectedAnswer: OutboundAnswer, Hashable {
    package var status: Int
    package var body: [UInt8]

    package init(status: Int, body: [UInt8] = []) { (self.status, self.body) = (status, body) }
}

/// Keeps a body in memory, up to a bound.
package final class CollectedBody: AnswerBody {
    private let status: Int
    private let bound: Int
    private let collected = Mutex<[UInt8]>([])

    /// - Parameters:
    ///   - status: Of the answer.
    ///   - bound: The most bytes; more are `too-large`.
    package init(status: Int, bound: Int) { (self.status, self.bound) = (status, bound) }

    package func append(_ bytes: ByteBuffer) throws(OutboundFailure) {
        try collected.withLock { collected throws(OutboundFailure) in
            guard bytes.readableBytes <= bound - collected.count else {
                throw OutboundFailure(.tooLarge, "more than \(bound) bytes")
            }
            collected += bytes.readableBytesView
        }
    }

    package func finish(_ bytes: ByteBuffer) throws(OutboundFailure) -> any OutboundAnswer {
        try append(bytes)
        return CollectedAnswer(status: status, body: collected.withLock { $0 })
    }

    package func abandon() { collected.withLock { $0 = [] } }
}
