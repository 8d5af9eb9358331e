import HTTPTypes
import NotificationModel
import ServiceHTTP

extension Problem {
    /// Nothing is known to be on the broker; the same call is safe to repeat.
    static let unavailable = Problem(
        .serviceUnavailable,
        .unavailable,
        "The broker did not acknowledge in time. Repeat the call: a notification replaces the one of its identifier, and an "
            + "event is recognised by its source and id.",
        headers: [.retryAfter: "5"]
    )
}
