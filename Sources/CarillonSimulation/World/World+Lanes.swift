import CoreMetrics
import Kafka
import Logging
import NotificationConsumer
import NotificationModel
import NotificationState
import ServiceSupport

extension World {
    /// A lane that applies more records and fires more timers is assumed to do the same for ever: in one turn it may do so often.
    private static let mostWork = 500_000

    /// The production lane, with a simulated link.
    func makeLane(_ seat: LaneSeat, fenced: String?) -> any LoopWorker {
        var configuration = ConsumerServiceConfiguration(bootstrapServers: [])
        configuration.topics = topics
        configuration.lane.start = scenario.start
        configuration.lane.gap = seat.settings.gap
        let sessionTimeout = GroupCoordinator.sessionTimeout / 1000
        configuration.kafkaProperties["session.timeout.ms"] = "\(sessionTimeout)"
        if scenario.usesChannel {
            configuration.channel = scenario.channel
            configuration.furtherChannels = [.events, seat.channel.name]
        }
        configuration.center.retention =
            options.bugs.contains(.forgetsEarly) ? .seconds(5) : .milliseconds(scenario.retention)
        configuration.center.maximumEntries = options.bugs.contains(.capsEarly) ? 2 : scenario.maximumEntries
        configuration.center.residentEntries = scenario.residentEntries
        configuration.lane.concurrentSends = scenario.concurrentSends
        if options.bugs.contains(.neverTimesOut) { configuration.lane.sendTimeout = .seconds(100 * 365 * 86_400) }
        configuration.enrichment.deadline = .milliseconds(SimulatedEnrichment.times.deadline)
        configuration.enrichment.lead = .milliseconds(SimulatedEnrichment.times.lead)
        if options.bugs.contains(.awaitsEnrichments) {
            configuration.enrichment.deadline = .seconds(100 * 365 * 86_400)
        }
        configuration.center.entriesPerPiece = scenario.entriesPerPiece
        configuration.center.keptSlots = 8
        let clockError: Int64 =
            options.bugs.contains(.firesEarly) ? 2_000 : options.bugs.contains(.firesLate) ? -3_000 : 0
        let context = LaneContext(
            configuration: configuration,
            guarantee: options.isExactlyOnce ? .exactlyOnce : .atLeastOnce,
            stores: seat.stores,
            channels: scenario.usesChannel ? [seat.channel] : [],
            enrichment: seat.enrichment,
            clock: { seat.instance.clock.wall.adding(milliseconds: clockError) },
            zones: zones[seat.instance.zoneData],
            newLineage: { [unowned self] in "lineage-\(random.next())" },
            newAssignmentID: { [unowned self] in
                assignments += 1
                return assignments
            },
            status: seat.status,
            health: seat.health,
            metrics: LaneMetrics(factory: NOOPMetricsHandler.instance),
            logger: Logger(label: seat.name) { _ in SwiftLogNoOpLogHandler() },
            fenced: fenced
        )
        return Lane(context: context, link: makeLink(for: seat))
    }

    /// Runs the lanes of one seat, one after the other.
    func runner(for seat: LaneSeat) -> WorkerRunner {
        WorkerRunner(
            name: seat.name,
            process: seat.process,
            timeline: timeline,
            random: random.split(),
            kind: .init(
                make: { [unowned self] _, fenced in makeLane(seat, fenced: fenced) },
                isFinal: LaneEnd.isFinal,
                fencing: { error in
                    guard KafkaError.isFencing(error) else { return nil }
                    return InstanceFencedError(instanceID: seat.instance.name, name: seat.name, cause: error)
                }
            ),
            note: { [unowned self] in note(seat.name, $0) },
            onTurn: { [unowned self] worker in
                guard let lane = worker as? Lane<SimulatedLink>, lane.work > Self.mostWork else { return }
                fail(Violation(.rest, "\(seat.name) has applied and fired \(lane.work) times"))
            },
            onFailure: { [unowned self] error in
                guard punctuality.isCalm(at: timeline.now), !seat.process.isDead else { return }
                // An idle lane may detect late that another process took over its transactional id.
                if KafkaError.isFencing(error) || isFencedEarlier(seat, error) { return }
                // Without transactions: that it wrote to its changelog, before everything became calm.
                if !options.isExactlyOnce, error as? LaneEnd == .changelogInterleaved, !isChangelogShared { return }
                fail(Violation(.punctual, "\(seat.name) fails in undisturbed operation: \(error)"))
            },
            onFinal: { [unowned self] error in
                guard let refusal = error as? ConsumerRefusal else {
                    return fail(Violation(.refusal, "\(seat.name): \(error)"))
                }
                onRefusal(seat.instance, refusal)
            }
        )
    }

    /// Whether the producer of a lane has failed before the call with the error: by a newer one with its id.
    private func isFencedEarlier(_ seat: LaneSeat, _ error: any Error) -> Bool {
        (error as? KafkaError)?.code == .fatal && links.contains { $0.name == seat.name && $0.producer.isFenced }
    }

    /// Whether several producers have written to one partition of the changelog in undisturbed operation.
    private var isChangelogShared: Bool {
        broker.lastWrites.contains { place, times in
            place.topic == topics.state && times.values.count { punctuality.isCalm(at: $0) } > 1
        }
    }

    /// A link for a new lane.
    private func makeLink(for seat: LaneSeat) -> SimulatedLink {
        var faults = FaultPlan(random: random.split())
        if !isCalm {
            faults.rate = scenario.faultRate
            if random.chance(scenario.crashRate) { faults.callsToCrash = Int(random.number(1...600)) }
        }
        let transactionalID = "carillon-\(seat.instance.number)-\(seat.lane)"
        let link = SimulatedLink(
            name: seat.name,
            configuration: .init(
                topics: topics,
                transactionalID: options.isExactlyOnce ? transactionalID : nil,
                noticesSuspension: !(scenario.isBlind && options.isExactlyOnce),
                bugs: options.bugs
            ),
            broker: broker,
            process: seat.process,
            faults: faults,
            random: random.split(),
            note: { [unowned self] in note(seat.name, $0) }
        )
        add(link)
        return link
    }
}
