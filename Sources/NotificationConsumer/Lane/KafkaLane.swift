import ServiceSupport

/// A lane over Kafka. It is not generic: the methods of a generic worker, called through `LoopWorker`, are not specialized,
/// and everything below them would go through witness tables.
final class KafkaLane: LoopWorker {
    private let lane: Lane<KafkaLink>

    init(context: LaneContext, link: KafkaLink) { lane = Lane(context: context, link: link) }

    /// Records applied and timers fired so far.
    var work: Int { lane.work }
    var commits: Int { lane.commits }

    func start() throws { try lane.start() }
    func turn() throws { try lane.turn() }
    func drain() { lane.drain() }
    func close(after error: (any Error)?) { lane.close(after: error) }
}
