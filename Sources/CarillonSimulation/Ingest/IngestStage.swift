import Kafka
import Logging
import NotificationConsumer
import NotificationModel
import NotificationProducer
import ServiceSupport

/// The producer service in a world: business events, and the machines that convert them to requests.
final class IngestStage {
    /// Partitions of `business-events`.
    private static let partitions: Int32 = 2

    let group: GroupCoordinator
    let log: EventLog
    let checks: EventChecks
    let machines: [Instance]
    var random: SeededGenerator
    private let reads = SimulatedIngestLink.Reads()
    private let rules: RuleEngine
    private unowned let world: World

    init(of world: World, random: SeededGenerator) throws {
        (self.world, self.random) = (world, random)
        rules = try RuleEngine(yaml: EventLog.rules, defaultApplication: "shop")
        let (broker, topics) = (world.broker, world.topics)
        broker.addTopic(topics.businessEvents, partitions: Self.partitions)
        group = GroupCoordinator(timeline: world.timeline)
        group.partitions = Self.partitions
        log = EventLog(broker: broker, topic: topics.businessEvents, random: self.random.split()) { [unowned world] in
            world.note("sender", $0)
        }
        checks = EventChecks(
            broker: broker,
            topics: topics,
            group: group,
            log: log,
            isExactlyOnce: world.options.isExactlyOnce,
            home: { [requests = world.requests] in requests.home(of: $0) }
        )
        var machines: [Instance] = []
        for number in 0..<Int(self.random.number(1...2)) {
            let clock = MachineClock(world.timeline.clock, error: self.random.number(-100...100))
            machines.append(Instance(number: number, name: "i\(number)", clock: clock, files: nil))
        }
        self.machines = machines
    }

    /// What it still waits for; nil if for nothing.
    var unrest: String? {
        if let machine = machines.first(where: { !$0.isDown && !$0.isRunning }) {
            return "\(machine.name) does not run"
        }
        if !group.isQuiet { return "the group of the ingest is rebalancing" }
        return checks.unfinished.map { "\($0) is missing" }
    }

    /// Runs the ingest of a process, one session after the other.
    func runner(on machine: Instance, _ process: SimulatedProcess) -> WorkerRunner {
        let health = Health().component("kafka")
        let transactionalID = "carillon-\(machine.name)-ingest"
        return WorkerRunner(
            name: process.name,
            process: process,
            timeline: world.timeline,
            random: random.split(),
            kind: .init(
                make: { [unowned self] stop, fenced in
                    let link = world.makeIngestLink(
                        process,
                        transactionalID: transactionalID,
                        group: group,
                        random: &random
                    )
                    let context = IngestContext(
                        configuration: configuration(machine, transactionalID),
                        guarantee: world.options.isExactlyOnce ? .exactlyOnce : .atLeastOnce,
                        rules: { [rules] in rules },
                        metrics: ProducerMetrics(),
                        health: health,
                        stop: stop,
                        logger: Logger(label: process.name) { _ in SwiftLogNoOpLogHandler() },
                        now: { machine.clock.wall },
                        fenced: fenced
                    )
                    let shown = SimulatedIngestLink(link, bugs: world.options.bugs, reads: reads)
                    return IngestSession(context: context, link: shown)
                },
                fencing: { $0 as? InstanceFencedError }
            ),
            note: { [unowned world] in world.note(process.name, $0) }
        )
    }

    private func configuration(_ machine: Instance, _ transactionalID: String) -> IngestConfiguration {
        var service = ProducerServiceConfiguration(bootstrapServers: [])
        service.topics = world.topics
        service.instanceID = machine.name
        service.defaultApplication = "shop"
        var configuration = service.ingest
        configuration.transactionalID = transactionalID
        return configuration
    }
}
