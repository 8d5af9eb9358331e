import NIOHTTP1
import NotificationDelivery
import NotificationModel
import OutboundHTTP

/// The status of an answer.
struct WebhookStatus: OutboundAnswer {
    var status: UInt
    var retryAfter: String?

    init(_ head: HTTPResponseHead) {
        self.init(status: head.status.code, retryAfter: head.headers.first(name: "retry-after"))
    }

    init(status: UInt, retryAfter: String?) { (self.status, self.retryAfter) = (status, retryAfter) }
}

/// How a request ended.
enum WebhookAnswer: Sendable {
    case status(WebhookStatus)
    case failure(OutboundFailure)

    init(_ result: Result<any OutboundAnswer, OutboundFailure>) {
        switch result {
        case .success(let answer as WebhookStatus): self = .status(answer)
        case .success: self = .failure(OutboundFailure(.invalidResponse, "another kind of answer"))
        case .failure(let failure): self = .failure(failure)
        }
    }

    /// The end of a request, for metrics and logs.
    enum Kind: String, CaseIterable, Sendable {
        case accepted
        /// Refused permanently: 4xx.
        case rejected
        /// Refused because of how the endpoint or the keys are set up now: 401, 403, 404, 409.
        case denied
        /// Refused for now: 408, 425, 429.
        case throttled
        case redirected
        case serverError = "server-error"
        case timedOut = "timed-out"
        case notConnected = "not-connected"
        /// The endpoint has an address that is not allowed.
        case refusedAddress = "refused-address"
        /// The connection ended before the answer.
        case disconnected
        case tls
        /// No HTTP, or a status that HTTP does not have.
        case invalid
        case cancelled
    }

    /// - Parameters:
    ///   - now: to compare with a date.
    ///   - longest: the longest pause that the endpoint can request, in milliseconds.
    func result(at now: Timestamp, longest: Int64) -> (kind: Kind, result: ChannelResult) {
        switch self {
        case .status(let answer):
            Self.result(
                answer.status,
                pause: answer.retryAfter.flatMap { RetryAfter.milliseconds($0, at: now, longest: longest) }
            )
        case .failure(let failure):
            (Self.kind(of: failure), failure.isSent ? .unanswered(retryAfter: nil) : .failed(retryAfter: nil))
        }
    }

    private static func result(_ status: UInt, pause: Int64?) -> (kind: Kind, result: ChannelResult) {
        switch status {
        case 200..<300: (.accepted, .accepted)
        // The URL of the settings is wrong: the notification waits until someone has corrected it.
        case 300..<400: (.redirected, .failed(retryAfter: pause))
        case 408, 425, 429: (.throttled, .failed(retryAfter: pause))
        // A key rotated in the wrong order, a deployment, a route that is missing: someone will correct it.
        case 401, 403, 404, 409: (.denied, .failed(retryAfter: pause))
        case 410: (.rejected, .rejected(.unregistered))
        case 413: (.rejected, .rejected(.payloadTooLarge))
        case 400..<500: (.rejected, .rejected(.rejected))
        // A gateway got no answer: what is behind it may have accepted the request.
        case 502, 504: (.serverError, .unanswered(retryAfter: pause))
        case 500..<600: (.serverError, .failed(retryAfter: pause))
        default: (.invalid, .unanswered(retryAfter: nil))
        }
    }

    private static func kind(of failure: OutboundFailure) -> Kind {
        switch failure.clientCode {
        case .timedOut, .tooSlow: .timedOut
        case .disconnected, .truncated: .disconnected
        case .tls: .tls
        case .invalidResponse, .tooLarge, .encodingRefused, .httpStatus, .redirectRefused: .invalid
        case .unresolved, .notConnected, .overloaded, .cancelled: .notConnected
        // A code of the policy.
        case nil: .refusedAddress
        }
    }
}
