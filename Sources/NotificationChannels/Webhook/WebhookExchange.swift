import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Synchronization

/// One request and its answer. It reports the answer once, as soon as the status is known: what comes after it has no
/// effect. Then it reads a bounded part of the body, so that the connection can be used again.
final class WebhookExchange: HTTPClientResponseDelegate {
    typealias Response = Void

    private struct Contents {
        var task: HTTPClient.Task<Void>?
        /// Answered or cancelled.
        var isOver = false
        var isCancelled = false
        var bytes = 0
    }

    /// The body is longer than the bound; it ends the connection.
    private struct LongAnswer: Error {}

    private let answerBytes: Int
    private let onAnswer: @Sendable (WebhookAnswer) -> Void
    private let contents = Mutex(Contents())

    /// - Parameters:
    ///   - answerBytes: the part of the body that is read.
    ///   - onAnswer: called once, unless `cancel` was called before.
    init(answerBytes: Int, onAnswer: @escaping @Sendable (WebhookAnswer) -> Void) {
        (self.answerBytes, self.onAnswer) = (answerBytes, onAnswer)
    }

    func begin(_ request: HTTPClient.Request, by deadline: NIODeadline, with client: HTTPClient) {
        let task = client.execute(request: request, delegate: self, deadline: deadline)
        let isCancelled = contents.withLock { contents in
            // It may be over already.
            if !contents.isOver { contents.task = task }
            return contents.isCancelled
        }
        if isCancelled { task.cancel() }
        // The client does not call the delegate for every failure.
        task.futureResult.whenComplete { result in
            if case .failure(let error) = result { self.end(.failure(error)) }
            self.contents.withLock { $0.task = nil }
        }
    }

    /// - Returns: false when the answer has been reported.
    func cancel() -> Bool {
        let (isFirst, task) = contents.withLock { contents in
            defer { contents.isOver = true }
            if !contents.isOver { contents.isCancelled = true }
            return (!contents.isOver, contents.task)
        }
        if isFirst { task?.cancel() }
        return isFirst
    }

    private func end(_ answer: WebhookAnswer) {
        let isFirst = contents.withLock { contents in
            defer { contents.isOver = true }
            return !contents.isOver
        }
        if isFirst { onAnswer(answer) }
    }

    // MARK: - Called on the event loop

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        end(.head(status: head.status.code, retryAfter: head.headers.first(name: "retry-after")))
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        let bytes = contents.withLock { contents in
            contents.bytes += buffer.readableBytes
            return contents.bytes
        }
        guard bytes <= answerBytes else { return task.eventLoop.makeFailedFuture(LongAnswer()) }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveError(task: HTTPClient.Task<Void>, _ error: any Error) { end(.failure(error)) }

    func didFinishRequest(task: HTTPClient.Task<Void>) {}
}
