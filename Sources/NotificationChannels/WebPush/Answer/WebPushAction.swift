package import NotificationDelivery
package import NotificationModel

/// What an answer of a push service leads to. One table, ``init(_:)``; everything else follows from it. The raw values are for
/// metrics.
package enum WebPushAction: String, CaseIterable, Hashable, Sendable {
    /// The push service has it. It does not say whether the device shows it.
    case accept = "accepted"
    /// The subscription is gone: retire the device, unless it registered after the attempt began.
    case retire = "gone"
    /// The message has more bytes than this push service takes.
    case refuseSize = "too-large"
    /// The request or the subscription: that is no reason to forget the device.
    case refuse = "refused"
    /// Nothing is followed: a subscription that moves is no subscription.
    case redirect = "redirected"
    /// The key or its token: the origin stops, unless it has accepted the key before; then it concerns the subscription, which
    /// belongs to another key.
    case refuseKey = "key-refused"
    /// The token: the origin stops whatever it has accepted before.
    case refuseToken = "token-refused"
    /// Too many messages: later.
    case delay = "throttled"
    /// The push service has failed: later.
    case retry = "failed"
    /// A gateway has got no answer from the push service.
    case unanswered

    /// What Apple's service calls a token that it does not take.
    private static let tokenReasons: Set<String> = [
        "BadJwtToken", "ExpiredJwtToken", "InvalidJwtToken", "MissingJwtToken",
    ]

    package init(_ answer: WebPushAnswer) {
        self =
            switch answer.status {
            case 200..<300: .accept
            case 300..<400: .redirect
            case 401, 403: answer.reason.map { Self.tokenReasons.contains($0) } == true ? .refuseToken : .refuseKey
            // RFC 8030, 7.3: 404 for a subscription that expired; push services send 410, too.
            case 404, 410: .retire
            case 408, 425, 429: .delay
            case 413: .refuseSize
            case 400..<500: .refuse
            case 502, 504: .unanswered
            // 1xx ends no message: something else has answered.
            default: .retry
            }
    }

    /// The outcome of the attempt.
    ///
    /// - Parameters:
    ///   - retryAfter: the pause that the answer asks for, in milliseconds.
    ///   - begun: when the attempt began: a device that registered later has another subscription.
    ///   - isProven: whether the origin has accepted the key before.
    package func result(retryAfter: Int64?, begun: Timestamp, isProven: Bool) -> ChannelResult {
        switch self {
        case .accept: .accepted
        case .retire: .gone(begun)
        case .refuseSize: .rejected(.payloadTooLarge)
        case .refuse, .redirect: .rejected(.rejected)
        case .refuseKey where isProven: .rejected(.rejected)
        // It was not tried: until then no attempt counts.
        case .refuseKey, .refuseToken: .deferred(retryAfter: retryAfter ?? PushOrigins.pause)
        case .delay, .retry: .failed(retryAfter: retryAfter)
        case .unanswered: .unanswered(retryAfter: retryAfter)
        }
    }
}
