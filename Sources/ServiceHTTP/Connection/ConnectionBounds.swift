package import NIOCore
import NIOHTTP1

/// The limits of a connection.
package struct ConnectionBounds: Sendable {
    /// Bytes of a request's target.
    var targetBytes: Int
    /// Bytes of all names and values of a request's header fields.
    var headerBytes: Int
    /// Header fields of a request.
    var headerCount: Int
    /// How long a head with its body may take to arrive.
    var receiveTimeout: TimeAmount
    /// How long a complete request waits for its response.
    var answerTimeout: TimeAmount
    /// How long a client may read no response data.
    var sendTimeout: TimeAmount
    /// The response to a request that no handler answers in time.
    var unanswered: Problem
    /// Bytes to discard from a client that keeps sending after its last response, so that it can read the response.
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

    /// The decoder has one limit for target and fields together; it stops input that no check of the parts could bound.
    var headBytes: Int { targetBytes + headerBytes }

    /// The problem of a complete head.
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
            return .malformed("an HTTP/1.1 request needs exactly one Host field", field: "host")
        }
        if encodings > 0, head.version.minor < 1 {
            return .malformed("HTTP/1.0 has no transfer encoding", field: "transfer-encoding")
        }
        return problem
    }

    /// The response to bytes that the decoder rejects.
    ///
    /// - Parameter isTarget: Whether the target is what is too long.
    func problem(of error: HTTPParserError, isTarget: Bool) -> Problem {
        switch error {
        case .headerOverflow where isTarget: .targetTooLong(limit: targetBytes)
        case .headerOverflow: .headersTooLarge(bytes: headBytes, count: headerCount)
        case .invalidContentLength, .unexpectedContentLength:
            .malformed("the length of the body is missing or ambiguous", field: "content-length")
        case .invalidChunkSize: .malformed("a chunk of the body has no valid size", field: "transfer-encoding")
        case .invalidHeaderToken: .malformed("a header field contains an invalid character")
        case .invalidMethod: .malformed("the request does not begin with a known method")
        case .invalidURL: .malformed("the request's target contains an invalid character")
        case .invalidVersion: .malformed("the request is not HTTP/1.1")
        case .invalidEOFState: .malformed("the connection ended within a request")
        default: .malformed("the bytes are not HTTP/1.1")
        }
    }
}
