/// Keeps requests away from an endpoint that fails, until a single request has shown that it works again.
///
/// 1. Closed: every request passes. So many failures in a row open it.
/// 2. Open: no request passes until its pause has ended.
/// 3. Testing: the first request after the pause passes alone. If it succeeds the breaker closes, else it opens for
///    twice the pause.
///
/// A value: its owner provides the time, in milliseconds of a monotonic clock, and the jitter.
struct CircuitBreaker: Sendable {
    struct Limits: Sendable {
        /// The failures in a row that open it.
        var failures: Int
        /// The first pause, in milliseconds; twice as long after each failed test.
        var firstPause: Int64
        /// The longest pause that the endpoint did not request, in milliseconds.
        var longestPause: Int64
        /// The longest pause that the endpoint can request, in milliseconds: the breaker tests the endpoint at least so often.
        var longestRequest: Int64
    }

    /// Returned with the outcome of the request that it admitted.
    struct Pass: Hashable, Sendable {
        fileprivate var period: UInt64
    }

    enum Admission: Hashable, Sendable {
        case admitted(Pass)
        /// Not before so many milliseconds.
        case refused(retryAfter: Int64)
    }

    enum Outcome: Hashable, Sendable {
        /// The endpoint works.
        case success
        /// The endpoint fails, and may request a pause in milliseconds.
        case failure(retryAfter: Int64?)
        /// Nothing is known of the endpoint.
        case cancelled
    }

    enum Change: Hashable, Sendable {
        /// For so many milliseconds.
        case opened(pause: Int64)
        /// The test failed.
        case remainsOpen(pause: Int64)
        case closed
    }

    private enum State: Hashable, Sendable {
        case closed(failures: Int)
        case open(until: Int64, pause: Int64)
        case testing(pause: Int64)
    }

    let limits: Limits
    private var state = State.closed(failures: 0)
    /// Outcomes of requests of an earlier period do not count: they say nothing about the endpoint now.
    private var period: UInt64 = 0

    init(_ limits: Limits) { self.limits = limits }

    var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    mutating func admit(at now: Int64) -> Admission {
        switch state {
        case .closed: return .admitted(Pass(period: period))
        case .open(let until, _) where now < until: return .refused(retryAfter: until - now)
        case .testing: return .refused(retryAfter: limits.firstPause)
        case .open(_, let pause):
            period += 1
            state = .testing(pause: pause)
            return .admitted(Pass(period: period))
        }
    }

    /// - Parameter jitter: from 0 to below 1; lengthens a pause by up to a quarter, so that instances do not test the
    ///   endpoint at the same time.
    mutating func note(_ outcome: Outcome, of pass: Pass, at now: Int64, jitter: @autoclosure () -> Double) -> Change? {
        guard pass.period == period else { return nil }
        switch (state, outcome) {
        case (.closed, .success):
            state = .closed(failures: 0)
        case (.closed(let failures), .failure(let request)):
            guard failures + 1 >= limits.failures else {
                state = .closed(failures: failures + 1)
                break
            }
            return .opened(pause: open(limits.firstPause, request, now, jitter()))
        case (.testing, .success):
            period += 1
            state = .closed(failures: 0)
            return .closed
        case (.testing(let pause), .failure(let request)):
            return .remainsOpen(pause: open(min(limits.longestPause, pause * 2), request, now, jitter()))
        case (.testing(let pause), .cancelled):
            period += 1
            state = .open(until: now, pause: pause)
        case (.open, _), (.closed, .cancelled):
            break
        }
        return nil
    }

    /// The next request tests the endpoint, whatever pause it has requested.
    ///
    /// - Returns: false when the breaker is not open.
    mutating func testNext(at now: Int64) -> Bool {
        guard case .open = state else { return false }
        state = .open(until: now, pause: limits.firstPause)
        return true
    }

    private mutating func open(_ pause: Int64, _ request: Int64?, _ now: Int64, _ jitter: Double) -> Int64 {
        let bound = max(limits.longestRequest, limits.firstPause)
        let asked = max(pause, request ?? 0)
        let share = jitter / 4
        // At the bound the jitter can only shorten.
        let time =
            asked >= bound
            ? bound - Int64(Double(bound) * share) : min(bound, asked + Int64(Double(asked) * share))
        period += 1
        state = .open(until: now + time, pause: pause)
        return time
    }
}
