package import ServiceHTTP

/// Why a medium could not be fetched.
package struct FetchFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reasons of the fetcher itself. Further codes are those of `EgressRefusal`, `MediaProblem` and
    /// `MediaStoreError`.
    package enum Code: String, CaseIterable, Sendable {
        /// A time limit or the request's deadline has passed; the detail names the phase.
        case timedOut = "timed-out"
        /// The host has no address, or its look-up failed.
        case unresolved
        /// Too many fetches wait for a connection.
        case overloaded
        /// The task was cancelled, or the fetcher was closed.
        case cancelled
        /// No address of the host accepted a connection.
        case notConnected = "not-connected"
        /// The TLS handshake or the certificate.
        case tls
        /// The connection was lost before the end of the answer.
        case disconnected
        /// No HTTP/1, or an answer that HTTP does not allow.
        case invalidResponse = "invalid-response"
        /// An answer without the medium; the detail names the status.
        case httpStatus = "http-status"
        /// A content or transfer coding: nothing is decompressed.
        case encodingRefused = "encoding-refused"
        /// Too many redirects, a loop, or a redirect of a POST.
        case redirectRefused = "redirect-refused"
    }

    /// A reason code.
    package var code: String
    /// For a person who looks for the cause; never a path, a query or contents.
    package var detail: String

    package init(code: String, detail: String) {
        (self.code, self.detail) = (code, detail)
    }

    package init(_ code: Code, _ detail: String) {
        self.init(code: code.rawValue, detail: detail)
    }

    package init(_ refusal: EgressRefusal) {
        self.init(code: refusal.code.rawValue, detail: refusal.detail)
    }

    package init(_ failure: ResolutionFailure) {
        self.init(code: failure.reason.rawValue, detail: failure.detail)
    }

    package init(_ problem: MediaProblem) {
        self.init(code: problem.code.rawValue, detail: problem.detail)
    }

    package init(_ error: MediaStoreError) {
        self.init(code: error.code.rawValue, detail: error.detail)
    }

    package var description: String { "\(code): \(detail)" }

    /// With the code that a medium has, too.
    static func tooLarge(_ detail: String) -> FetchFailure {
        FetchFailure(code: MediaProblem.Code.tooLarge.rawValue, detail: detail)
    }

    static let cancelled = FetchFailure(.cancelled, "the fetch was cancelled")
    static let closed = FetchFailure(.cancelled, "the fetcher is closed")
}
