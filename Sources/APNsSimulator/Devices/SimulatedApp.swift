import NotificationModel

/// An app on a device: what it shows, and what it does with pushes.
struct SimulatedApp: Sendable {
    /// Further ones push out the oldest.
    static let shownNotifications = 1_000

    /// By identifier.
    private var notifications: [String: ShownNotification] = [:]
    private var count = 0
    /// The number on its icon; 0 is none.
    var badge: Int64 = 0
    /// Whether the person has closed it: the system gives it no background pushes then.
    var isForceQuit = false

    /// In the order in which they were shown.
    var shown: [ShownNotification] { notifications.values.sorted { $0.position < $1.position } }

    /// Shows an alert. One with the identifier of a shown one replaces it, and moves to the top.
    mutating func show(_ push: Push, at now: Timestamp) -> ReceivedPush.Effect {
        if let badge = push.facts.badge { self.badge = max(badge, 0) }
        guard push.facts.hasAlert else { return .handed }
        count += 1
        let identifier = push.headers.collapseID ?? push.id
        let old = notifications.updateValue(
            ShownNotification(
                identifier: identifier,
                id: push.id,
                payload: push.payload,
                shownAt: now,
                position: count,
                sequence: push.facts.carillon?.sequence
            ),
            forKey: identifier
        )
        if notifications.count > Self.shownNotifications,
            let oldest = notifications.values.min(by: { $0.position < $1.position })
        {
            notifications[oldest.identifier] = nil
        }
        return old == nil ? .shown : .replaced
    }

    /// The person takes a notification away, or opens it.
    ///
    /// - Parameter id: Only if it is from this push; nil for any.
    /// - Returns: False when it is not shown.
    mutating func dismiss(_ identifier: String, from id: String?) -> Bool {
        guard let shown = notifications[identifier], id == nil || shown.id == id else { return false }
        notifications[identifier] = nil
        return true
    }

    /// Runs the app in the background. It removes what Carillon tells it to.
    mutating func run(_ push: Push) -> ReceivedPush.Effect {
        guard !isForceQuit else { return .ignored("the person has closed the app") }
        guard let removals = push.facts.carillon?.removals, !removals.isEmpty else { return .handed }
        var removed = 0
        for (identifier, sequence) in removals {
            // What was delivered after the removal stays.
            guard let shown = notifications[identifier], shown.sequence ?? "" <= sequence else { continue }
            notifications[identifier] = nil
            removed += 1
        }
        return .removed(removed)
    }
}
