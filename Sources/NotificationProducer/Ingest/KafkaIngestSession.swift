import ServiceSupport

/// A session of the ingest over Kafka. It is not generic: the methods of a generic worker, called through `LoopWorker`, are
/// not specialized, and everything below them would go through witness tables.
final class KafkaIngestSession: LoopWorker {
    private let session: IngestSession<KafkaIngestLink>

    init(context: IngestContext, link: KafkaIngestLink) { session = IngestSession(context: context, link: link) }

    var commits: Int { session.commits }
    var isDone: Bool { session.isDone }

    func start() throws { try session.start() }
    func turn() throws { try session.turn() }
    func drain() { session.drain() }
    func close(after error: (any Error)?) { session.close(after: error) }
}
