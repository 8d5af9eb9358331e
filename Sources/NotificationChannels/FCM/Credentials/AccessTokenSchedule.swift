/// When a service account needs another access token, and what a push does meanwhile. A value: its owner provides the time, asks for
/// the token and keeps it.
///
/// Times are milliseconds of a wall clock. A token is renewed ahead, after five sixths of its life (50 minutes of an hour), by one
/// request at a time; until it expires the former one is used.
struct AccessTokenSchedule: Hashable, Sendable {
    /// A token that expires within this time may expire on its way.
    static let margin: Int64 = 10_000
    /// The pause after a first failure that may pass; twice as long after each further one.
    static let firstPause: Int64 = 1000
    static let longestPause: Int64 = 60_000

    /// What a push does.
    enum Step: Hashable, Sendable {
        /// It uses the token.
        case use
        /// It uses the token, and its owner asks for the next one.
        case useAndRenew
        /// It waits for the token; with true its owner asks for it.
        case wait(begins: Bool)
        /// The last request has failed; the next one may begin after that many milliseconds.
        case refused(TokenFailure, pause: Int64)
    }

    private struct Issue: Hashable, Sendable {
        var renewal: Int64
        var expiration: Int64
    }

    private struct Failure: Hashable, Sendable {
        var failure: TokenFailure
        var until: Int64
    }

    private var issue: Issue?
    private var isAsking = false
    private var failure: Failure?
    private var failures = 0

    /// What a push does now.
    mutating func step(at now: Int64) -> Step {
        let isUsable = issue.map { now < $0.expiration - Self.margin } ?? false
        let isDue = issue.map { now >= $0.renewal } ?? true
        let pause = failure.map { $0.until - now } ?? 0
        if isUsable {
            guard isDue, !isAsking, pause <= 0 else { return .use }
            isAsking = true
            return .useAndRenew
        }
        if isAsking { return .wait(begins: false) }
        if let failure, pause > 0 { return .refused(failure.failure, pause: pause) }
        isAsking = true
        return .wait(begins: true)
    }

    /// A token has come.
    ///
    /// - Parameter lifetime: in milliseconds, more than 0.
    mutating func obtained(lifetime: Int64, at now: Int64) {
        (isAsking, failure, failures) = (false, nil, 0)
        issue = Issue(renewal: now + lifetime / 6 * 5, expiration: now + lifetime)
    }

    /// None has come.
    mutating func failed(_ reason: TokenFailure, at now: Int64) {
        isAsking = false
        failures += 1
        let doubled = Self.firstPause << min(failures - 1, 6)
        let pause =
            switch reason {
            // An operator must act: the pushes try once a minute.
            case .refused: ApplicationStops.pause
            case .unavailable(_, let retryAfter): retryAfter ?? min(Self.longestPause, doubled)
            }
        failure = Failure(failure: reason, until: now + pause)
    }

    /// Milliseconds until a request that failed may be repeated.
    func pause(at now: Int64) -> Int64 { max(0, (failure?.until ?? now) - now) }

    /// The service has refused the token: it is not used any more.
    mutating func discard() { issue = nil }

    /// The credentials were read again: the next push may ask at once.
    mutating func tryAgain() { failure = nil }
}
