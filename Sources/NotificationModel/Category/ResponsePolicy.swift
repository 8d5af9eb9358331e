/// What becomes of a response and of the notification that it answers, as the options of a content extension.
public enum ResponsePolicy: String, CaseIterable, Sendable, Hashable {
    /// The notification is dismissed and the response passed on (`dismissAndForwardAction`).
    case forward
    /// The notification is dismissed and the response answered here (`dismiss`).
    case dismiss
    /// The notification stays and the response is answered here (`doNotDismiss`).
    case keep
}
