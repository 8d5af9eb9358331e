import Synchronization
import Testing

/// The scenarios with processes: on the embedded broker, or on the cluster of `KAFKA_BOOTSTRAP_SERVERS`.
///
/// Scenarios that the stage cannot run are skipped, with the reason in the report; a run that skips all of them fails.
@Suite("Scenarios with processes", .countsScenarios)
struct ProcessScenarios {
    fileprivate static func play(_ scenario: Scenario) async throws {
        ScenarioCount.running?.add()
        let stage = try await ProcessStage()
        do {
            try await scenario.play(stage)
        } catch {
            try? await stage.end()
            throw error
        }
        try await stage.end()
    }

    /// Scenarios with several instances, one after the other: they mostly wait for sessions to expire.
    @Suite(.serialized)
    struct Instances {
        @Test("killed under load", .plays(.killUnderLoad))
        func killUnderLoad() async throws { try await play(.killUnderLoad) }

        @Test("one killed, one frozen", .plays(.oneKilledOneFrozen))
        func oneKilledOneFrozen() async throws { try await play(.oneKilledOneFrozen) }

        @Test("one joins under load", .plays(.joinUnderLoad))
        func joinUnderLoad() async throws { try await play(.joinUnderLoad) }
    }

    /// Scenarios with timers, topics and the broker.
    @Suite(.serialized)
    struct Topics {
        @Test("timers move at a shutdown", .plays(.handOver))
        func handOver() async throws { try await play(.handOver) }

        @Test("compaction", .plays(.compaction))
        func compaction() async throws { try await play(.compaction) }

        @Test("the broker restarts", .plays(.brokerRestart))
        func brokerRestart() async throws { try await play(.brokerRestart) }

        @Test("a reader that was away too long", .plays(.readerAwayTooLong))
        func readerAwayTooLong() async throws { try await play(.readerAwayTooLong) }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the scenario if the stage lacks a feature, and reports which.
    static func plays(_ scenario: Scenario) -> Self {
        let missing = scenario.needs.subtracting(ProcessStage.capabilities)
        let reasons = missing.map(ProcessStage.reason(against:)).sorted().joined(separator: "; ")
        return .disabled(if: !missing.isEmpty, "\(reasons): \(scenario.title)")
    }
}

/// How many scenarios a run has played.
final class ScenarioCount: Sendable {
    /// That of the suite that runs.
    @TaskLocal static var running: ScenarioCount?

    private let played = Atomic<Int>(0)

    func add() { played.add(1, ordering: .relaxed) }

    /// Counts for a suite, and fails when nothing was played.
    struct Counted: SuiteTrait, TestScoping {
        func provideScope(
            for test: Test,
            testCase: Test.Case?,
            performing function: @Sendable () async throws -> Void
        ) async throws {
            let count = ScenarioCount()
            try await ScenarioCount.$running.withValue(count) { try await function() }
            #expect(
                count.played.load(ordering: .relaxed) > 0,
                "no scenario was played: a run that tests nothing must not pass"
            )
        }
    }
}

extension Trait where Self == ScenarioCount.Counted {
    /// A run of the suite in which every scenario was skipped fails.
    static var countsScenarios: Self { .init() }
}
