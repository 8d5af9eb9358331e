import NotificationEnrichment
import NotificationModel
import OutboundHTTP
import Synchronization

/// What a fetch did, and what came of it.
struct MediaReport: Sendable, Hashable {
    struct Step: Sendable, Hashable {
        var step: FetchStep
        /// Since the beginning of the fetch.
        var after: Duration
    }

    enum Outcome: Sendable, Hashable {
        /// - Parameter file: Where it stays; nil when it is removed at the end.
        case fetched(FetchedMedia, file: String?)
        case refused(OutboundFailure)
        /// The line is no URL.
        case invalid(ModelError)
    }

    /// The number of the line, from 1; nil for an argument.
    var line: Int?
    /// As given; nil for a line that is none.
    var url: String?
    var steps: [Step] = []
    var outcome: Outcome
}

/// Records the steps of a fetch.
final class StepRecorder: Sendable {
    /// A fetch has fewer, unless it asks for the same medium again and again.
    private static let mostSteps = 100

    private let begin: ContinuousClock.Instant
    private let now: @Sendable () -> ContinuousClock.Instant
    private let recorded = Mutex<[MediaReport.Step]>([])

    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { (begin, self.now) = (now(), now) }

    var steps: [MediaReport.Step] { recorded.withLock { $0 } }

    func record(_ step: FetchStep) {
        // It is the outcome.
        if case .refused = step { return }
        let after = now() - begin
        recorded.withLock { steps in
            if steps.count < Self.mostSteps { steps.append(.init(step: step, after: after)) }
        }
    }
}

/// How many media had which end.
struct MediaSummary: Sendable, Hashable {
    /// Not allowed, or not as they must be.
    var refused = 0
    /// No server answered in time.
    var unanswered = 0
    /// Lines without a URL.
    var invalid = 0

    private static let withoutAnswer: Set<OutboundFailure.Code> = [.timedOut, .unresolved, .notConnected]

    mutating func add(_ outcome: MediaReport.Outcome) {
        switch outcome {
        case .fetched: break
        case .refused(let failure):
            let isAnswered =
                OutboundFailure.Code(rawValue: failure.code).map { !Self.withoutAnswer.contains($0) } ?? true
            if isAnswered { refused += 1 } else { unanswered += 1 }
        case .invalid: invalid += 1
        }
    }

    /// A medium that is refused takes precedence over one without an answer, that over an invalid line.
    var status: Int32 {
        if refused > 0 { return ExitStatus.failed }
        if unanswered > 0 { return ExitStatus.unavailable }
        return invalid > 0 ? ExitStatus.badData : 0
    }
}
