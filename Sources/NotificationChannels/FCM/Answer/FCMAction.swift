package import NotificationDelivery
package import NotificationModel

/// What an answer of FCM leads to. One table, ``init(_:for:)``; everything else follows from it.
package enum FCMAction: Hashable, Sendable {
    /// Whom an answer says something about.
    package enum Subject: String, Hashable, Sendable {
        /// The message was accepted.
        case none
        /// The device or its token.
        case device
        /// The message, or the program that made it.
        case request
        /// The service account, its project, or the access token.
        case credentials
        /// The project's quota.
        case quota
        /// FCM, or the connection to it.
        case provider
    }

    /// FCM has it. It does not say whether the device shows it.
    case accept
    /// The token is gone: retire the device, unless it registered after the attempt began.
    case retire
    /// The token is of another project. It is gone when this project has reached any device before; else the account may be the
    /// wrong one, and the device stays.
    case retireFromProject
    /// The device does not get it, and stays registered.
    case refuseDevice
    /// The message cannot be delivered as it is.
    case refuse(ReasonCode)
    /// Get another access token, and send once more.
    case renewToken
    /// Nothing goes out for the application until an operator has corrected its account or project.
    case stop
    /// Too many messages to this device: send again later; other devices are not concerned.
    case delayDevice
    /// The project's quota is used up: all of its messages wait.
    case delayProject
    /// Send again later.
    case retry

    /// - Parameter target: that the answer is for.
    package init(_ answer: FCMAnswer, for target: FCMTarget) {
        self =
            switch (answer.status, answer.code) {
            case (200..<300, _): .accept
            case (_, let code?): Self.action(for: code, answer)
            case (_, nil): Self.action(for: answer, target)
            }
    }

    private static func action(for code: FCMErrorCode, _ answer: FCMAnswer) -> FCMAction {
        switch code {
        case .unregistered: .retire
        case .senderIDMismatch: .retireFromProject
        // The token, or the message: the fields tell. Without any it is the token, but nothing says that it is gone.
        case .invalidArgument where answer.blamesTarget: .retire
        case .invalidArgument: answer.fields.isEmpty ? .refuseDevice : .refuse(.rejected)
        // The keys of APNs or Web Push in the Firebase project: tokens of other platforms.
        case .thirdPartyAuthError: .refuseDevice
        case .quotaExceeded: answer.quota == .device ? .delayDevice : .delayProject
        case .unavailable, .internalError: .retry
        case .unspecifiedError: action(forClass: answer)
        }
    }

    private static func action(for answer: FCMAnswer, _ target: FCMTarget) -> FCMAction {
        switch answer.rpc {
        case .notFound?:
            if case .installation = target { .retire } else { .refuseDevice }
        case .invalidArgument? where answer.blamesTarget: .retire
        case .invalidArgument?, .failedPrecondition?: .refuse(.rejected)
        case .unauthenticated?: .renewToken
        case .permissionDenied?: .stop
        case .resourceExhausted?: answer.quota == .device ? .delayDevice : .delayProject
        case .unavailable?, .internalError?, .deadlineExceeded?: .retry
        case nil: action(forClass: answer)
        }
    }

    private static func action(forClass answer: FCMAnswer) -> FCMAction {
        switch answer.status {
        case 401: .renewToken
        case 403: .stop
        // Not an answer of FCM: the URL or the project is wrong.
        case 404: answer.isError ? .refuseDevice : .stop
        case 408, 425: .retry
        case 413: .refuse(.payloadTooLarge)
        case 429: .delayProject
        case 400..<500: .refuse(.rejected)
        // 1xx and 3xx end no message of FCM: something else has answered.
        default: .retry
        }
    }

    package var subject: Subject {
        switch self {
        case .accept: .none
        case .retire, .retireFromProject, .refuseDevice, .delayDevice: .device
        case .refuse: .request
        case .renewToken, .stop: .credentials
        case .delayProject: .quota
        case .retry: .provider
        }
    }

    /// The outcome of the attempt, when the message is not repeated at once.
    ///
    /// - Parameters:
    ///   - retryAfter: the pause that the answer asks for, in milliseconds.
    ///   - begun: when the attempt began: a device that registered later has another token.
    ///   - isProven: whether the project has reached any device.
    package func result(retryAfter: Int64?, begun: Timestamp, isProven: Bool) -> ChannelResult {
        switch self {
        case .accept: .accepted
        case .retire: .gone(begun)
        case .retireFromProject: isProven ? .gone(begun) : .rejected(.rejected)
        case .refuseDevice: .rejected(.rejected)
        case .refuse(let reason): .rejected(reason)
        // It was not tried: until then no attempt counts.
        case .stop, .renewToken: .deferred(retryAfter: retryAfter ?? ApplicationStops.pause)
        case .delayProject: .deferred(retryAfter: retryAfter ?? Self.pauseOfQuota)
        case .delayDevice: .failed(retryAfter: retryAfter ?? Self.pauseOfQuota)
        case .retry: .failed(retryAfter: retryAfter)
        }
    }

    /// The first pause after an exceeded quota, in milliseconds, when FCM does not say.
    package static let pauseOfQuota: Int64 = 60_000
}
