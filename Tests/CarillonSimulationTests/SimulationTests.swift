import Testing

@testable import CarillonSimulation

/// The production ingest, lanes, centers, checkpoints and restores with a simulated cluster.
@Suite("Simulation", .serialized)
struct SimulationTests {
    private static let seeds: ClosedRange<UInt64> = 1...40

    @Test("every rule holds with all faults", arguments: [true, false])
    func rules(isExactlyOnce: Bool) throws {
        for seed in Self.seeds {
            let result = try Simulation.run(.init(seed: seed, isExactlyOnce: isExactlyOnce))
            let again =
                "carillon simulate --seeds 1 --first-seed \(seed)" + (isExactlyOnce ? "" : " --mode at-least-once")
            #expect(result.violation == nil, "\(again)")
        }
    }

    @Test("the same seed gives the same trace")
    func deterministic() throws {
        for seed in [3, 11] as [UInt64] {
            let (one, other) = try (Simulation.run(.init(seed: seed)), Simulation.run(.init(seed: seed)))
            #expect(one.trace.hash == other.trace.hash && one.trace.count == other.trace.count && one.trace.count > 20)
        }
        #expect(try Simulation.run(.init(seed: 3)).trace.hash != Simulation.run(.init(seed: 11)).trace.hash)
    }

    /// The first seeds with a certain kind of scenario.
    private static func seeds(_ count: Int, where isWanted: (Scenario) -> Bool) -> [UInt64] {
        var (found, seed) = ([] as [UInt64], 0 as UInt64)
        while found.count < count {
            seed += 1
            var random = SeededGenerator(seed: seed)
            var scenarioRandom = random.split()
            if isWanted(Scenario(random: &scenarioRandom)) { found.append(seed) }
        }
        return found
    }

    @Test("with stores in files too, the same seed gives the same trace, independent of the writer thread")
    func files() throws {
        for seed in Self.seeds(3, where: { $0.usesFiles && $0.crashRate > 0 }) {
            let (one, other) = try (Simulation.run(.init(seed: seed)), Simulation.run(.init(seed: seed)))
            #expect(one.violation == nil && one.trace.hash == other.trace.hash, "seed \(seed)")
        }
    }

    @Test("every rule holds when requests are suppressed and ids forgotten early", arguments: [true, false])
    func bounds(isExactlyOnce: Bool) throws {
        for seed in Self.seeds(4, where: { $0.isCapped && $0.scenes > 15 }) + Self.seeds(4, where: \.forgets) {
            let result = try Simulation.run(.init(seed: seed, isExactlyOnce: isExactlyOnce))
            #expect(result.violation == nil, "seed \(seed)")
        }
    }

    @Test("no lane continues after partitions are added, and no result is lost", arguments: [true, false])
    func growth(isExactlyOnce: Bool) throws {
        let running = Self.seeds(4) { $0.growth != nil && $0.growsWhileRunning }
        for seed in running + Self.seeds(4, where: { $0.growth != nil && !$0.growsWhileRunning }) {
            let result = try Simulation.run(.init(seed: seed, isExactlyOnce: isExactlyOnce))
            #expect(result.violation == nil, "seed \(seed)")
        }
    }

    @Test("every rule holds with a slow broker", arguments: [true, false])
    func slowBroker(isExactlyOnce: Bool) throws {
        for seed in Self.seeds(6, where: { $0.bytesPerSecond.map { $0 < 60_000 } ?? false }) {
            let result = try Simulation.run(.init(seed: seed, isExactlyOnce: isExactlyOnce))
            #expect(result.violation == nil, "seed \(seed)")
        }
    }

    @Test("business events have the effects of their rules, with all faults", arguments: [true, false])
    func events(isExactlyOnce: Bool) throws {
        for seed in Self.seeds(5, where: { $0.hasEvents && $0.growth == nil && !$0.isCapped && $0.crashRate > 200 }) {
            let result = try Simulation.run(.init(seed: seed, isExactlyOnce: isExactlyOnce))
            #expect(result.violation == nil && result.businessEvents > 5, "seed \(seed)")
        }
    }

    /// The seeds among which each bug is found. A send without a deadline takes two million events of the simulation:
    /// `carillon simulate --bug never-times-out --first-seed 36` shows it.
    @Test(
        "a planted bug is found",
        arguments: [
            (.readsUncommitted, 1...40), (.firesBeforeRestored, 1...20), (.skipsReplay, 73...90),
            (.dropsFence, 20...30), (.offsetsFirst, 1...10), (.markerBeforeEntries, 1...10),
            (.forgetsFiredThrough, 1...10),
            (.trustsUnknownCommit, 50...65), (.commitsInsteadOfAborting, 1...40), (.acceptsLateOutcomes, 1...40),
            (.storePositionFirst, 12...30), (.losesEntry, 1...10), (.swallowsTombstones, 10...30),
            (.losesDeadLetter, 1...10), (.reordersEvents, 1...20), (.duplicatesDelivery, 1...10),
            (.replaysTooLate, 40...50), (.replaysPart, 50...62), (.ignoresVersions, 1...20), (.widensRemovals, 1...20),
            (.forgetsEarly, 1...10), (.capsEarly, 1...10), (.anchorsAtReading, 1...10), (.firesEarly, 1...10),
            (.firesLate, 16...30), (.ignoresExpiration, 1...20), (.readsToLastStable, 25...35),
            (.resumesFromGroup, 20...40), (.leavesOutUnchanged, 20...30), (.storeIsStale, 1...10),
            (.storeForgets, 1...10), (.storeMissesDue, 1...30),
        ] as [(PlantedBug, ClosedRange<UInt64>)]
    )
    func found(bug: PlantedBug, among seeds: ClosedRange<UInt64>) throws {
        let finding = try seeds.first { try Simulation.run(.init(seed: $0, bug: bug)).violation != nil }
        #expect(finding != nil, "\(bug.rawValue) is not found with the seeds \(seeds)")
    }

    @Test(
        "a planted bug of the ingest is found",
        arguments: [
            (.ingestLosesRequest, 1...5, true), (.ingestLosesDeadLetter, 1...5, true),
            (.ingestAcknowledgesEarly, 1...20, false), (.ingestCommitsAborts, 1...40, true),
            (.ingestDropsOffsets, 1...20, true), (.ingestRenewsIDs, 5...20, false), (.ingestMisroutes, 1...5, true),
            (.ingestResumesAtEnd, 1...10, true), (.ingestReadsUnstableOffsets, 103...120, true),
            (.ingestReorders, 9...20, true),
        ] as [(PlantedBug, ClosedRange<UInt64>, Bool)]
    )
    func foundInIngest(bug: PlantedBug, among seeds: ClosedRange<UInt64>, isExactlyOnce: Bool) throws {
        let finding = try seeds.first {
            try Simulation.run(.init(seed: $0, isExactlyOnce: isExactlyOnce, bug: bug)).violation != nil
        }
        #expect(finding != nil, "\(bug.rawValue) is not found with the seeds \(seeds)")
    }
}
