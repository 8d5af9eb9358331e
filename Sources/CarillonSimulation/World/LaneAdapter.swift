import CoreMetrics
import Logging
import NotificationConsumer
import NotificationModel
import ServiceSupport

/// The shipping lane, over a simulated link; the only place that knows how it is made and run.
final class LaneAdapter: LaneDriver {
    private let lane: Lane<SimulatedLink>
    private let link: SimulatedLink

    init(context: LaneContext, link: SimulatedLink) {
        lane = Lane(context: context, link: link)
        self.link = link
    }

    func start() throws { try lane.start() }
    func turn() throws { try lane.turn() }
    var commits: Int { lane.commits }
    func drain() { lane.drain() }
    func close(after error: (any Error)?) { lane.close(after: error) }

    func refusal(_ error: any Error) -> ConsumerRefusal? { error as? ConsumerRefusal }
}

extension World {
    func makeLane(_ seat: LaneSeat) throws -> any LaneDriver {
        var configuration = ConsumerServiceConfiguration(bootstrapServers: [])
        configuration.topics = topics
        configuration.start = scenario.start
        configuration.gap = seat.settings.gap
        let sessionTimeout = GroupCoordinator.sessionTimeout / 1000
        configuration.kafkaProperties["session.timeout.ms"] = "\(sessionTimeout)"
        configuration.retention = options.bugs.contains(.forgetsEarly) ? .seconds(5) : .milliseconds(scenario.retention)
        configuration.maximumEntries = options.bugs.contains(.capsEarly) ? 2 : scenario.maximumEntries
        configuration.residentEntries = scenario.residentEntries
        configuration.concurrentSends = scenario.concurrentSends
        if options.bugs.contains(.neverTimesOut) { configuration.sendTimeout = .seconds(100 * 365 * 86_400) }
        configuration.entriesPerPiece = scenario.entriesPerPiece
        let clockError: Int64 =
            options.bugs.contains(.firesEarly) ? 2_000 : options.bugs.contains(.firesLate) ? -3_000 : 0
        let context = LaneContext(
            configuration: configuration,
            guarantee: options.isExactlyOnce ? .exactlyOnce : .atLeastOnce,
            stores: seat.stores,
            channel: scenario.usesChannel ? seat.channel : nil,
            clock: { seat.instance.clock.wall.adding(milliseconds: clockError) },
            newLineage: { [unowned self] in "lineage-\(random.next())" },
            newEpoch: { [unowned self] in
                epochs += 1
                return epochs
            },
            status: seat.status,
            health: seat.health,
            metrics: LaneMetrics(factory: NOOPMetricsHandler.instance),
            logger: Logger(label: seat.name) { _ in SwiftLogNoOpLogHandler() }
        )
        return LaneAdapter(context: context, link: makeLink(for: seat))
    }
}
