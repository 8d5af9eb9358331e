/// What a person has allowed an app on a device: `UNAuthorizationStatus`.
public enum AuthorizationStatus: String, CaseIterable, Sendable, Hashable {
    /// Not asked yet.
    case notDetermined
    /// No notifications.
    case denied
    /// Notifications, as far as the settings allow them.
    case authorized
    /// Notifications that arrive quietly, in the history only.
    case provisional
    /// Notifications for a limited time, to an App Clip.
    case ephemeral
}
