import NotificationModel

/// The names of a message's `data`: those that FCM keeps for itself, and Carillon's own, get a prefix.
enum FCMDataKey {
    /// Carillon's own member: JSON.
    static let own = "carillon"
    /// What reserved names are put behind; also names that begin like this, so that no two become one.
    static let prefix = "userInfo."

    /// The name under which a member of `userInfo` is sent.
    static func name(of member: String) -> String { isReserved(member) ? prefix + member : member }

    /// `from` and `message_type`, and what begins with `google` or `gcm`: FCM refuses them, or the app never sees them.
    static func isReserved(_ name: String) -> Bool {
        ["from", "message_type", "collapse_key", own].contains { $0.hasSameUTF8(as: name) }
            || ["google", "gcm", prefix].contains { name.utf8.starts(with: $0.utf8) }
    }
}
