import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NotificationConsumer
import NotificationDelivery
import NotificationModel
import ServiceHTTP

/// How a request ended.
enum WebhookAnswer: Sendable {
    case head(status: UInt, retryAfter: String?)
    /// - Parameter isSent: whether the request, or a part of it, was sent.
    case failure(Kind, isSent: Bool)
    /// No connection: the endpoint has an address that is not allowed.
    case refusedAddress(EgressRefusal)

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
        case .head(let status, let retryAfter):
            Self.result(status, pause: retryAfter.flatMap { Self.pause($0, at: now, longest: longest) })
        case .failure(let kind, let isSent):
            (kind, isSent ? .unanswered(retryAfter: nil) : .failed(retryAfter: nil))
        case .refusedAddress: (.refusedAddress, .failed(retryAfter: nil))
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

    /// The value of `Retry-After`, seconds or a date, in milliseconds and at most `longest`; nil if it is neither.
    static func pause(_ text: String, at now: Timestamp, longest: Int64) -> Int64? {
        let digits = text.utf8
        if !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) {
            guard let seconds = Int64(text), seconds < longest / 1000 else { return longest }
            return seconds * 1000
        }
        guard let date = HTTPDate.parse(text, at: now) else { return nil }
        return max(0, min(longest, date.rawValue - now.rawValue))
    }

    /// What an error of a connection says about its request.
    static func kind(of error: any Error) -> Kind {
        switch error {
        // The end of the connection without a TLS message, or within an answer.
        case NIOSSLError.uncleanShutdown, HTTPParserError.invalidEOFState: .disconnected
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: .tls
        case is HTTPParserError: .invalid
        case ChannelError.connectTimeout: .timedOut
        case let failure as ResolutionFailure where failure.reason == .timedOut: .timedOut
        case is ChannelError: .disconnected
        case let error as NIOConnectionError:
            error.connectionErrors.contains { kind(of: $0.error) == .timedOut } ? .timedOut : .notConnected
        case let error as IOError where error.errnoCode == ECONNRESET || error.errnoCode == EPIPE: .disconnected
        default: .notConnected
        }
    }
}
