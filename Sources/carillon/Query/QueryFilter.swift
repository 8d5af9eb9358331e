import NotificationModel
import NotificationState

/// One notification that a recipient has, as `carillon query` selects and shows it.
struct QueriedNotification: Sendable, Hashable {
    /// The sets, with what is between them.
    enum State: String, CaseIterable, Sendable {
        case pending, sending, delivered
    }

    var state: State
    var key: NotificationKey
    /// When it is due, when its next attempt begins, or when it was delivered; nil for what has no time.
    var time: Timestamp?
    var category: String?
    /// That the request names; nil for the usual one.
    var channel: String?
    var requestID: RequestID

    /// All that an entry has: one that repeats can be pending and delivered.
    static func all(of entry: StateEntry, under key: NotificationKey) -> [QueriedNotification] {
        var found: [QueriedNotification] = []
        if let pending = entry.pending {
            found.append(
                QueriedNotification(
                    state: .pending,
                    key: key,
                    time: pending.due,
                    category: category(of: pending.content),
                    channel: pending.channel?.rawValue,
                    requestID: pending.requestID
                )
            )
        }
        if let handover = entry.handover {
            found.append(
                QueriedNotification(
                    state: .sending,
                    key: key,
                    time: entry.screen?.operations.compactMap(\.nextAttempt).min() ?? handover.start,
                    category: category(of: handover.content),
                    channel: handover.channel?.rawValue,
                    requestID: handover.showing.requestID
                )
            )
        }
        if let delivered = entry.delivered {
            let details = delivered.details
            found.append(
                QueriedNotification(
                    state: .delivered,
                    key: key,
                    time: delivered.at,
                    category: details?.content.flatMap(category) ?? details?.category?.identifier,
                    channel: delivered.channel?.rawValue,
                    requestID: delivered.requestID
                )
            )
        }
        return found
    }

    private static func category(of content: ArraySlice<UInt8>) -> String? {
        (try? JSONValue.parse(content))?["categoryIdentifier"]?.stringValue
    }
}

/// Which notifications are asked for.
struct QueryFilter: Sendable {
    /// As the query API has them: what is being sent counts as pending.
    var state: ListedNotification.State?
    var application: String?
    var recipient: String?
    var category: String?
    var channel: String?
    /// Only what is pending and due until then.
    var dueUntil: Timestamp?

    /// Whether a notification under the key can be one of them.
    func takes(_ key: NotificationKey) -> Bool {
        (application?.hasSameUTF8(as: key.application) ?? true) && (recipient?.hasSameUTF8(as: key.recipient) ?? true)
    }

    func takes(_ notification: QueriedNotification) -> Bool {
        if let state, (notification.state == .delivered) != (state == .delivered) { return false }
        if let category, notification.category?.hasSameUTF8(as: category) != true { return false }
        if let channel, notification.channel != channel { return false }
        guard let dueUntil else { return true }
        guard notification.state == .pending, let time = notification.time else { return false }
        return time <= dueUntil
    }
}
