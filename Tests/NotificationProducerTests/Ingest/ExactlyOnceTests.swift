import Foundation
import Kafka
import LocalBroker
import NotificationModel
import ServiceSupport
import Testing
import TestSupport
import Logging

@testable import NotificationProducer

/// Runs on the embedded broker, which answers transactional calls but neither hides aborted records nor keeps the
/// offsets. These tests show that nothing is lost, and which calls are made.
@Suite("Ingest in transactions", .timeLimit(.minutes(10)))
struct ExactlyOnceTests {
    private static let topics = ProducerHarness.topics

    private func with(
        _ broker: LocalBroker? = nil,
        rules: String = IngestTests.rules,
        instance: String = "a",
        configure: (inout ProducerServiceConfiguration) -> Void = { _ in },
        _ body: (ProducerHarness) async throws -> Void
    ) async throws {
        let settings = { (configuration: inout ProducerServiceConfiguration) in
            configuration.guarantee = .exactlyOnce
            configuration.instanceID = instance
            configure(&configuration)
        }
        try await ProducerHarness.with(rules: rules, broker: broker, configure: settings, body)
    }

    private func events(_ numbers: Range<Int>) -> [KafkaProducerRecord] {
        numbers.map { IngestTests.shipped($0, customer: "c\($0 % 13)").record }
    }

