import NotificationModel
import NotificationState

/// The channels of the service, as the lifecycle needs them.
struct ChannelRules: Sendable {
    /// How a notification is handed over.
    enum Handover: Sendable {
        /// The `delivered` event carries the notification and is the hand-over.
        case inEvent
        /// A channel sends the notification and answers later; the event reports the answer.
        case bySend
        /// The service does not have the channel.
        case unavailable
    }

    /// For notifications that name no channel.
    let standard: ChannelName
    /// Whether the service has a channel that sends.
    let hasSends: Bool
    /// The channels of the platforms that the service reaches itself.
    let platforms: [ChannelName]
    // A member for each, because the rules are asked in every turn.
    private let events: Handover
    private let webhook: Handover
    private let test: Handover
    private let apns: Handover
    private let fcm: Handover
    private let webpush: Handover

    /// - Parameters:
    ///   - standard: belongs to the channels that the service has.
    ///   - others: what else notifications may name. ``ChannelName/devices`` reaches the platforms that are named beside it.
    init(_ standard: ChannelName = .events, and others: Set<ChannelName> = []) {
        let all = others.union([standard])
        func handover(_ channel: ChannelName) -> Handover { all.contains(channel) ? .bySend : .unavailable }
        self.standard = standard
        hasSends = all != [.events]
        platforms = ChannelName.allCases.filter { $0.platform != nil && all.contains($0) }
        events = all.contains(.events) ? .inEvent : .unavailable
        (webhook, test) = (handover(.webhook), handover(.test))
        (apns, fcm, webpush) = (handover(.apns), handover(.fcm), handover(.webpush))
    }

    /// - Parameter channel: as the request names it.
    func handover(of channel: ChannelName?) -> Handover {
        switch channel ?? standard {
        case .events: events
        case .webhook: webhook
        case .test: test
        case .devices: platforms.isEmpty ? .unavailable : .bySend
        case .apns: apns
        case .fcm: fcm
        case .webpush: webpush
        }
    }

    /// Whether a channel sends it.
    func isSent(_ channel: ChannelName?) -> Bool { handover(of: channel) == .bySend }

    /// The channel of a notification.
    func name(of channel: ChannelName?) -> ChannelName { channel ?? standard }

    // MARK: - Targets

    /// The channel of the targets of a notification. A device shows the same under a key whether the notification named its
    /// platform or all devices.
    func route(of channel: ChannelName?) -> ChannelName {
        let name = name(of: channel)
        return name.platform == nil ? name : .devices
    }

    /// How the targets of a route are grouped; nil for one that sends nothing.
    var grouping: (ChannelName) -> Screen.Grouping? {
        { [self] channel in
            guard isSent(channel) else { return nil }
            return reachesDevices(channel) ? .each : .all
        }
    }

    /// Whether two notifications leave in the same way.
    func areSame(_ first: ChannelName?, _ second: ChannelName?) -> Bool { route(of: first) == route(of: second) }

    // MARK: - Devices

    /// Whether the service reaches each device itself: without a registration nobody gets the notification.
    func reachesDevices(_ channel: ChannelName?) -> Bool { route(of: channel) == .devices }

    /// The channel that sends a notification to a device; nil when the service does not reach it, or the notification is not for
    /// its platform.
    ///
    /// - Parameters:
    ///   - channel: of the notification, or the route of the target.
    ///   - platform: of the device.
    func sender(of channel: ChannelName?, to platform: String) -> ChannelName? {
        let name = name(of: channel)
        guard reachesDevices(name) else { return name }
        return platforms.first { ($0 == name || name == .devices) && $0.platform == platform }
    }
}
