import NotificationDelivery
import NotificationModel

/// What an attempt at a message does after each answer: it is sent at most twice. A value.
struct FCMAttempt: Hashable, Sendable {
    /// What follows.
    enum Step: Hashable, Sendable {
        /// The attempt ends.
        case end(ChannelResult)
        /// The same is sent once more, with another access token.
        case again
    }

    private var isRepeated = false
    /// When it began: a device that registered later has another token.
    let begun: Timestamp

    init(at begun: Timestamp) { self.begun = begun }

    /// - Parameters:
    ///   - retryAfter: the pause that the answer asks for, in milliseconds.
    ///   - isProven: whether the project has reached any device.
    ///   - mayRepeat: asked before the same is sent again.
    mutating func step(
        after action: FCMAction,
        retryAfter: Int64?,
        isProven: Bool,
        mayRepeat: () -> Bool
    ) -> Step {
        if action == .renewToken, !isRepeated, mayRepeat() {
            isRepeated = true
            return .again
        }
        return .end(action.result(retryAfter: retryAfter, begun: begun, isProven: isProven))
    }
}
