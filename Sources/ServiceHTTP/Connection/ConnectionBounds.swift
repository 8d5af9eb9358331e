package import NIOCore
import NIOHTTP1

/// The bounds of a connection.
package struct ConnectionBounds: Sendable {
    /// Bytes of a request's target.
    var targetBytes: Int
    /// Bytes of all names and values of a request's header fields.
    var headerBytes: Int
    /// Header fields of a request.
    var headerCount: Int
    /// How long a head, and with it the body, may take to arrive.
    var receiveTimeout: TimeAmount
    /// How long a request that is whole waits for its answer.
    var answerTimeout: TimeAmount
    /// How long a client may take nothing of its answers.
    var sendTimeout: TimeAmount
    /// The answer to a request that nobody else answers in time.
    var unanswered: Problem
    /// What is read and thrown away of a client that still sends after its last answer, so that it sees the answer.
    var discardedBytes = 16 << 20

    package init(
        targetBytes: Int,
        headerBytes: Int,
        headerCount: Int,
        receiveTimeout: TimeAmount,
        answerTimeout: TimeAmount,
        sendTimeout: TimeAmount,
        unanswered: Problem
    ) {
        self.targetBytes = targetBytes
        self.headerBytes = headerBytes
        self.headerCount = headerCount
        self.receiveTimeout = receiveTimeout
        self.answerTimeout = answerTimeout
        self.sendTimeout = sendTimeout
        self.unanswered = unanswered
    }

    /// The decoder has one bound for the target and the fields; it stops what no check of the parts could hold.
    var headBytes: Int { targetBytes + headerBytes }

    /// What is wrong with a head that is whole.
    func problem(of head: HTTPRequestHead) -> Problem? {
        guard head.uri.utf8.count <= targetBytes else { return .targetTooLong(limit: targetBytes) }
        var bytes = 0
        var hosts = 0
        var encodings = 0
        var problem: Problem?
        for (name, value) in head.headers {
            bytes += name.utf8.count + value.utf8.count
            switch name.utf8.count {
            case 4 where name.lowercased() == "host":
                hosts += 1
                if HostField(value) == nil {
                    problem = .malformed("Host is neither a name nor an address", field: "host")
                }
            case 17 where name.lowercased() == "transfer-encoding":
                encodings += 1
                if encodings > 1 || value.lowercased() != "chunked" { problem = .unknownTransferEncoding }
            default: break
            }
        }
        guard bytes <= headerBytes else { return .headersTooLarge(bytes: headerBytes, count: headerCount) }
        if hosts > 1 || (hosts == 0 && head.version.minor >= 1) {
            return .malformed("a request of HTTP/1.1 names its host, once", field: "host")
        }
        if encodings > 0, head.version.minor < 1 {
            return .malformed("HTTP/1.0 knows no transfer encoding", field: "transfer-encoding")
        }
        return problem
    }

    /// The answer to bytes that the decoder does not take for HTTP/1.1.
    ///
    /// - Parameter isTarget: What is too long is a request's target.
    func problem(of error: HTTPParserError, isTarget: Bool) -> Problem {
        switch error {
        case .headerOverflow where isTarget: .targetTooLong(limit: targetBytes)
        case .headerOverflow: .headersTooLarge(bytes: headBytes, count: headerCount)
        case .invalidContentLength, .unexpectedContentLength:
            .malformed("the length of the body is not given, or given in two ways", field: "content-length")
        case .invalidChunkSize: .malformed("a chunk of the body does not say its size", field: "transfer-encoding")
        case .invalidHeaderToken: .malformed("a header field has a character that is not allowed there")
        case .invalidMethod: .malformed("the request does not begin with a method that is known")
        case .invalidURL: .malformed("the request's target has a character that is not allowed there")
        case .invalidVersion: .malformed("the request is not of HTTP/1.1")
        case .invalidEOFState: .malformed("the connection ended within a request")
        default: .malformed("the bytes are not HTTP/1.1")
        }
    }
}
