import HTTPTypes
import NotificationModel
import ServiceHTTP

extension Problem {
    /// The broker has acknowledged nothing; the call is safe to repeat.
    static let unavailable = Problem(
        .serviceUnavailable,
        .unavailable,
        "The broker did not acknowledge in time. Repeat the call: a notification replaces the one with its identifier, and an "
            + "event is recognised by its source and id.",
        headers: [.retryAfter: "5"]
    )
}
