import NotificationConsumer
import NotificationModel
import NotificationState

/// Partitions are added, which changes the partitions of recipients: no lane may continue to run. The results until then must
/// stay intact.
extension SeededRun {
    /// The longest time until producers and the group leader see added partitions, in microseconds.
    private static let longestRefresh: Int64 = 60_000_000
    private static let longestRefusal: Int64 = 3_600_000_000

    /// Adds partitions to one of the topics, or to both.
    func grow(_ growth: Scenario.Growth) {
        hasGrown = true
        let count = world.scenario.partitions + Int32(hazards.number(1...3))
        if growth != .state { add(world.topics.requests, count) }
        if growth != .requests { add(world.topics.state, count) }
        guard growth != .both else { return }
        // The operator follows the instruction to make the numbers equal.
        world.timeline.add(after: hazards.number(1_000_000...120_000_000)) { [self] in
            if world.violation == nil { add(growth == .state ? world.topics.requests : world.topics.state, count) }
        }
    }

    private func add(_ topic: String, _ count: Int32) {
        world.note("world", "\(topic) now has \(count) partitions")
        world.disturb()
        world.broker.addPartitions(topic, upTo: count)
        guard topic == world.topics.requests else { return }
        for input in InputTopic.allCases where input != .requests {
            world.broker.addPartitions(world.topics[input], upTo: count)
        }
        world.timeline.add(after: hazards.number(0...Self.longestRefresh)) { [self] in
            world.requests.follow(partitions: count)
        }
        world.timeline.add(after: hazards.number(0...Self.longestRefresh)) { [self] in
            world.broker.group.add(partitions: count)
        }
    }

    private var counts: (requests: Int32, state: Int32) {
        (world.broker.partitionCount(of: world.topics.requests), world.broker.partitionCount(of: world.topics.state))
    }

    /// A lane of the instance refused to run: the others shut down. The instance is started again a few times.
    func refused(_ instance: Instance, _ refusal: ConsumerRefusal) {
        world.note(instance.name, "refuses: \(refusal)")
        guard isRight(refusal), let process = instance.process else {
            return world.fail(Violation(.refusal, "\(instance.name): \(refusal)"))
        }
        world.disturb()
        refusals[instance.number, default: 0] += 1
        if counts.requests == counts.state, refusals[instance.number, default: 0] > 2 { instance.isDown = true }
        for runner in instance.runners { runner.stop() }
        awaitEnd(of: process, on: instance)
    }

    /// Whether its reason is true: the topics' numbers of partitions differ, or the number is not that of the changelog.
    private func isRight(_ refusal: ConsumerRefusal) -> Bool {
        switch refusal {
        case .partitionCountsDiffer(let told):
            hasGrown && counts.requests != counts.state
                && told == PartitionCounts(state: counts.state) { _ in counts.requests }
        case .partitionCountChanged(_, let marker, let now):
            hasGrown && marker == world.scenario.partitions && now == counts.requests && now != marker
        default: false
        }
    }

    /// Waits until every instance has refused to run for the last time, and checks the results until then.
    func stayRefused() {
        let end = world.timeline.now + Self.longestRefusal
        world.proceed(until: { world.instances.allSatisfy { $0.isDown && $0.process?.isDead != false } }, atMost: end)
        guard world.violation == nil else { return }
        if let instance = world.instances.first(where: { !$0.isDown }) {
            return world.fail(Violation(.partitionCount, "\(instance.name) continues to run"))
        }
        // Until then open transactions time out.
        world.proceed(until: { false }, atMost: world.timeline.now + Self.longestRestart)
        world.check { () throws(Violation) in
            try world.observer.checkCounting(
                isEnd: false,
                isExactlyOnce: world.options.isExactlyOnce,
                asOf: world.state
            )
        }
    }
}
