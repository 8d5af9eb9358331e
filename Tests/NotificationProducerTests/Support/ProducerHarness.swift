import Foundation
import HTTPTesting
import Kafka
import LocalBroker
import Logging
import NotificationModel
import ServiceLifecycle
import ServiceSupport
import Testing
import TestSupport

@testable import NotificationProducer

/// A broker with the topics, and a producer service.
final class ProducerHarness: Sendable {
    static let topics = TopicNames()
    static let partitions = 3
    /// The service's clock is fixed.
    static let now = Timestamp(rawValue: 1_795_000_000_000)

    let broker: LocalBroker
    let service: ProducerService
    let health: Health
    let http: RawHTTP
    let log: CollectedLog
    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    private init(
        broker: LocalBroker,
        service: ProducerService,
        health: Health,
        http: RawHTTP,
        log: CollectedLog,
        group: ServiceGroup,
        running: Task<Void, any Error>
    ) {
        self.broker = broker
        self.service = service
        self.health = health
        self.http = http
        self.log = log
        self.group = group
        self.running = running
    }

    static var logger: Logger {
        var logger = Logger(label: "test")
        logger.logLevel =
            ProcessInfo.processInfo.environment["CARILLON_TEST_LOG"].flatMap { .init(rawValue: $0) } ?? .critical
        return logger
    }

    static func makeBroker() throws -> LocalBroker {
        try LocalBroker(
            topics: [
                topics.businessEvents: partitions, topics.requests: partitions, topics.signals: partitions,
                topics.devices: partitions, topics.responses: partitions, topics.deadLetters: partitions,
            ]
        )
    }

    /// Starts a service for `body`, which may stop it.
    static func with(
        rules: String? = nil,
        tokens: String? = nil,
        broker: LocalBroker? = nil,
        health: Health = Health(),
        configure: (inout ProducerServiceConfiguration) -> Void = { _ in },
        _ body: (ProducerHarness) async throws -> Void
    ) async throws {
        let ownBroker = broker == nil
        let broker = try broker ?? makeBroker()
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("carillon-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        var configuration = ProducerServiceConfiguration(bootstrapServers: broker.bootstrapServers)
        configuration.http.port = 0
        // Tests that need a deadline set it; others must not hit one on a busy machine.
        configuration.http.deadline = .seconds(120)
        configuration.http.receiveTimeout = .seconds(600)
        configuration.http.idleTimeout = .seconds(600)
        configuration.defaultApplication = "shop"
        configuration.deployment = "test"
        configuration.kafkaProperties.merge(LocalBroker.recommendedConsumerProperties) { $1 }
        if let rules {
            let file = directory.appendingPathComponent("rules.yaml")
            try Data(rules.utf8).write(to: file)
            configuration.rulesFile = file.path
        }
        if let tokens {
            let file = directory.appendingPathComponent("tokens")
            try Data(tokens.utf8).write(to: file)
            configuration.http.tokensFile = file.path
        }
        configure(&configuration)
        let log = CollectedLog(from: .info)
        let service = try ProducerService(
            configuration: configuration,
            health: health,
            logger: Logger(label: "test") { _ in MultiplexLogHandler([logger.handler, log.handler]) },
            now: { now }
        )
        var groupConfiguration = ServiceGroupConfiguration(services: [.init(service: service)], logger: logger)
        groupConfiguration.maximumGracefulShutdownDuration = .seconds(60)
        let group = ServiceGroup(configuration: groupConfiguration)
        let running = Task { try await group.run() }
        let harness: ProducerHarness
        do {
            harness = ProducerHarness(
                broker: broker,
                service: service,
                health: health,
                http: RawHTTP(port: try await service.httpPort),
                log: log,
                group: group,
                running: running
            )
        } catch {
            running.cancel()
            throw error
        }
        do {
            try await body(harness)
        } catch {
            try? await harness.stop()
            throw error
        }
        try await harness.stop()
        if ownBroker { await broker.shutDown() }
    }

    /// Stops the service as SIGTERM does; repeating it is harmless.
    func stop() async throws {
        await group.triggerGracefulShutdown()
        _ = try await running.value
    }

    var isReady: Bool { health.notReady.isEmpty }

    // MARK: Kafka

    /// The first records of a topic, from its beginning.
    func records(_ topic: String, count: Int) async throws -> [KafkaConsumerRecord] {
        try await Self.records(broker, topic, count: count)
    }

    /// Reads until this many different request ids were seen; a repeat after a fault has the same id.
    func distinctIDs(_ topic: String, count: Int) async throws -> Set<String> {
        let records = try await Self.records(broker, topic, "\(count) ids of \(topic)") { records in
            Set(records.compactMap { $0.header("ce_id") }).count >= count
        }
        return Set(records.compactMap { $0.header("ce_id") })
    }

    static func records(_ broker: LocalBroker, _ topic: String, count: Int) async throws -> [KafkaConsumerRecord] {
        try await records(broker, topic, "\(count) records of \(topic)") { $0.count == count }
    }

    private static func records(
        _ broker: LocalBroker,
        _ topic: String,
        _ what: String,
        until isComplete: @escaping @Sendable ([KafkaConsumerRecord]) -> Bool
    ) async throws -> [KafkaConsumerRecord] {
        let sequence = KafkaConsumerRecords(
            configuration: .init(client: broker.clientConfiguration(clientID: "test")),
            topics: [topic],
            start: .beginning,
            logger: logger
        )
        return try await within(.seconds(300), what) {
            var records: [KafkaConsumerRecord] = []
            for try await record in sequence {
                records.append(record)
                if isComplete(records) { break }
            }
            return records
        }
    }

    func produce(_ records: [KafkaProducerRecord]) async throws {
        let producer = try KafkaProducer(
            configuration: .init(client: broker.clientConfiguration(clientID: "test")),
            logger: Self.logger
        )
        for record in records { _ = try await producer.send(record) }
        await producer.shutDown(within: .seconds(5))
    }
}

struct DeadlineError: Error, CustomStringConvertible {
    var description: String
}

/// Fails when the body takes too long; the generous deadline only ends a test that hangs.
func within<Result: Sendable>(
    _ deadline: Duration,
    _ what: String,
    _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: deadline)
            throw DeadlineError(description: "waited \(deadline) for \(what)")
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw CancellationError() }
        return first
    }
}

extension KafkaConsumerRecord {
    var keyText: String? { key.map { String(decoding: $0, as: UTF8.self) } }
    var valueText: String? { value.map { String(decoding: $0, as: UTF8.self) } }

    func headerBytes(_ name: String) -> [UInt8]? {
        headers.last { $0.name == name }?.value
    }
}
