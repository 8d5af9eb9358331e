/// The push types of APNs: all values of `apns-push-type`.
public enum PushType: String, CaseIterable, Sendable, Hashable {
    case alert, background, complication, controls, fileprovider, liveactivity, location, mdm, pushtotalk, voip, widgets

    /// What follows the bundle identifier in `apns-topic`. The topic of `mdm` is that of a certificate, without one.
    public var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .complication: ".complication"
        case .controls: ".push-type.controls"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushtotalk: ".voip-ptt"
        case .voip: ".voip"
        case .widgets: ".push-type.widgets"
        }
    }

    /// Bytes that a payload may have.
    public var payloadBytes: Int { self == .voip ? 5_120 : 4_096 }

    /// The bundle identifier of a topic: the topic without the suffix of any push type.
    static func bundleIdentifier(of topic: String) -> String {
        for type in allCases where !type.topicSuffix.isEmpty && topic.hasSuffix(type.topicSuffix) {
            return String(topic.dropLast(type.topicSuffix.count))
        }
        return topic
    }

    /// The push type that the suffix of a topic stands for; nil for a topic without a suffix.
    static func ofSuffix(_ topic: String) -> PushType? {
        allCases.first { !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix) }
    }
}

/// The values of `apns-priority`.
public enum PushPriority: Int, CaseIterable, Sendable, Hashable {
    /// By the device's power, and never waking it.
    case lowest = 1
    /// By the device's power.
    case conserving = 5
    /// At once; also when the header is missing.
    case immediate = 10
}
