import NotificationModel

/// How often work may begin: a token bucket, which has `burst` tokens at first and gets `perSecond` of them in a second.
package struct WorkRate: Sendable {
    /// In nanoseconds.
    private let interval: Int64
    /// How far before its turn work may begin, in nanoseconds.
    private let tolerance: Int64
    /// When the bucket will be full again, in nanoseconds since `origin`: a stored instant would make the size of this
    /// value known only at run time.
    private var full = Int64.min
    private static let origin = ContinuousClock.now

    /// - Parameters:
    ///   - perSecond: more than 0.
    ///   - burst: at least 1.
    package init(perSecond: Double, burst: Int) {
        interval = Int64(max(1, min(1e15, 1_000_000_000 / perSecond)))
        tolerance = interval * Int64(max(1, min(1_000_000, burst)) - 1)
    }

    /// Takes a token if there is one.
    package mutating func take(at now: ContinuousClock.Instant) -> Bool {
        let now = Self.nanoseconds(now)
        let turn = max(full, now)
        guard turn - now <= tolerance else { return false }
        full = turn + interval
        return true
    }

    /// When there will be a token.
    package func next(at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        let wait = max(full, Self.nanoseconds(now)) - tolerance - Self.nanoseconds(now)
        return now + .nanoseconds(max(0, wait))
    }

    private static func nanoseconds(_ instant: ContinuousClock.Instant) -> Int64 { (instant - origin).nanoseconds }
}
