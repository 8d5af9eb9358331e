/// When a temporarily failed send is retried.
struct RetryPolicy: Sendable {
    /// The pause before the second attempt, in milliseconds; each further pause is twice as long.
    var firstPause: Int64 = 1000
    /// The longest pause, in milliseconds.
    var longestPause: Int64 = 5 * 60 * 1000
    /// The maximum number of attempts, including the first; after the last one the notification has `failed` as
    /// `gave-up`.
    var attempts = 12

    /// The pause after a failed attempt, in milliseconds; nil when it was the last one.
    ///
    /// - Parameters:
    ///   - attempt: from 1.
    ///   - asked: the pause requested by the channel, honored up to the longest pause.
    func pause(after attempt: Int, asked: Int64?) -> Int64? {
        guard attempt < attempts else { return nil }
        let own = min(longestPause, firstPause << Int64(min(attempt - 1, 30)))
        return min(longestPause, max(own, asked ?? 0))
    }
}
