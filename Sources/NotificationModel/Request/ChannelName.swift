/// How notifications leave the consumer service: the values of `channel` in requests, rules and settings.
public enum ChannelName: String, CaseIterable, Hashable, Sendable, Codable {
    /// In the `delivered` event, for a gateway of the user.
    case events
    /// As signed POSTs to one URL.
    case webhook
    /// To nobody, as a channel that sends would: for trying out pipelines and for load tests.
    case test
    /// To each of the recipient's devices by the channel of its platform.
    case devices
    /// To the recipient's Apple devices, by the Apple Push Notification service.
    case apns
    /// To the recipient's Android devices, by Firebase Cloud Messaging.
    case fcm
    /// To the recipient's browsers and apps with UnifiedPush, by Web Push.
    case webpush

    /// The platform whose devices it reaches; nil for a channel that does not reach devices of one platform.
    public var platform: String? {
        switch self {
        case .apns: "apns"
        case .fcm: "fcm"
        case .webpush: PushSubscription.platform
        case .events, .webhook, .test, .devices: nil
        }
    }
}
