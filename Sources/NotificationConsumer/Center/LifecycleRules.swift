import NotificationModel

/// The settings by which notifications live, the same for every turn of a partition.
struct LifecycleRules: Sendable {
    /// How long closed and delivered ones are remembered, in milliseconds.
    var retention: Int64
    /// How notifications reach a device.
    var handover: Handover = .inEvent(channel: EventsChannel.name)
    var retry = RetryPolicy()
    /// Bytes of content that events and entries have room for.
    var contentBytes = Int.max

    /// How notifications leave.
    enum Handover: Sendable {
        /// The `delivered` event carries the notification and is the hand-over.
        case inEvent(channel: String)
        /// A channel sends and answers later; the event reports its answer.
        case bySend(channel: String)
    }

    /// What was closed before it is forgotten.
    func horizon(_ now: Timestamp) -> Timestamp { now.adding(milliseconds: -retention) }
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
