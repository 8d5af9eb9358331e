import NotificationDelivery
import NotificationModel

/// What an attempt at a push does after each answer: it is sent at most three times. A value.
struct APNsAttempt: Hashable, Sendable {
    /// What follows.
    enum Step: Hashable, Sendable {
        /// The attempt ends.
        case end(ChannelResult)
        /// The same is sent once more, on another connection.
        case again
        /// The same is sent to the other environment.
        case toOtherEnvironment
    }

    /// Whose servers get it.
    private(set) var environment: DeviceRegistration.Environment
    private var hasMoved = false
    private var isRepeated = false
    /// When it began: a device that registered later has another token.
    private let begun: Timestamp

    /// - Parameters:
    ///   - environment: of the device's registration.
    ///   - begun: when it begins.
    init(to environment: DeviceRegistration.Environment, at begun: Timestamp) {
        (self.environment, self.begun) = (environment, begun)
    }

    /// - Parameters:
    ///   - action: of the answer.
    ///   - hasOther: whether the application has credentials for the other environment.
    ///   - mayRepeat: asked before the same is sent again.
    mutating func step(after answer: APNsAnswer, _ action: APNsAction, hasOther: Bool, mayRepeat: () -> Bool) -> Step {
        switch action {
        case .retire, .retireBroadcastChannel: return .end(.gone(answer.timestamp ?? begun))
        case .tryOtherEnvironment:
            // Only when both refuse it is the token gone.
            if hasMoved { return .end(.gone(begun)) }
            guard hasOther else { return .end(action.result(retryAfter: answer.retryAfter)) }
            hasMoved = true
            environment = environment.other
            return .toOtherEnvironment
        case .renewToken, .keepToken, .reconnect:
            guard !isRepeated, mayRepeat() else { return .end(action.result(retryAfter: answer.retryAfter)) }
            isRepeated = true
            return .again
        case .accept, .refuseDevice, .refuse, .stop, .delayDevice, .retry:
            return .end(action.result(retryAfter: answer.retryAfter))
        }
    }
}
