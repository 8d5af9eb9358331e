import NIOCore
import NIOHTTP1
import ServiceHTTP
import Synchronization

/// One request and its answer, which is reported once.
final class WebhookExchange: Sendable {
    private struct Contents {
        /// Answered or cancelled.
        var isOver = false
        /// That has the request.
        var connection: WebhookConnection?
    }

    let head: HTTPRequestHead
    let body: ByteBuffer
    /// When it has failed without an answer.
    let deadline: NIODeadline
    private let onAnswer: @Sendable (WebhookAnswer) -> Void
    private let contents = Mutex(Contents())

    /// - Parameter onAnswer: called once, unless `cancel` was called before.
    init(
        _ request: WebhookRequest,
        by deadline: NIODeadline,
        onAnswer: @escaping @Sendable (WebhookAnswer) -> Void
    ) {
        (head, body, self.deadline, self.onAnswer) = (request.head, request.body, deadline, onAnswer)
    }

    var isOver: Bool { contents.withLock { $0.isOver } }

    /// - Returns: false when it is over, and must not be sent.
    func begin(on connection: WebhookConnection) -> Bool {
        contents.withLock { contents in
            if !contents.isOver { contents.connection = connection }
            return !contents.isOver
        }
    }

    func end(status: UInt, retryAfter: String?) {
        end(.head(status: status, retryAfter: retryAfter))
    }

    /// - Parameter isSent: whether the request, or a part of it, was sent.
    func fail(_ kind: WebhookAnswer.Kind, isSent: Bool = false) {
        end(.failure(kind, isSent: isSent))
    }

    func refuse(_ refusal: EgressRefusal) { end(.refusedAddress(refusal)) }

    private func end(_ answer: WebhookAnswer) {
        let isFirst = contents.withLock { contents in
            defer { (contents.isOver, contents.connection) = (true, nil) }
            return !contents.isOver
        }
        if isFirst { onAnswer(answer) }
    }

    /// - Returns: false when the answer has been reported.
    func cancel() -> Bool {
        let (isFirst, connection) = contents.withLock { contents in
            defer { (contents.isOver, contents.connection) = (true, nil) }
            return (!contents.isOver, contents.connection)
        }
        connection?.abandon(self)
        return isFirst
    }
}
