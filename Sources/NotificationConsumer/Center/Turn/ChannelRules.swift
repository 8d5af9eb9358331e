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
    // A member for each, because the rules are asked in every turn.
    private let events: Handover
    private let webhook: Handover
    private let test: Handover

    /// - Parameters:
    ///   - standard: belongs to the channels that the service has.
    ///   - others: what else notifications may name.
    init(_ standard: ChannelName = .events, and others: Set<ChannelName> = []) {
        let all = others.union([standard])
        func handover(_ channel: ChannelName) -> Handover { all.contains(channel) ? .bySend : .unavailable }
        self.standard = standard
        hasSends = all != [.events]
        events = all.contains(.events) ? .inEvent : .unavailable
        (webhook, test) = (handover(.webhook), handover(.test))
    }

    /// - Parameter channel: as the request names it.
    func handover(of channel: ChannelName?) -> Handover {
        switch channel ?? standard {
        case .events: events
        case .webhook: webhook
        case .test: test
        }
    }

    /// Whether a channel sends it.
    func isSent(_ channel: ChannelName?) -> Bool { handover(of: channel) == .bySend }

    /// The channel of a notification.
    func name(of channel: ChannelName?) -> ChannelName { channel ?? standard }

    /// How the targets of a channel are grouped; nil for one that sends nothing.
    var grouping: (ChannelName) -> Screen.Grouping? {
        { [self] channel in isSent(channel) ? .all : nil }
    }

    /// Whether two notifications leave in the same way.
    func areSame(_ first: ChannelName?, _ second: ChannelName?) -> Bool {
        first ?? standard == second ?? standard
    }
}
