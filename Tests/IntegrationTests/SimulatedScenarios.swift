import CarillonSimulation
import Testing

/// The scenarios in the simulation, several times each, with different orders of concurrent events: no broker, no processes, no
/// waiting. This does not replace a run on a cluster.
@Suite("Simulated scenarios", .serialized)
struct SimulatedScenarios {
    private static let seeds: ClosedRange<UInt64> = 1...5

    private static func play(_ scenario: Scenario, _ setting: SimulatedStage.Setting) async throws {
        let stage = try SimulatedStage(setting)
        do {
            try await scenario.play(stage)
        } catch {
            try await stage.end()
            throw Failed(description: "\(scenario.title), \(setting): \(error)")
        }
        try await stage.end()
    }

    private struct Failed: Error, CustomStringConvertible {
        var description: String
    }

    @Test("played", arguments: Scenario.all, seeds)
    func exactlyOnce(scenario: Scenario, seed: UInt64) async throws {
        try await Self.play(scenario, .init(seed: seed))
    }

    @Test(
        "played without transactions",
        arguments: Scenario.all.filter { !$0.needs.contains(.transactions) },
        [1, 2] as [UInt64]
    )
    func atLeastOnce(scenario: Scenario, seed: UInt64) async throws {
        try await Self.play(scenario, .init(seed: seed, isExactlyOnce: false))
    }

    /// Each within so many seeds; the first of them pass without the bug.
    @Test(
        "a planted bug is found",
        arguments: [
            (.offsetsFirst, .killUnderLoad), (.markerBeforeEntries, .handOver), (.readsUncommitted, .killUnderLoad),
            (.firesBeforeRestored, .compaction), (.dropsFence, .oneKilledOneFrozen),
            (.commitsInsteadOfAborting, .brokerRestart),
        ] as [(PlantedBug, Scenario)]
    )
    func found(bug: PlantedBug, by scenario: Scenario) async throws {
        var findings: [String] = []
        for seed in 1...25 as ClosedRange<UInt64> where findings.isEmpty {
            do {
                try await Self.play(scenario, .init(seed: seed, bug: bug))
            } catch {
                findings.append("\(error)")
            }
        }
        #expect(!findings.isEmpty, "\(bug.rawValue) is not found")
    }
}
