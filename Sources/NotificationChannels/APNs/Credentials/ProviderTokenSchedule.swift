/// When a key needs another provider token. A value: its owner provides the time and signs.
///
/// Times are seconds since 1970. APNs refuses tokens that were issued more than an hour ago, or ahead, and a connection on which
/// they change more often than every 20 minutes. So the time of issue is rounded down to half an hour: all instances have
/// equal claims without talking to each other, and a token is good for 30 to 60 minutes when it is first used.
struct ProviderTokenSchedule: Hashable, Sendable {
    /// The times of issue are multiples of it.
    static let slot: Int64 = 30 * 60
    /// The shortest time between two tokens.
    static let pause: Int64 = 20 * 60
    /// A token of this age is replaced whatever the pause says.
    static let longestAge: Int64 = 55 * 60

    /// What `ExpiredProviderToken` leads to.
    enum Renewal: Hashable, Sendable {
        /// A new token, issued now. The connection that said so goes on refusing: another one is needed.
        case renewed
        /// The refused token is not used any more: try on another connection.
        case superseded
        /// The token was issued only just now: the clocks differ by more than APNs allows.
        case clockSkew
    }

    private struct Issue: Hashable, Sendable {
        /// `iat`.
        var time: Int64
        /// When it was made: later than `time`, or equal.
        var madeAt: Int64
        /// Because another one was refused.
        var isRenewal = false
    }

    private var current: Issue?
    /// Until then the token stays, because APNs said that it changes too often.
    private var heldUntil: Int64?

    /// The time of issue of the token to use.
    mutating func timeOfIssue(at now: Int64) -> Int64 {
        if let current, keeps(current, at: now) { return current.time }
        let new = Issue(time: now - now % Self.slot, madeAt: now)
        current = new
        return new.time
    }

    private func keeps(_ issue: Issue, at now: Int64) -> Bool {
        // The clock was set back, by more than it is corrected for.
        guard now > issue.madeAt - Self.pause else { return false }
        guard now - issue.time < Self.longestAge else { return false }
        if let heldUntil, now < heldUntil { return true }
        return now / Self.slot == issue.madeAt / Self.slot || now - issue.madeAt < Self.pause
    }

    /// APNs refused a token as expired.
    ///
    /// - Parameter refused: its time of issue.
    mutating func renew(refused: Int64, at now: Int64) -> Renewal {
        guard let current, current.time == refused else { return .superseded }
        // None can be younger.
        guard now > refused else { return .clockSkew }
        if current.isRenewal, now - current.madeAt < Self.slot { return .clockSkew }
        // As young as it can be: by a clock that is slow by up to an hour it may still be good.
        self.current = Issue(time: now, madeAt: now, isRenewal: true)
        return .renewed
    }

    /// APNs said that tokens change too often: the current one stays.
    mutating func hold(at now: Int64) { heldUntil = now + Self.pause }
}
