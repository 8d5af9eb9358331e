import Testing

/// Instances that crash, are paused, start and stop.
extension Scenario {
    static let killUnderLoad = Scenario(
        "killed under load: every request is closed, timers survive, and none fires before its time"
    ) { stage in
        try await stage.start("a", .init(hasStore: true))
        try await stage.ready("a")
        try await stage.publish(.init(name: "far", count: 50, due: .seconds(14 * 86_400)))
        try await stage.publish(.init(name: "near", count: 100, due: .seconds(12)))
        // On a slow machine some of them fire until here.
        try await settled(stage, open: nil)
        try await stage.beginLoad()
        try await stage.load(reaches: 200)
        try await stage.kill("a")
        try await stage.load(reaches: 100)
        try await stage.start("a", .init(hasStore: true))
        try await stage.ready("a")
        try await stage.load(reaches: 100)
        try await stage.endLoad()
        let account = try await settled(stage, open: 50)
        #expect(account.requests >= 550)
        try await pending(50, stage, "a")
        // The next owner reads the same from the changelog.
        try await stage.until("50 are pending in the changelog") { try await stage.state().pending == 50 }
        #expect(try await stage.state().marked.count == partitions)
    }

    static let oneKilledOneFrozen = Scenario(
        "of three instances one is killed and one is paused past its session: nothing is lost, each partition has one owner"
    ) { stage in
        for instance in ["a", "b", "c"] { try await stage.start(instance, .init()) }
        for instance in ["a", "b", "c"] { try await stage.ready(instance) }
        try await stage.publish(.init(name: "far", count: 30, due: .seconds(14 * 86_400)))
        try await stage.beginLoad()
        try await eachPartitionHasOneOwner(stage, ["a", "b", "c"])
        try await stage.kill("a")
        try await stage.freeze("b")
        try await stage.load(reaches: 100)
        try await stage.until("the third has everything") {
            try await stage.report(of: "c").partitions == partitions
        }
        try await stage.load(reaches: 50)
        try await stage.thaw("b")
        try await stage.load(reaches: 50)
        try await eachPartitionHasOneOwner(stage, ["b", "c"])
        try await stage.endLoad()
        try await settled(stage, open: 30)
        try await pending(30, stage, "b", "c")
    }

    static let joinUnderLoad = Scenario(
        "an instance that joins while others are in the middle of their checkpoints: nothing lost, no repeat in transactions"
    ) { stage in
        for instance in ["a", "b"] { try await stage.start(instance, .init()) }
        for instance in ["a", "b"] { try await stage.ready(instance) }
        try await stage.publish(.init(name: "far", count: 30, due: .seconds(14 * 86_400)))
        try await stage.beginLoad()
        try await stage.load(reaches: 100)
        try await stage.start("c", .init())
        try await stage.ready("c")
        try await stage.load(reaches: 100)
        try await eachPartitionHasOneOwner(stage, ["a", "b", "c"])
        try await stage.endLoad()
        try await settled(stage, open: 30)
        try await pending(30, stage, "a", "b", "c")
    }

    static let handOver = Scenario(
        "an instance that shuts down hands its timers to another: nothing is lost or repeated"
    ) { stage in
        for instance in ["a", "b"] { try await stage.start(instance, .init()) }
        for instance in ["a", "b"] { try await stage.ready(instance) }
        try await eachPartitionAssigned(stage, ["a", "b"])
        try await stage.publish(.init(name: "far", count: 50, due: .seconds(14 * 86_400)))
        try await stage.publish(.init(name: "near", count: 100, due: .seconds(10)))
        try await settled(stage, open: nil, mayRepeat: false)
        try await stage.stop("a")
        try await stage.until("the other has everything") {
            try await stage.report(of: "b").partitions == partitions
        }
        try await settled(stage, open: 50, mayRepeat: false)
        try await pending(50, stage, "b")
    }

    private static func eachPartitionAssigned(_ stage: any Stage, _ instances: [String]) async throws {
        try await stage.until("every one of \(instances) has partitions") {
            for instance in instances where try await stage.report(of: instance).partitions == 0 { return false }
            return true
        }
    }
}
