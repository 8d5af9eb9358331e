package import NotificationDelivery
package import NotificationModel

/// What an answer of APNs leads to. One table, ``init(status:reason:)``; everything else follows from it.
package enum APNsAction: Hashable, Sendable {
    /// Whom an answer says something about.
    package enum Subject: String, Hashable, Sendable {
        /// The push was accepted.
        case none
        /// The device or its token.
        case device
        /// The push, or the program that made it.
        case request
        /// The key or the certificate.
        case credentials
        /// APNs, or the connection to it.
        case provider
    }

    /// APNs has it. It does not say whether the device shows it.
    case accept
    /// The token is gone: retire the device, unless it registered after the answer's timestamp.
    case retire
    /// The token may be one of the other environment: try there once. Only when both refuse it is it gone.
    case tryOtherEnvironment
    /// The token is not for this topic: the registration is wrong, the device may be all right. Do not retire it.
    case refuseDevice
    /// The push cannot be delivered as it is.
    case refuse(ReasonCode)
    /// The broadcast channel is gone: retire its registration.
    case retireBroadcastChannel
    /// Renew the provider token, close the connection, which goes on refusing, and send once more on another one.
    case renewToken
    /// Keep the provider token, close the connection, and send again on another one.
    case keepToken
    /// Close the connection and send again on another one.
    case reconnect
    /// Nothing goes out for the application until an operator has corrected its key or certificate.
    case stop
    /// Too many pushes to this device: send again later; other devices are not concerned.
    case delayDevice
    /// Send again later.
    case retry

    /// - Parameters:
    ///   - status: of HTTP.
    ///   - reason: nil when there is none, or an unknown one: then the class of the status decides.
    package init(status: Int, reason: APNsReason?) {
        self =
            switch (status, reason) {
            case (200..<300, _): .accept
            case (_, let reason?): Self.action(for: reason)
            case (_, nil): Self.action(for: status)
            }
    }

    private static func action(for reason: APNsReason) -> APNsAction {
        switch reason {
        case .unregistered, .expiredToken: .retire
        case .badDeviceToken: .tryOtherEnvironment
        case .deviceTokenNotForTopic: .refuseDevice
        case .tooManyRequests: .delayDevice
        case .payloadTooLarge: .refuse(.payloadTooLarge)
        case .badCollapseID, .badDate, .badExpirationDate, .badMessageID, .badPriority, .badTopic, .invalidPushType,
            .duplicateHeaders, .payloadEmpty, .missingDeviceToken, .missingTopic, .missingPushType, .badPath,
            .methodNotAllowed, .missingChannelID, .badChannelID, .forbidden:
            .refuse(.rejected)
        // Of broadcasts: what goes to devices is not concerned.
        case .featureNotEnabled, .cannotCreateChannelConfig: .refuse(.rejected)
        case .channelNotRegistered: .retireBroadcastChannel
        case .expiredProviderToken: .renewToken
        case .tooManyProviderTokenUpdates: .keepToken
        case .badCertificate, .badCertificateEnvironment, .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken,
            .invalidProviderToken, .missingProviderToken, .topicDisallowed:
            .stop
        case .unrelatedKeyIDInToken, .idleTimeout, .shutdown: .reconnect
        case .internalServerError, .serviceUnavailable: .retry
        }
    }

    private static func action(for status: Int) -> APNsAction {
        switch status {
        case 401, 403: .stop
        case 408, 425: .retry
        case 410: .retire
        case 413: .refuse(.payloadTooLarge)
        case 429: .delayDevice
        case 400..<500: .refuse(.rejected)
        // 1xx and 3xx end no push of APNs: something else has answered.
        default: .retry
        }
    }

    package var subject: Subject {
        switch self {
        case .accept: .none
        case .retire, .tryOtherEnvironment, .refuseDevice, .delayDevice: .device
        case .refuse, .retireBroadcastChannel: .request
        case .renewToken, .keepToken, .stop: .credentials
        case .reconnect, .retry: .provider
        }
    }

    /// Whether the connection that the answer came from gets no more pushes.
    package var closesConnection: Bool {
        switch self {
        case .renewToken, .keepToken, .reconnect: true
        case .accept, .retire, .tryOtherEnvironment, .refuseDevice, .refuse, .retireBroadcastChannel, .stop,
            .delayDevice, .retry:
            false
        }
    }

    /// Whether the push is sent once more at once, on another connection or to the other environment. When that is refused in the
    /// same way, ``result(retryAfter:)`` is what is left.
    package var repeatsAtOnce: Bool {
        switch self {
        case .tryOtherEnvironment, .renewToken, .keepToken, .reconnect: true
        case .accept, .retire, .refuseDevice, .refuse, .retireBroadcastChannel, .stop, .delayDevice, .retry: false
        }
    }

    /// The outcome of the attempt, when the push is not repeated at once.
    ///
    /// - Parameter retryAfter: the pause that the answer asks for, in milliseconds.
    package func result(retryAfter: Int64?) -> ChannelResult {
        switch self {
        case .accept: .accepted
        case .retire, .tryOtherEnvironment, .retireBroadcastChannel: .rejected(.unregistered)
        case .refuseDevice: .rejected(.rejected)
        case .refuse(let reason): .rejected(reason)
        // It was not tried: until the credentials are corrected no attempt counts.
        case .stop, .renewToken: .deferred(retryAfter: retryAfter ?? Self.pauseWithoutCredentials)
        case .delayDevice: .failed(retryAfter: retryAfter ?? Self.pauseOfDevice)
        case .keepToken, .reconnect, .retry: .failed(retryAfter: retryAfter)
        }
    }

    /// How long a device that got too many pushes is left alone, in milliseconds, when APNs does not say.
    package static let pauseOfDevice: Int64 = 60_000
    /// After how long a push is tried again whose credentials are refused, in milliseconds.
    package static let pauseWithoutCredentials = ApplicationStops.pause

    /// What happens next, for people.
    package var explanation: String {
        switch self {
        case .accept: "APNs has it; whether the device shows it, APNs does not say"
        case .retire: "the token is gone: a device that registered before is retired"
        case .tryOtherEnvironment: "the other environment is tried once; when it refuses, too, the token is gone"
        case .refuseDevice: "not sent again; the device stays registered: its token is of another app or kind"
        case .refuse: "not sent again: the push must be corrected"
        case .retireBroadcastChannel: "the broadcast channel is gone: its registration is retired"
        case .renewToken: "sent once more with a new provider token, on another connection"
        case .keepToken: "sent again with the same provider token, on another connection"
        case .reconnect: "sent again on another connection"
        case .stop: "nothing is sent for the application until its credentials are corrected"
        case .delayDevice: "sent again later; other devices are not concerned"
        case .retry: "sent again later"
        }
    }
}
