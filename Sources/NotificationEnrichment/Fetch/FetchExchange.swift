import NIOCore
import NIOHTTP1
import ServiceHTTP
import Synchronization

/// What a server answered.
enum FetchAnswer: Sendable {
    case media(MediaBody.Stored, HTTPFreshness)
    case notModified(HTTPFreshness)
    case redirect(status: Int, location: String)
    /// In memory; no body if it is of no interest.
    case collected(status: Int, body: [UInt8])
}

/// One request to one server and its answer, which is reported once.
final class FetchExchange: Sendable {
    private struct Contents {
        var isOver = false
        var continuation: CheckedContinuation<Result<FetchAnswer, FetchFailure>, Never>?
        /// That has the request.
        var connection: FetchConnection?
        var needsNewConnection = false
    }

    let url: EgressURL
    /// That the policy allows; the connection goes to one of them.
    let addresses: [IPAddress]
    let head: HTTPRequestHead
    /// Nil for a request without one.
    let body: ByteBuffer?
    let progress: DownloadProgress
    /// What to do with the answer that begins like this.
    let judge: @Sendable (HTTPResponseHead) -> FetchResponse
    private let contents = Mutex(Contents())

    /// - Parameters:
    ///   - method: Of the request.
    ///   - url: That the policy allows.
    ///   - addresses: That the policy allows.
    ///   - fields: Of the request, in addition to those of every request.
    ///   - body: Its length is among the fields.
    ///   - progress: Where steps and phases are reported.
    ///   - judge: Decides by the head what to do with the answer.
    init(
        _ method: HTTPMethod,
        _ url: EgressURL,
        at addresses: [IPAddress],
        fields: [(String, String)],
        body: ByteBuffer? = nil,
        progress: DownloadProgress,
        judge: @escaping @Sendable (HTTPResponseHead) -> FetchResponse
    ) {
        (self.url, self.addresses, self.body, self.progress, self.judge) = (url, addresses, body, progress, judge)
        let common = [
            ("host", url.hostHeader), ("accept", "*/*"), ("accept-encoding", "identity"), ("user-agent", "Carillon"),
            ("connection", "keep-alive"),
        ]
        head = HTTPRequestHead(
            version: .http1_1,
            method: method,
            uri: url.target,
            headers: HTTPHeaders(common + fields)
        )
    }

    /// Sends the request and waits for the answer; a cancellation closes the connection.
    func answer(by connections: FetchConnections) async throws(FetchFailure) -> FetchAnswer {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = contents.withLock { contents in
                    if !contents.isOver { contents.continuation = continuation }
                    return contents.isOver
                }
                if isOver { continuation.resume(returning: .failure(.cancelled)) } else { connections.begin(self) }
            }
        } onCancel: {
            let connection = end(.failure(.cancelled))
            if let connection { connection.abandon(self) } else { connections.leave(self) }
        }
        return try result.get()
    }

    var isOver: Bool { contents.withLock { $0.isOver } }

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
    func begin(on connection: FetchConnection) -> Bool {
        contents.withLock { contents in
            if !contents.isOver { contents.connection = connection }
            return !contents.isOver
        }
    }

    /// Reports the answer, unless that has happened.
    ///
    /// - Returns: the connection that had the request.
    @discardableResult
    func end(_ result: Result<FetchAnswer, FetchFailure>) -> FetchConnection? {
        let (continuation, connection) = contents.withLock { contents in
            defer { (contents.isOver, contents.continuation, contents.connection) = (true, nil, nil) }
            return (contents.continuation, contents.connection)
        }
        continuation?.resume(returning: result)
        return connection
    }
}
