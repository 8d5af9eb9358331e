import NotificationDelivery
import NotificationModel
package import ServiceSupport

/// When a temporarily failed send is retried.
///
/// The jitter of a pause follows from the send and the attempt: a replay decides the same, and sends that failed
/// together are not repeated together.
package struct RetryPolicy: Sendable {
    /// The pause before the second attempt, in milliseconds; each further pause is twice as long. Jitter shortens a
    /// pause by up to a half.
    var firstPause: Int64 = 1000
    /// The longest pause, in milliseconds.
    var longestPause: Int64 = 5 * 60 * 1000
    /// A longer pause is not granted to the channel, in milliseconds. Jitter lengthens what it requests by up to a
    /// quarter.
    package var longestRequest: Int64 = 60 * 60 * 1000
    /// The maximum number of attempts, including the first; after the last one the notification has `failed` as
    /// `gave-up`.
    var attempts = 1000
    /// No attempt begins so many milliseconds after the first one.
    var age: Int64 = 24 * 60 * 60 * 1000

    package init() {}

    /// The pause after a failed attempt, in milliseconds; nil when it was the last one.
    ///
    /// - Parameters:
    ///   - attempt: from 1; 0 when none was tried.
    ///   - id: of the operation, for the jitter.
    ///   - spent: since the begin of the first attempt, in milliseconds.
    ///   - request: the pause requested by the channel.
    func pause(after attempt: Int, of id: UUIDValue, spent: Int64, request: Int64?) -> Int64? {
        guard attempt < attempts else { return nil }
        let share = Double(id.draw("retry \(attempt)") >> 11) / Double(1 << 53)
        let own = Double(min(longestPause, firstPause << Int64(min(max(attempt, 1) - 1, 30))))
        let requested = Double(min(longestRequest, max(0, request ?? 0)))
        let pause = Int64(max(own * (1 - share / 2), requested * (1 + share / 4)))
        return spent + pause < age ? pause : nil
    }
}

extension RetryPolicy {
    /// Reads `retry.*`. Problems are recorded in `settings`.
    package init(settings: inout ServiceSettings) {
        attempts = settings.int(
            "retry.attempts",
            default: attempts,
            in: 1...1_000_000,
            about: "Attempts at one send; after the last one the notification has `failed` as `gave-up`."
        )
        age =
            settings.duration(
                "retry.age",
                default: .milliseconds(age),
                in: .zero ... .seconds(30 * 24 * 3600),
                about: "A send is given up when its next attempt would begin so long after the first one."
            ).milliseconds
        firstPause =
            settings.duration(
                "retry.first-pause",
                default: .milliseconds(firstPause),
                in: .milliseconds(10) ... .seconds(3600),
                about: """
                    The pause before the second attempt; each further pause is twice as long. Jitter shortens pauses by up \
                    to a half.
                    """
            ).milliseconds
        longestPause =
            settings.duration(
                "retry.longest-pause",
                default: .milliseconds(longestPause),
                in: .milliseconds(10) ... .seconds(24 * 3600),
                about: "The longest pause between two attempts that the channel did not request."
            ).milliseconds
        longestRequest =
            settings.duration(
                "retry.longest-request",
                default: .milliseconds(longestRequest),
                in: .zero ... .seconds(24 * 3600),
                about: """
                    The longest pause that the channel may request, as a webhook does with `Retry-After`. Jitter lengthens \
                    it by up to a quarter.
                    """
            ).milliseconds
        longestPause = max(firstPause, longestPause)
    }
}
