/// Reads what older programs wrote: a `UILocalNotification`-style object, or an old APNs payload.
///
/// Both are pure functions: the same bytes give the same result, no clock is read.
public enum LegacyNotification {
    /// What a legacy object becomes; the caller adds the key.
    public struct Parts: Hashable, Sendable {
        /// What is shown.
        public var content: NotificationContent
        /// When.
        public var trigger: NotificationTrigger
    }
}