    @Test("Every event becomes one request over many transactions, including dead letters and skipped events")
    func requests() async throws {
        try await with(configure: { $0.commitInterval = .milliseconds(10) }) { harness in
            let skipped = BusinessEvent.sample(id: "k", data: #"{"notify":false}"#)
            let other = BusinessEvent.sample(id: "o", type: "com.example.other", data: "{}")
            try await harness.produceFast(events(0..<1_000))
            try await harness.produce([skipped.record, other.record])
            try await harness.produceFast(events(1_000..<2_000))
            let records = try await harness.records(Self.topics.requests, count: 2_000)
            #expect(Set(records.compactMap { $0.header("ce_id") }).count == 2_000)
            #expect(try await harness.records(Self.topics.deadLetters, count: 1)[0].header("ce_id") == "o")
            #expect(harness.isReady)
        }
    }

    @Test(
        "A retriable error of each call is recovered from without a restart",
        arguments: [
            (.initProducerID, 15), (.addPartitionsToTransaction, 51), (.addOffsetsToTransaction, 14),
            (.transactionOffsetCommit, 14), (.endTransaction, 51),
        ] as [(LocalBroker.RequestKind, Int32)]
    )
    func retriable(request: LocalBroker.RequestKind, code: Int32) async throws {
        let broker = try ProducerHarness.makeBroker()
        broker.inject(errors: [.init(rawValue: code), .init(rawValue: code)], on: request)
        try await with(broker) { harness in
            try await harness.produceFast(events(0..<100))
            _ = try await harness.records(Self.topics.requests, count: 100)
            // A restarted session would have read all of them again, before these.
            try await harness.produceFast(events(100..<200))
            let records = try await harness.records(Self.topics.requests, count: 200)
            #expect(Set(records.compactMap { $0.header("ce_id") }).count == 200)
        }
        await broker.shutDown()
    }

    @Test(
        "A transaction that fails in any of its calls is aborted, and its events are read again",
        arguments: [
            (.addPartitionsToTransaction, 29, "ingest failed"), (.addOffsetsToTransaction, 30, "aborted"),
            (.transactionOffsetCommit, 22, "aborted"), (.transactionOffsetCommit, 25, "aborted"),
            (.endTransaction, 87, "aborted"), (.transactionOffsetCommit, 47, "instance.id"),
            (.endTransaction, 90, "instance.id"),
        ] as [(LocalBroker.RequestKind, Int32, String)]
    )
    func failures(request: LocalBroker.RequestKind, code: Int32, said: String) async throws {
        try await with { harness in
            try await eventually("being ready") { harness.isReady }
            harness.broker.inject(errors: [.init(rawValue: code)], on: request)
            try await harness.produceFast(events(0..<100))
            // This also shows that the call was made. Readiness reports it too, for a second.
            try await eventually("the failure") {
                harness.log.lines.contains { $0.hasPrefix("error: ingest failed") && $0.contains(said) }
            }
            try await eventually("being ready again") { harness.isReady }
            #expect(try await harness.distinctIDs(Self.topics.requests, count: 100).count == 100)
            try await harness.produceFast(events(100..<150))
            #expect(try await harness.distinctIDs(Self.topics.requests, count: 150).count == 150)
        }
    }

    @Test("After a commit of unknown outcome the producer is replaced and nothing is lost")
    func unknownOutcome() async throws {
        try await with { harness in
            try await eventually("being ready") { harness.isReady }
            harness.broker.inject(errors: Array(repeating: .init(rawValue: 51), count: 100_000), on: .endTransaction)
            try await harness.produceFast(events(0..<100))
            try await eventually("the doubt") {
                harness.health.notReady.contains { $0.why.contains("the outcome of the commit is unknown") }
            }
            harness.broker.clearErrors(on: .endTransaction)
            try await eventually("being ready again") { harness.isReady }
            #expect(try await harness.distinctIDs(Self.topics.requests, count: 100).count == 100)
        }
    }

    @Test("A commit whose reply is lost is complete, and its events are not read again")
    func lostReply() async throws {
        try await with { harness in
            try await eventually("being ready") { harness.isReady }
            try harness.broker.loseReply(of: .endTransaction)
            try await harness.produceFast(events(0..<100))
            _ = try await harness.records(Self.topics.requests, count: 100)
            try await harness.produceFast(events(100..<200))
            let records = try await harness.records(Self.topics.requests, count: 200)
            #expect(Set(records.compactMap { $0.header("ce_id") }).count == 200)
        }
    }

    @Test("A batch that the broker refuses as too large aborts its transaction, and smaller ones follow")
    func refusedAsTooLarge() async throws {
        try await with { harness in
            try await eventually("being ready") { harness.isReady }
            // The first produce request is the one of the event itself.
            harness.broker.inject(errors: [.init(rawValue: 0), .messageTooLarge], on: .produce)
            try await harness.produce(events(1..<2))
            #expect(try await harness.distinctIDs(Self.topics.requests, count: 1).count == 1)
            #expect(harness.log.lines.contains { $0.contains("too large") && $0.contains("500000") })
        }
    }

    @Test("A broker outage longer than the transaction timeout loses no event")
    func brokerAway() async throws {
        try await with { harness in
            try await harness.produceFast(events(0..<300))
            _ = try await harness.records(Self.topics.requests, count: 1)
            try harness.broker.setBroker(isUp: false)
            try await eventually("not being ready") { !harness.isReady }
            try harness.broker.setBroker(isUp: true)
            try await eventually("being ready again") { harness.isReady }
            try await harness.produceFast(events(300..<400))
            #expect(try await harness.distinctIDs(Self.topics.requests, count: 400).count == 400)
        }
    }

    @Test("Partitions that move to another instance under load lose no event")
    func rebalance() async throws {
        let broker = try ProducerHarness.makeBroker()
        try await with(broker, instance: "a") { first in
            try await first.produceFast(events(0..<500))
            _ = try await first.records(Self.topics.requests, count: 1)
            try await with(broker, instance: "b") { second in
                try await first.produceFast(events(500..<1_000))
                try await eventually("both being ready") { first.isReady && second.isReady }
                #expect(try await first.distinctIDs(Self.topics.requests, count: 1_000).count == 1_000)
                try await first.stop()
                try await second.produceFast(events(1_000..<1_100))
                #expect(try await second.distinctIDs(Self.topics.requests, count: 1_100).count == 1_100)
            }
        }
        await broker.shutDown()
    }

    @Test("A shutdown under load commits or aborts, and the next instance continues")
    func shutdown() async throws {
        let broker = try ProducerHarness.makeBroker()
        try await with(broker) { harness in
            try await harness.produceFast(events(0..<2_000))
            _ = try await harness.records(Self.topics.requests, count: 100)
            try await harness.stop()
        }
        try await with(broker) { harness in
            let ids = try await harness.distinctIDs(Self.topics.requests, count: 2_000)
            #expect(ids.count == 2_000)
        }
        await broker.shutDown()
    }

    @Test("Lost partitions are never committed; revoked ones are, completely")
    func revoke() async throws {
        let broker = try ProducerHarness.makeBroker()
        try await withSession(broker) { session in
            let place = IngestPartition(.businessEvents, 0)
            func revoke(lost: Bool) {
                session.revoked([place], lost: lost, until: .now + .seconds(20))
            }
            func put(_ offset: Int64) {
                let slot = session.tracker.begin(place, offset: offset, records: 1)
                let tag = OutgoingRecord.tag(of: .request, in: slot)
                let record = LinkRecord(topic: IngestTopic.requests, partition: 0, key: nil, value: [1], tag: tag)
                session.send(OutgoingRecord(record: record, source: place))
            }
            put(0)
            #expect(session.transactions?.isOpen == true)
            revoke(lost: false)
            #expect(session.failure == nil && session.transactions?.isOpen == false && session.tracker.waiting == 0)
            // A commit would get this error; an abort does not.
            broker.inject(errors: [.init(rawValue: 30)], on: .addOffsetsToTransaction)
            put(1)
            revoke(lost: true)
            #expect(session.failure == nil && session.transactions?.isOpen == false && session.tracker.waiting == 0)
            #expect(session.tracker.lowWaterMarks().isEmpty)
            put(2)
            revoke(lost: false)
            #expect((session.failure as? KafkaTransactionFailure)?.call == .sendOffsets)
            #expect(session.transactions?.isOpen == false && session.tracker.waiting == 0)
        }
        await broker.shutDown()
    }

    /// A connected session that does not run.
    private func withSession(
        _ broker: LocalBroker,
        _ body: @escaping @Sendable (IngestSession<KafkaIngestLink>) throws -> Void
    ) async throws {
        var service = ProducerServiceConfiguration(bootstrapServers: broker.bootstrapServers)
        service.guarantee = .exactlyOnce
        let rules = FileManager.default.temporaryDirectory.appendingPathComponent("rules-\(UUID().uuidString).yaml")
        try Data(IngestTests.rules.utf8).write(to: rules)
        defer { try? FileManager.default.removeItem(at: rules) }
        let store = try RuleStore(path: rules.path, defaultApplication: "shop", now: { ProducerHarness.now })
        let configuration = service.ingest
        try await KafkaThread.run(name: "session") {
            let (health, stop) = (Health().component("kafka"), StopSignal())
            let made = try KafkaIngestLink(
                configuration,
                [.businessEvents],
                GuaranteeChoice(asked: configuration.guarantee),
                KafkaRecordCeiling(1_000_000, least: RecordBound.least, logger: ProducerHarness.logger),
                health,
                stop,
                ProducerHarness.logger
            )
            let context = IngestContext(
                configuration: configuration,
                guarantee: .exactlyOnce,
                rules: { store.engine },
                metrics: ProducerMetrics(),
                health: health,
                stop: stop,
                logger: ProducerHarness.logger,
                now: { ProducerHarness.now }
            )
            let session = IngestSession(context: context, link: try #require(made))
            try session.start()
            defer { session.close() }
            try body(session)
        }
    }

    // MARK: - The choice

    @Test("Only the default depends on the cluster, and is logged once")
    func choice() async throws {
        let broker = try LocalBroker()
        let log = CollectedLog(from: .info)
        let logger = log.logger
        try await KafkaThread.run(name: "test") {
            let wait = BrokerWait(
                health: Health().component("kafka"),
                stop: StopSignal(),
                logger: ProducerHarness.logger
            )
            let adapting = GuaranteeChoice(asked: nil)
            for _ in 0..<2 {
                let chosen = try #require(try adapting.choose(on: broker.clientConfiguration(), wait, logger))
                #expect(chosen.guarantee == .atLeastOnce && LocalBroker.isEmbedded(clusterID: chosen.clusterID))
            }
            for asked in DeliveryGuarantee.allCases {
                let choice = GuaranteeChoice(asked: asked)
                let quiet = ProducerHarness.logger
                #expect(try choice.choose(on: broker.clientConfiguration(), wait, quiet)?.guarantee == asked)
            }
        }
        let why = #"["reason": the embedded broker cannot give more]"#
        #expect(log.lines == ["info: delivery guarantee of ingest: at-least-once \(why)"])
        await broker.shutDown()
    }

    @Test("A fenced producer names the instance.id in use, and the remedy")
    func fenced() throws {
        var settings = try ServiceSettings(
            environment: ["CARILLON_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "CARILLON_INSTANCE_ID": "a"],
            file: nil
        )
        let configuration = ProducerServiceConfiguration(settings: &settings).ingest
        let error = KafkaError(code: .fenced, reason: "fenced", isFatal: true)
        for cause in [
            error, KafkaTransactionFailure(error: error, call: .commit, decision: .recreate),
        ] as [any Error] {
            let text = "\(configuration.explain(cause))"
            #expect(text.hasPrefix("another process uses instance.id a (carillon-producer-a-ingest was fenced)"))
        }
        let other = KafkaError(code: .timedOut, reason: "later")
        #expect(configuration.explain(other) as? KafkaError == other)
    }
}
