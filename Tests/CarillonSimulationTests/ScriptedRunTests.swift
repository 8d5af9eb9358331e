import Testing

@testable import CarillonSimulation

/// The actions of a script on processes and the broker.
@Suite("Scripted run")
struct ScriptedRunTests {
    private static func run(seed: UInt64 = 1, bug: PlantedBug? = nil, _ script: (ScriptedRun) throws -> Void) throws {
        let run = try ScriptedRun(.init(seed: seed, partitions: 4, bug: bug))
        defer { run.end() }
        try script(run)
    }

    private static func start(_ names: String..., on run: ScriptedRun, hasStore: Bool = false) throws {
        for name in names { try run.start(name, hasStore: hasStore, continuesOverGap: false) }
        try run.proceed(until: "\(names) have everything") { owned(names, run) == 4 }
    }

    /// The number of partitions that the instances report together.
    private static func owned(_ names: [String], _ run: ScriptedRun) -> Int {
        names.reduce(0) { $0 + ((try? run.report(of: $1).partitions) ?? 0) }
    }

    private static func events(_ run: ScriptedRun) -> [ObservedEvent] { run.world.observer.events }

    @Test("the same seed and script give the same trace")
    func deterministic() throws {
        var hashes: [UInt64] = []
        for seed in [1, 1, 2] as [UInt64] {
            try Self.run(seed: seed) { run in
                try Self.start("a", "b", on: run)
                try run.publish("now", count: 20, due: nil, recipients: 5)
                try run.kill("a")
                try run.proceed(for: .seconds(20))
                hashes.append(run.world.trace.hash)
            }
        }
        #expect(hashes[0] == hashes[1] && hashes[0] != hashes[2])
    }

    @Test("a process that is paused for longer than its session loses its partitions, and joins again")
    func freeze() throws {
        try Self.run { run in
            try Self.start("a", "b", on: run)
            try run.freeze("a")
            try run.proceed(until: "the other has everything") { Self.owned(["b"], run) == 4 }
            #expect(run.now > .seconds(10))
            let before = run.world.trace.count
            try run.proceed(for: .seconds(60))
            let said = run.world.trace.lines.suffix(run.world.trace.count - before)
            #expect(!said.contains { $0.contains(" a.1") }, "nothing of it runs")
            try run.thaw("a")
            try run.proceed(until: "both have partitions") {
                Self.owned(["a"], run) > 0 && Self.owned(["b"], run) > 0 && Self.owned(["a", "b"], run) == 4
            }
        }
    }

    @Test("an instance that shuts down hands over its committed state, and the next process uses its disk")
    func stop() throws {
        try Self.run { run in
            try Self.start("a", on: run, hasStore: true)
            try run.publish("far", count: 10, due: .seconds(3600), recipients: 5)
            try run.proceed(until: "all are scheduled") { Self.events(run).count == 10 }
            try run.stop("a")
            #expect(throws: ScriptedRun.Failure.self) { try run.report(of: "a") }
            let disk = try #require(run.world.instances.first?.disk)
            #expect(disk.contents.values.reduce(0) { $0 + $1.entries.count } == 10)
            try run.start("a", hasStore: true, continuesOverGap: false)
            try run.proceed(until: "they are pending again") { (try? run.report(of: "a").pending) == 10 }
        }
    }

    @Test("an unavailable broker acknowledges nothing and answers no lane; afterwards all requests are processed")
    func away() throws {
        try Self.run { run in
            try Self.start("a", on: run)
            try run.beginLoad()
            try run.load(reaches: 20)
            run.world.broker.goAway(for: 4_000_000)
            try run.proceed(for: .milliseconds(100))
            let (acknowledged, seen) = (run.acknowledged.count, Self.events(run).count)
            try run.proceed(for: .seconds(3))
            #expect(run.acknowledged.count == acknowledged && Self.events(run).count == seen)
            try run.load(reaches: 20)
            try run.endLoad()
            try run.proceed(until: "every request is delivered") { Self.events(run).count == run.acknowledged.count }
        }
    }

    @Test(
        "requests that are deleted unread are not expected, and the service refuses to run until it is allowed to skip them"
    )
    func expiry() throws {
        try Self.run { run in
            try Self.start("a", on: run)
            try run.stop("a")
            try run.publish("lost", count: 3, due: nil, recipients: 1)
            #expect(run.world.observer.open.count == 3)
            try run.expireRequests(ofRecipient: 0)
            #expect(run.world.observer.open.isEmpty)
            try run.start("a", hasStore: false, continuesOverGap: false)
            #expect(try run.refusal(of: "a").contains("requests are missing"))
            try run.start("a", hasStore: false, continuesOverGap: true)
            try run.publish("after", count: 3, due: nil, recipients: 1)
            try run.proceed(until: "what came after is delivered") { Self.events(run).count == 3 }
            try run.checkCounting()
        }
    }

    @Test("a request without an event is a violation, unless it is due later")
    func counting() throws {
        try Self.run { run in
            try run.publish("now", count: 1, due: nil, recipients: 1)
            let failure = #expect(throws: ScriptedRun.Failure.self) { try run.checkCounting() }
            #expect(failure?.description.contains(Violation.Rule.nothingLost.rawValue) == true)
        }
        try Self.run { run in
            try Self.start("a", on: run)
            try run.publish("near", count: 1, due: .seconds(60), recipients: 1)
            try run.proceed(for: .seconds(5))
            try run.checkCounting()
            try run.kill("a")
            try run.proceed(for: .seconds(70))
            #expect(throws: ScriptedRun.Failure.self) { try run.checkCounting() }
        }
    }

    @Test("a failed wait, and a broken rule, are reported with the end of the trace")
    func failures() throws {
        try Self.run { run in
            try Self.start("a", on: run)
            let failure = #expect(throws: ScriptedRun.Failure.self) {
                try run.proceed(until: "the moon is full", within: .seconds(5)) { false }
            }
            #expect(failure?.description.contains("the moon is full") == true)
            #expect(failure?.description.contains("a.1") == true)
        }
        try Self.run(bug: .markerBeforeEntries) { run in
            let failure = #expect(throws: ScriptedRun.Failure.self) {
                try Self.start("a", on: run)
                try run.publish("far", count: 10, due: .seconds(3600), recipients: 5)
                try run.proceed(for: .seconds(10))
            }
            #expect(failure?.description.contains(Violation.Rule.state.rawValue) == true)
            // Later calls throw it too.
            #expect(throws: ScriptedRun.Failure.self) { try run.proceed(for: .zero) }
        }
    }
}
