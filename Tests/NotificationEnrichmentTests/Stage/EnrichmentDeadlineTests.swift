import NotificationModel
import OutboundHTTP
import Synchronization
import Testing

@testable import NotificationEnrichment

@Suite("Deadlines and budgets of enrichment")
struct EnrichmentDeadlineTests {
    private let time = StageTime()

    /// Updates the draft, lets time pass, and goes on until it is cancelled.
    private func stuck(_ name: String = "stuck", updating: Bool = true, for duration: Duration) -> ScriptedEnricher {
        ScriptedEnricher(name) { [time] draft, _ in
            if updating { draft.update { $0.content.subtitle = "half" } }
            await time.pass(duration)
            await untilCancelled()
            draft.update { $0.content.subtitle = "cancelled" }
            return .failed(EnrichmentFailure(code: "cancelled", detail: ""))
        }
    }

    private func run(_ chain: String, _ enrichers: [any Enricher]) async throws -> EnrichmentResult {
        try await Sample.run(chain, enrichers, Sample.content, time)
    }

    @Test("when the deadline passes in the middle of an enricher, its last update is delivered")
    func deadlineInTheMiddle() async throws {
        let enrichers = [ScriptedEnricher.marking("a"), stuck(for: .seconds(10)), ScriptedEnricher.marking("b")]
        let result = try await run("a; stuck; b", enrichers)
        #expect(result.content?.body == "text a")
        #expect(result.content?.subtitle == "half", "what the cancellation brought about does not count")
        #expect(result.summary.content == .bestAttempt)
        #expect(result.summary.duration == .seconds(10))
        #expect(result.steps == ["a: applied", "stuck: timed-out (deadline)", "b: skipped (deadline)"])
    }

    @Test("when the deadline passes before anything came, the original is delivered")
    func nothingCame() async throws {
        let result = try await run("stuck", [stuck(updating: false, for: .seconds(10))])
        #expect(result.verdict == .original)
        #expect(result.steps == ["stuck: timed-out (deadline)"])
    }

    @Test("a budget ends its step only, and the chain goes on")
    func budget() async throws {
        let enrichers = [stuck(for: .seconds(2)), ScriptedEnricher.marking("b")]
        let result = try await run("stuck budget=2s; b", enrichers)
        #expect(result.content?.subtitle == "half")
        #expect(result.content?.body == "text b")
        #expect(result.steps == ["stuck: timed-out (budget)", "b: applied"])
        #expect(result.summary.enrichers.first?.duration == .seconds(2))
    }

    @Test("the deadline cuts a budget that is longer")
    func longBudget() async throws {
        let result = try await run("stuck budget=60s", [stuck(for: .seconds(10))])
        #expect(result.steps == ["stuck: timed-out (deadline)"])
    }

    @Test("enrichers see the deadline of their step")
    func stepDeadline() async throws {
        let start = time.start
        let looking = ScriptedEnricher("looking") { draft, input in
            draft.update { $0.content.subtitle = "\(input.deadline - start)" }
            return .applied
        }
        #expect(try await run("looking budget=3s", [looking]).content?.subtitle == "\(Duration.seconds(3))")
        #expect(try await run("looking", [looking]).content?.subtitle == "\(Duration.seconds(10))")
    }

    @Test(
        "the policy of a step holds when its time is over, and when the deadline leaves it none",
        arguments: [
            ("stuck on-failure=original; b", "original"),
            ("stuck on-failure=do-not-deliver; b", "deadline"),
            ("stuck; b on-failure=do-not-deliver", "deadline"),
            ("stuck; b on-failure=original; b on-failure=do-not-deliver", "original"),
            ("stuck budget=1s on-failure=do-not-deliver; b", "budget"),
        ]
    )
    func policies(chain: String, expected: String) async throws {
        let result = try await run(chain, [stuck(for: .seconds(10)), ScriptedEnricher.marking("b")])
        #expect(result.verdict == (expected == "original" ? .original : .doNotDeliver(reason: expected)))
    }

    @Test("the stage does not wait for an enricher that ignores its cancellation, and its late result changes nothing")
    func lateResult() async throws {
        let (release, updated) = (Signal(), Signal())
        let deaf = ScriptedEnricher("deaf") { [time] draft, _ in
            draft.update { $0.content.subtitle = "in time" }
            await time.pass(.seconds(1))
            await release.wait()
            draft.update { $0.content.subtitle = "late" }
            #expect(draft.current.content.subtitle == "in time")
            updated.give()
            return .applied
        }
        let result = try await run("deaf budget=1s; b", [deaf, ScriptedEnricher.marking("b")])
        release.give()
        await updated.wait()
        #expect(result.content?.subtitle == "in time")
        #expect(result.steps == ["deaf: timed-out (budget)", "b: applied"])
    }

    @Test("a deadline that has passed at the start leaves the original, and no enricher begins")
    func passedAlready() async throws {
        let stage = try EnrichmentStage(
            chains: EnrichmentChains(standard: try EnrichmentChain(text: "untouched")),
            enrichers: [
                ScriptedEnricher("untouched") { _, _ in
                    Issue.record("it ran")
                    return .applied
                }
            ],
            clock: time.clock
        )
        var input = Sample.input(at: time)
        input.deadline = time.start
        let result = await stage.run(input)
        #expect(result.verdict == .original)
        #expect(result.steps == ["untouched: skipped (deadline)"])
    }

    @Test("cancelling the stage cancels its enricher and ends the chain with what it has")
    func cancellation() async throws {
        let (started, stopped) = (Signal(), Signal())
        let waiting = ScriptedEnricher("waiting") { draft, _ in
            draft.update { $0.content.subtitle = "half" }
            started.give()
            await untilCancelled()
            stopped.give()
            return .applied
        }
        let run = Task { try await self.run("waiting; b", [waiting, ScriptedEnricher.marking("b")]) }
        await started.wait()
        run.cancel()
        let result = try await run.value
        await stopped.wait()
        #expect(result.content?.subtitle == "half")
        #expect(result.content?.body == "text")
        #expect(result.steps == ["waiting: timed-out (cancelled)", "b: skipped (cancelled)"])
    }

    @Test("work that ends in time gives its value, and its timer is cancelled")
    func workInTime() async {
        let stopped = Signal()
        let ending = await TimedWork.run(
            within: .seconds(1),
            sleep: { _ in
                await untilCancelled()
                stopped.give()
            }
        ) { 7 }
        await stopped.wait()
        guard case .finished(7) = ending else {
            Issue.record("\(ending)")
            return
        }
    }
}
