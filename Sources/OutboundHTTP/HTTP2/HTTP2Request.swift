package import NIOCore
package import NIOHPACK
import Synchronization

/// One request over HTTP/2, and what gets its result.
///
/// The result comes once, on the event loop of the pool; it must not block:
///
/// - An answer with any status.
/// - A failure whose `isSent` is false: the server has not processed the request, which may be sent again.
/// - A failure whose `isSent` is true: nothing is known. The server may have processed the request.
package final class HTTP2Request: Sendable {
    /// Which of the requests that wait goes first. For `high` a part of the streams of each connection is reserved.
    package enum Priority: Int, CaseIterable, Sendable {
        case high, normal, low
    }

    let fields: HTTP2Fields
    /// Nil for a request without one.
    let body: ByteBuffer?
    let priority: Priority
    /// When it fails without an answer.
    let deadline: NIODeadline
    let onEnd: @Sendable (Result<HTTP2Answer, OutboundFailure>) -> Void
    /// The number that the plan of the pool has given to it; 0 before.
    let number = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - fields: All fields, those that are shared and its own.
    ///   - body: Is sent whole.
    ///   - priority: Among those that wait.
    ///   - deadline: When it fails without an answer, with `timed-out`.
    ///   - onEnd: Called once on the event loop of the pool; it must not block, and may send further requests.
    package init(
        _ fields: HTTP2Fields,
        body: ByteBuffer? = nil,
        priority: Priority = .normal,
        by deadline: NIODeadline,
        onEnd: @escaping @Sendable (Result<HTTP2Answer, OutboundFailure>) -> Void
    ) {
        (self.fields, self.body, self.priority, self.deadline, self.onEnd) = (fields, body, priority, deadline, onEnd)
    }
}

extension HPACKHeaders {
    /// The pseudo-header fields of a request (RFC 9113, 8.3.1), to which the other fields are appended. A sender makes them
    /// once for a path, or appends `:path` itself.
    ///
    /// - Parameters:
    ///   - method: `POST`.
    ///   - origin: Has scheme, host and port.
    ///   - path: Begins with `/`. It does not enter the table of the compression: paths differ. Nil when the caller appends
    ///     the field `:path`.
    package static func pseudo(_ method: String, _ origin: EgressURL, path: String? = nil) -> HPACKHeaders {
        var headers = HPACKHeaders()
        headers.reserveCapacity(16)
        headers.add(name: ":method", value: method)
        headers.add(name: ":scheme", value: origin.usesTLS ? "https" : "http")
        headers.add(name: ":authority", value: origin.hostHeader)
        if let path { headers.add(name: ":path", value: path, indexing: .nonIndexable) }
        return headers
    }
}
