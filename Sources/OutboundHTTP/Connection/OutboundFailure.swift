/// Why a request to another system has no usable answer.
package struct OutboundFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reasons of the client itself. Further codes are those of `EgressRefusal`, and of what takes the body.
    package enum Code: String, CaseIterable, Sendable {
        /// A time limit or the request's deadline has passed; the detail names the phase.
        case timedOut = "timed-out"
        /// The body arrived more slowly than the minimum rate.
        case tooSlow = "too-slow"
        /// The host has no address, or its look-up failed.
        case unresolved
        /// Too many requests wait for a connection.
        case overloaded
        /// The task was cancelled, or the client was closed.
        case cancelled
        /// No address of the host accepted a connection.
        case notConnected = "not-connected"
        /// The TLS handshake or the certificate.
        case tls
        /// The connection was lost before the end of the answer.
        case disconnected
        /// The connection was lost within the body.
        case truncated
        /// No HTTP/1, or an answer that HTTP does not allow.
        case invalidResponse = "invalid-response"
        /// An answer without the medium; the detail names the status.
        case httpStatus = "http-status"
        /// The body is larger than what is read.
        case tooLarge = "too-large"
        /// A content or transfer coding: nothing is decompressed.
        case encodingRefused = "encoding-refused"
        /// Too many redirects, a loop, or a redirect of a POST.
        case redirectRefused = "redirect-refused"
    }

    /// A reason code.
    package var code: String
    /// For a person who looks for the cause; never a path, a query or contents.
    package var detail: String
    /// Whether the request, or a part of it, was sent.
    package var isSent = false

    /// A failure with any code.
    package init(code: String, detail: String) {
        (self.code, self.detail) = (code, detail)
    }

    /// A failure with a code of the client.
    package init(_ code: Code, _ detail: String) {
        self.init(code: code.rawValue, detail: detail)
    }

    /// The refusal of a URL or an address.
    package init(_ refusal: EgressRefusal) {
        self.init(code: refusal.code.rawValue, detail: refusal.detail)
    }

    /// The failure of a look-up.
    package init(_ failure: ResolutionFailure) {
        self.init(code: failure.reason.rawValue, detail: failure.detail)
    }

    /// The code as one of the client; nil for another one.
    package var clientCode: Code? { Code(rawValue: code) }

    package var description: String { "\(code): \(detail)" }

    package static let cancelled = OutboundFailure(.cancelled, "the request was cancelled")
    static let closed = OutboundFailure(.cancelled, "the client is closed")
}
