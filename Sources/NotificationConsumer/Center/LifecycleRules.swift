import NotificationModel

/// The settings of the notification lifecycle, equal for every turn of a partition.
struct LifecycleRules: Sendable {
    /// How long closed and delivered notifications are remembered, in milliseconds.
    var retention: Int64
    /// How notifications reach a device.
    var handover: Handover = .inEvent(channel: EventsChannel.name)
    var retry = RetryPolicy()
    /// The maximum bytes of content that fit events and entries.
    var contentBytes = Int.max

    /// How notifications are handed over.
    enum Handover: Sendable {
        /// The `delivered` event carries the notification and is the hand-over.
        case inEvent(channel: String)
        /// A channel sends the notification and answers later; the event reports the answer.
        case bySend(channel: String)
    }

    /// Notifications closed before this instant are forgotten.
    func rememberedSince(_ now: Timestamp) -> Timestamp { now.adding(milliseconds: -retention) }
}

extension LifecycleRules.Handover {
    var isBySend: Bool {
        if case .bySend = self { true } else { false }
    }

    var channel: String {
        switch self {
        case .inEvent(let channel), .bySend(let channel): channel
        }
    }
}
