package import NIOCore
package import NIOHTTP1
import Synchronization

/// One request to one server and its answer, which is reported once.
package final class OutboundExchange: Sendable {
    private struct Contents {
        var isOver = false
        var onEnd: (@Sendable (Result<any OutboundAnswer, OutboundFailure>) -> Void)?
        /// That has the request.
        var connection: OutboundConnection?
        var needsNewConnection = false
    }

    let url: EgressURL
    /// That the policy allows, of which the connection has one; nil: the client looks them up for a new connection.
    let addresses: [IPAddress]?
    /// On whose behalf: applications share the connections.
    let application: String
    let head: HTTPRequestHead
    /// Nil for a request without one.
    let body: ByteBuffer?
    /// When it fails without an answer.
    let deadline: NIODeadline
    /// Whether it is sent once more when an idle connection was lost before its answer.
    let isRepeated: Bool
    let observer: (any ExchangeObserver)?
    /// What to do with the answer that begins like this.
    let judge: @Sendable (HTTPResponseHead) -> AnswerPlan
    private let contents = Mutex(Contents())

    /// - Parameters:
    ///   - head: Of the request, with all its fields.
    ///   - url: That the policy allows.
    ///   - addresses: That the policy allows; nil when the client is to look them up.
    ///   - application: On whose behalf.
    ///   - body: Its length is among the fields.
    ///   - deadline: When it fails without an answer.
    ///   - isRepeated: Whether it is sent once more when an idle connection was lost before its answer.
    ///   - observer: Follows it.
    ///   - judge: Decides by the head what to do with the answer.
    package init(
        _ head: HTTPRequestHead,
        to url: EgressURL,
        at addresses: [IPAddress]?,
        for application: String = "",
        body: ByteBuffer? = nil,
        by deadline: NIODeadline = .distantFuture,
        isRepeated: Bool = true,
        observer: (any ExchangeObserver)? = nil,
        judge: @escaping @Sendable (HTTPResponseHead) -> AnswerPlan
    ) {
        (self.url, self.addresses, self.application, self.head, self.body) = (url, addresses, application, head, body)
        (self.deadline, self.isRepeated, self.observer, self.judge) = (deadline, isRepeated, observer, judge)
    }

    /// The head of a request for a medium or to an enricher.
    package static func head(_ method: HTTPMethod, _ url: EgressURL, _ fields: [(String, String)]) -> HTTPRequestHead {
        let common = [
            ("host", url.hostHeader), ("accept", "*/*"), ("accept-encoding", "identity"), ("user-agent", "Carillon"),
            ("connection", "keep-alive"),
        ]
        return HTTPRequestHead(
            version: .http1_1,
            method: method,
            uri: url.target,
            headers: HTTPHeaders(common + fields)
        )
    }

    /// Sends the request without waiting.
    ///
    /// - Parameters:
    ///   - connections: Send it.
    ///   - onEnd: Called once from any thread, unless `cancel` was called before.
    package func begin(
        by connections: OutboundConnections,
        onEnd: @escaping @Sendable (Result<any OutboundAnswer, OutboundFailure>) -> Void
    ) {
        contents.withLock { if !$0.isOver { $0.onEnd = onEnd } }
        connections.begin(self)
    }

    /// Sends the request and waits for the answer; a cancellation closes the connection.
    package func answer<Answer: OutboundAnswer>(
        _ type: Answer.Type = Answer.self,
        by connections: OutboundConnections
    ) async throws(OutboundFailure) -> Answer {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = contents.withLock { contents in
                    if !contents.isOver { contents.onEnd = { continuation.resume(returning: $0) } }
                    return contents.isOver
                }
                if isOver { continuation.resume(returning: .failure(.cancelled)) } else { connections.begin(self) }
            }
        } onCancel: {
            release(end(.failure(.cancelled)), connections)
        }
        guard let answer = try result.get() as? Answer else {
            throw OutboundFailure(.invalidResponse, "\(url.host): another kind of answer")
        }
        return answer
    }

    /// Ends the request without a report, and its connection.
    ///
    /// - Returns: false when it has ended before.
    package func cancel(by connections: OutboundConnections) -> Bool {
        let (isFirst, connection) = contents.withLock { contents in
            defer { (contents.isOver, contents.onEnd, contents.connection) = (true, nil, nil) }
            return (!contents.isOver, contents.connection)
        }
        if isFirst { release(connection, connections) }
        return isFirst
    }

    private func release(_ connection: OutboundConnection?, _ connections: OutboundConnections) {
        if let connection { connection.abandon(self) } else { connections.leave(self) }
    }

    package var isOver: Bool { contents.withLock { $0.isOver } }

    /// An idle connection was closed before the answer: others may be, too.
    var needsNewConnection: Bool { contents.withLock { $0.needsNewConnection } }

    /// - Returns: false when it has been retried already.
    func retryOnce() -> Bool {
        contents.withLock { contents in
            defer { (contents.needsNewConnection, contents.connection) = (true, nil) }
            return !contents.needsNewConnection
        }
    }

    /// - Returns: false when it is over, and must not be sent.
    func begin(on connection: OutboundConnection) -> Bool {
        contents.withLock { contents in
            if !contents.isOver { contents.connection = connection }
            return !contents.isOver
        }
    }

    /// Reports the answer, unless that has happened.
    ///
    /// - Returns: the connection that had the request.
    @discardableResult
    func end(_ result: Result<any OutboundAnswer, OutboundFailure>) -> OutboundConnection? {
        let (onEnd, connection) = contents.withLock { contents in
            defer { (contents.isOver, contents.onEnd, contents.connection) = (true, nil, nil) }
            return (contents.onEnd, contents.connection)
        }
        onEnd?(result)
        return connection
    }
}
