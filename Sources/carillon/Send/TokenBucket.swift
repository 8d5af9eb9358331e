/// An even rate limit: it starts with one token and holds at most a twentieth of a second's worth, so that no burst
/// follows a pause.
struct TokenBucket: Sendable {
    private let perSecond: Double
    private let capacity: Double
    private var tokens = 1.0
    private var last: ContinuousClock.Instant

    /// - Parameters:
    ///   - perSecond: More than 0.
    ///   - now: The caller's clock, as in every call.
    init(perSecond: Double, now: ContinuousClock.Instant) {
        self.perSecond = perSecond
        capacity = max(1, perSecond / 20)
        last = now
    }

    /// Takes a token.
    ///
    /// - Returns: Nil if there was one, else how long to wait for it.
    mutating func take(at now: ContinuousClock.Instant) -> Duration? {
        if now > last {
            tokens = min(capacity, tokens + (now - last) / .seconds(1) * perSecond)
            last = now
        }
        guard tokens < 1 else {
            tokens -= 1
            return nil
        }
        // Rounded up, or the wait could end just before the token is available.
        return .nanoseconds(Int64(((1 - tokens) / perSecond * 1e9).rounded(.up)))
    }
}
