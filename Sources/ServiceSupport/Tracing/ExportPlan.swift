/// What follows the answer to an export, as "OTLP/HTTP Response" of the OpenTelemetry Protocol says: 429, 502, 503, 504 and
/// failures of the connection are tried again, with growing pauses or when the collector says; others are not.
struct ExportPlan {
    /// How a request ended.
    enum Answer {
        /// An answer, with its `retry-after`.
        case status(UInt, retryAfter: Duration?)
        /// Why there was none.
        case failure(String)
    }

    enum Step: Equatable {
        case done
        case retry(after: Duration)
        /// The spans are given up, and why.
        case giveUp(String)
    }

    /// All attempts together.
    static let longest = Duration.seconds(60)
    private static let longestPause = Duration.seconds(30)

    /// Before the next attempt, unless the collector says another one.
    private var pause = Duration.seconds(1)

    /// - Parameters:
    ///   - elapsed: since the first attempt began.
    ///   - jitter: from 0 to below 1.
    mutating func step(after answer: Answer, elapsed: Duration, jitter: Double) -> Step {
        var request: Duration?
        let why: String
        switch answer {
        case .status(200..<300, _): return .done
        case .status(let status, let retryAfter) where [429, 502, 503, 504].contains(status):
            (why, request) = ("status \(status)", retryAfter)
        case .status(let status, _): return .giveUp("status \(status)")
        case .failure(let failure): why = failure
        }
        // Half of it is random: instances must not come together.
        let next = request ?? pause / 2 + pause / 2 * jitter
        pause = min(Self.longestPause, pause * 2)
        return elapsed + next < Self.longest ? .retry(after: next) : .giveUp(why)
    }
}
