import Testing

@testable import CarillonSimulation

/// The production ingest, lanes, centers, checkpoints and restores with a simulated cluster.
@Suite("Simulation")
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
            if isWanted(scenario(seed)) { found.append(seed) }
        }
        return found
    }

    private static func scenario(_ seed: UInt64) -> Scenario {
        var random = SeededGenerator(seed: seed)
        var scenarioRandom = random.split()
        return Scenario(random: &scenarioRandom)
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

    @Test("location triggers are sent for the crossings of their regions, with all faults", arguments: [true, false])
    func locations(isExactlyOnce: Bool) throws {
        let seeds = ((1 as UInt64)...).lazy.filter { SeededRun.locations(.init(seed: $0)) != nil }
        var crossings = 0
        for seed in seeds.prefix(10) {
            let result = try Simulation.run(.init(seed: seed, isExactlyOnce: isExactlyOnce))
            #expect(result.violation == nil, "seed \(seed)")
            crossings += result.crossings
        }
        // Some runs have few requests, and none of them with a region.
        #expect(crossings > 20)
    }

    @Test("notifications leave through the channels that they name, with all faults", arguments: [true, false])
    func channels(isExactlyOnce: Bool) throws {
        let seeds = ((1 as UInt64)...).lazy.filter { SeededRun.channels(.init(seed: $0), Self.scenario($0)) != nil }
        for seed in seeds.prefix(10) {
            let result = try Simulation.run(.init(seed: seed, isExactlyOnce: isExactlyOnce))
            #expect(result.violation == nil, "seed \(seed)")
        }
    }

    @Test("notifications are enriched once, within their time, with all faults", arguments: [true, false])
    func enrichments(isExactlyOnce: Bool) throws {
        let seeds = ((1 as UInt64)...).lazy.filter { SeededRun.enrichments(.init(seed: $0)) != nil }
        for seed in seeds.prefix(10) {
            let result = try Simulation.run(.init(seed: seed, isExactlyOnce: isExactlyOnce))
            #expect(result.violation == nil, "seed \(seed)")
        }
    }

    @Test("devices, responses and limits keep every rule, with all faults", arguments: [true, false])
    func devices(isExactlyOnce: Bool) throws {
        let seeds = ((1 as UInt64)...).lazy.filter { SeededRun.loop(.init(seed: $0), Self.scenario($0)) != nil }
        var responses = 0
        for seed in seeds.prefix(12) {
            let result = try Simulation.run(.init(seed: seed, isExactlyOnce: isExactlyOnce))
            #expect(result.violation == nil, "seed \(seed)")
            responses += result.responses
        }
        #expect(responses > 50)
    }

    @Test(
        "Live Activities are started once, follow their updates and end, with all faults",
        arguments: [true, false]
    )
    func activities(isExactlyOnce: Bool) throws {
        let seeds = ((1 as UInt64)...).lazy.filter { SeededRun.activities(.init(seed: $0), Self.scenario($0)) != nil }
        var activities = 0
        for seed in seeds.prefix(12) {
            let result = try Simulation.run(.init(seed: seed, isExactlyOnce: isExactlyOnce))
            #expect(result.violation == nil, "seed \(seed)")
            activities += result.activities
        }
        // Some runs have few requests.
        #expect(activities > 20)
    }

    /// Each bug with a seed shortly before the first one that shows it. A change of the services or of the simulation moves
    /// that seed, so many more are tried. A send without a deadline takes two million events of the simulation:
    /// `carillon simulate --bug never-times-out --first-seed 36` shows it.
    @Test(
        "a planted bug is found",
        arguments: [
            (.readsUncommitted, 1), (.firesBeforeRestored, 1), (.skipsReplay, 30), (.dropsFence, 25),
            (.offsetsFirst, 1), (.markerBeforeEntries, 1), (.forgetsFiredThrough, 1), (.trustsUnknownCommit, 58),
            (.commitsInsteadOfAborting, 5), (.acceptsLateOutcomes, 4), (.storePositionFirst, 28), (.losesEntry, 1),
            (.swallowsTombstones, 11), (.losesDeadLetter, 1), (.reordersEvents, 1), (.duplicatesDelivery, 1),
            (.replaysTooLate, 45), (.replaysPart, 57), (.ignoresVersions, 1), (.widensRemovals, 1), (.forgetsEarly, 1),
            (.capsEarly, 1), (.anchorsAtReading, 1), (.firesEarly, 1), (.firesLate, 17), (.ignoresExpiration, 3),
            (.readsToLastStable, 30), (.resumesFromGroup, 8), (.leavesOutUnchanged, 25), (.storeIsStale, 1),
            (.storeForgets, 1), (.storeMissesDue, 1), (.countsInitialSide, 1), (.countsLateFixes, 1),
            (.forgetsSides, 1), (.forgetsChannels, 1), (.trustsSilence, 660), (.mixesEnrichments, 1),
            (.awaitsEnrichments, 1), (.forgetsDevices, 1), (.losesResponses, 1), (.losesRetirements, 1),
            (.repeatsResponses, 1), (.forgetsReceipts, 229), (.ignoresCollapseWindows, 1), (.endsRepeats, 1),
            (.forgetsHandovers, 10), (.forgetsScreens, 54), (.forgetsDelivered, 1), (.forgetsClosed, 1),
            (.forgetsVersions, 1), (.swapsCrossings, 1), (.ignoresChannels, 1), (.losesRecalls, 1),
            (.trustsRejections, 147), (.invertsQuietHours, 1), (.suppressesHeld, 1), (.ignoresCaps, 1),
            (.updatesByStarting, 1), (.lowersTimestamps, 1), (.dismissesAtOnce, 1), (.losesBroadcastEnds, 1),
            (.keepsEndedTokens, 1), (.losesActivityTokens, 1),
            (.ingestLosesRequest, 1), (.ingestLosesDeadLetter, 1),
            (.ingestAcknowledgesEarly, 1), (.ingestCommitsAborts, 6), (.ingestDropsOffsets, 1), (.ingestRenewsIDs, 6),
            (.ingestMisroutes, 1), (.ingestResumesAtEnd, 1), (.ingestReadsUnstableOffsets, 463), (.ingestReorders, 9),
        ] as [(PlantedBug, UInt64)]
    )
    func found(bug: PlantedBug, from first: UInt64) throws {
        let isExactlyOnce = ![.ingestAcknowledgesEarly, .ingestRenewsIDs].contains(bug)
        let finding = try (first..<first + 500).first {
            try Simulation.run(.init(seed: $0, isExactlyOnce: isExactlyOnce, bug: bug)).violation != nil
        }
        #expect(finding != nil, "\(bug.rawValue) is not found with 500 seeds from \(first)")
    }
}
