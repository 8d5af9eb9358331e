import Testing

@testable import Kafka

@Suite struct KafkaTransactionPolicyTests {
    private typealias Policy = KafkaTransactionPolicy
    private static let fatal = KafkaError(code: .fenced, reason: "fenced", isFatal: true)
    private static let abortable = KafkaError(code: .timedOut, reason: "failed", requiresAbort: true)
    private static let retriable = KafkaError(code: .timedOut, reason: "later", isRetriable: true)
    private static let other = KafkaError(code: .state, reason: "not now")
    private static let full = KafkaError(code: .queueFull, reason: "full", isRetriable: true)

    @Test(
        "An error and a call give one decision",
        arguments: [
            (fatal, [.recreate, .recreate, .recreate, .recreate, .recreate, .recreate]),
            (abortable, [.recreate, .abort, .abort, .abort, .abort, .recreate]),
            (retriable, [.repeatCall, .repeatCall, .abort, .repeatCall, .repeatCall, .repeatCall]),
            (other, [.recreate, .recreate, .abort, .abort, .recreate, .recreate]),
            (full, [.repeatCall, .repeatCall, .repeatCall, .repeatCall, .repeatCall, .repeatCall]),
        ] as [(KafkaError, [KafkaTransactionPolicy.Decision])]
    )
    func decisions(error: KafkaError, expected: [KafkaTransactionPolicy.Decision]) {
        let made = KafkaTransactionCall.allCases.map { Policy.decision(after: error, in: $0) }
        #expect(made == expected, "\(error)")
    }

    @Test func `a fatal error is never repeated or aborted, with any other flags`() {
        let error = KafkaError(code: .fatal, reason: "x", isFatal: true, isRetriable: true, requiresAbort: true)
        for call in KafkaTransactionCall.allCases { #expect(Policy.decision(after: error, in: call) == .recreate) }
        let failed = KafkaError(code: .timedOut, reason: "x", isRetriable: true, requiresAbort: true)
        #expect(Policy.decision(after: failed, in: .commit) == .abort)
    }

    /// A clock that advances only in pauses and attempts.
    private struct Run {
        var now = ContinuousClock.Instant.now
        var attempts: [Duration] = []
        var pauses: [Duration] = []
    }

    private func run(
        _ call: KafkaTransactionCall,
        within time: Duration,
        each: Duration = .zero,
        errors: [KafkaError]
    ) -> (Run, KafkaTransactionFailure?) {
        var run = Run()
        var left = errors[...]
        do throws(KafkaTransactionFailure) {
            try Policy.perform(
                call,
                until: run.now.advanced(by: time),
                now: { run.now },
                pause: {
                    run.pauses.append($0)
                    run.now += $0
                },
                attempt: { time throws(KafkaError) in
                    run.attempts.append(time)
                    run.now += each
                    if let error = left.popFirst() { throw error }
                }
            )
            return (run, nil)
        } catch {
            return (run, error)
        }
    }

    @Test func `retriable errors are repeated with growing pauses until the call succeeds`() {
        let (run, failure) = run(.sendOffsets, within: .seconds(60), errors: Array(repeating: Self.retriable, count: 9))
        #expect(failure == nil)
        #expect(run.attempts.count == 10)
        #expect(run.attempts.first == .seconds(60))
        #expect(run.pauses == [20, 40, 80, 160, 320, 640, 1_000, 1_000, 1_000].map { .milliseconds($0) })
    }

    @Test(
        "After a timeout the call decides: the outcome of a commit is unknown",
        arguments: [
            (.initialize, .recreate), (.begin, .recreate), (.sendOffsets, .abort), (.commit, .recreate),
            (.abort, .recreate),
        ] as [(KafkaTransactionCall, KafkaTransactionPolicy.Decision)]
    )
    func deadline(call: KafkaTransactionCall, decision: KafkaTransactionPolicy.Decision) {
        let errors = Array(repeating: Self.retriable, count: 1_000)
        let (run, failure) = run(call, within: .seconds(1), each: .milliseconds(100), errors: errors)
        #expect(failure == KafkaTransactionFailure(error: Self.retriable, call: call, decision: decision))
        #expect(run.attempts.count > 2 && run.attempts.allSatisfy { $0 > .zero })
        // One attempt is made even without time for it.
        let (late, failed) = self.run(call, within: .seconds(-1), errors: errors)
        #expect(late.attempts == [.zero] && late.pauses.isEmpty)
        #expect(failed?.decision == decision)
        #expect((failed?.description.contains("outcome of the commit is unknown") == true) == (call == .commit))
    }

    @Test func `an error that cannot be repeated ends the call at the first attempt`() {
        for (error, decision) in [(Self.fatal, .recreate), (Self.abortable, .abort)]
            as [(KafkaError, KafkaTransactionPolicy.Decision)]
        {
            let (run, failure) = run(.commit, within: .seconds(60), errors: [error])
            #expect(run.attempts.count == 1 && run.pauses.isEmpty)
            #expect(failure == KafkaTransactionFailure(error: error, call: .commit, decision: decision))
        }
    }
}
