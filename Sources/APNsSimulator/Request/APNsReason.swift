/// Why APNs refuses a request: the `reason` in the body of its answer, as Apple documents it for pushes and for channels
/// of broadcasts.
public enum APNsReason: String, CaseIterable, Sendable, Hashable {
    // 400
    case badChannelID = "BadChannelId"
    case badCollapseID = "BadCollapseId"
    case badDate = "BadDate"
    case badDeviceToken = "BadDeviceToken"
    case badExpirationDate = "BadExpirationDate"
    case badMessageID = "BadMessageId"
    case badPriority = "BadPriority"
    case badTopic = "BadTopic"
    case cannotCreateChannelConfig = "CannotCreateChannelConfig"
    case channelNotRegistered = "ChannelNotRegistered"
    case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
    case duplicateHeaders = "DuplicateHeaders"
    case featureNotEnabled = "FeatureNotEnabled"
    case idleTimeout = "IdleTimeout"
    case invalidPushType = "InvalidPushType"
    case missingChannelID = "MissingChannelId"
    case missingDeviceToken = "MissingDeviceToken"
    case missingPushType = "MissingPushType"
    case missingTopic = "MissingTopic"
    case payloadEmpty = "PayloadEmpty"
    case topicDisallowed = "TopicDisallowed"
    // 403
    case badCertificate = "BadCertificate"
    case badCertificateEnvironment = "BadCertificateEnvironment"
    /// As Apple documents it.
    case badEnvironmentKeyID = "BadEnvironmentKeyIdInToken"
    /// As it was seen in answers.
    case badEnvironmentKey = "BadEnvironmentKeyInToken"
    case expiredProviderToken = "ExpiredProviderToken"
    case forbidden = "Forbidden"
    case invalidProviderToken = "InvalidProviderToken"
    case missingProviderToken = "MissingProviderToken"
    case unrelatedKeyID = "UnrelatedKeyIdInToken"
    // 404 to 413
    case badPath = "BadPath"
    case methodNotAllowed = "MethodNotAllowed"
    case expiredToken = "ExpiredToken"
    case unregistered = "Unregistered"
    case payloadTooLarge = "PayloadTooLarge"
    // 429
    case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
    case tooManyRequests = "TooManyRequests"
    // 500 and 503
    case internalServerError = "InternalServerError"
    case serviceUnavailable = "ServiceUnavailable"
    case shutdown = "Shutdown"

    /// The HTTP status that it comes with.
    public var status: Int {
        switch self {
        case .badChannelID, .badCollapseID, .badDate, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority,
            .badTopic, .cannotCreateChannelConfig, .channelNotRegistered, .deviceTokenNotForTopic, .duplicateHeaders,
            .featureNotEnabled, .idleTimeout, .invalidPushType, .missingChannelID, .missingDeviceToken,
            .missingPushType, .missingTopic, .payloadEmpty, .topicDisallowed:
            400
        case .badCertificate, .badCertificateEnvironment, .badEnvironmentKeyID, .badEnvironmentKey,
            .expiredProviderToken, .forbidden, .invalidProviderToken, .missingProviderToken, .unrelatedKeyID:
            403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .expiredToken, .unregistered: 410
        case .payloadTooLarge: 413
        case .tooManyProviderTokenUpdates, .tooManyRequests: 429
        case .internalServerError: 500
        case .serviceUnavailable, .shutdown: 503
        }
    }
}
