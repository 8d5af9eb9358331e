import Kafka
public import Logging
public import NotificationModel
import ServiceHTTP
public import ServiceLifecycle
public import ServiceSupport
package import ServiceTracing

/// The producer service: business events and HTTP calls become notification requests on Kafka.
///
///     let service = try ProducerService(configuration: configuration, health: health, logger: logger)
///     try await ServiceRunner.run([service], shutdownTimeout: .seconds(25), logger: logger)
///
/// On graceful shutdown it stops accepting connections, finishes the calls in progress, waits until the events read are
/// acknowledged and committed, and flushes its producers, all within `drain.timeout`.
public struct ProducerService: Service {
    let configuration: ProducerServiceConfiguration
    let rules: RuleStore?
    let ceiling: KafkaRecordCeiling
    let zones: TimeZoneDatabase
    /// The categories of all applications.
    package let categories = CategoryTable()
    let categoryReader: CategoryReader
    private let http: HTTPInterface
    private let kafkaHealth: HealthComponent
    /// Gets spans; nil where nothing is traced.
    let tracer: Tracer?
    let logger: Logger
    let now: @Sendable () -> Timestamp
    let makeRequestID: @Sendable () -> NotificationModel.RequestID

    /// Reads the rules, the tokens, the certificate and the time zones; connects only in ``run()``.
    ///
    /// - Parameters:
    ///   - configuration: The settings.
    ///   - health: Gets the components `kafka`, `rules`, `http` and `categories`.
    ///   - registry: The registry for the metrics' descriptions; the values go to the process-wide system of
    ///     swift-metrics.
    ///   - logger: The service's logger.
    ///   - now: The clock for expirations and `ce_time`; the system clock by default.
    ///   - makeRequestID: Creates ids for HTTP calls without an `Idempotency-Key`; random by default.
    /// - Throws: `KafkaError` that names a property librdkafka rejects, ``RuleFileError`` with every problem of the
    ///   rule file, ``ListenerSettingsError`` that names the problem of the address, the tokens or the certificate,
    ///   `TimeZoneError` without a time zone database.
    public init(
        configuration: ProducerServiceConfiguration,
        health: Health,
        registry: PrometheusRegistry? = nil,
        logger: Logger,
        now: (@Sendable () -> Timestamp)? = nil,
        makeRequestID: (@Sendable () -> NotificationModel.RequestID)? = nil
    ) throws {
        try self.init(
            configuration: configuration,
            health: health,
            registry: registry,
            tracer: nil,
            logger: logger,
            now: now,
            makeRequestID: makeRequestID
        )
    }

    /// - Parameter tracer: Gets spans; nil where nothing is traced.
    package init(
        configuration: ProducerServiceConfiguration,
        health: Health,
        registry: PrometheusRegistry?,
        tracer: Tracer?,
        logger: Logger,
        now: (@Sendable () -> Timestamp)? = nil,
        makeRequestID: (@Sendable () -> NotificationModel.RequestID)? = nil
    ) throws {
        self.configuration = configuration
        self.tracer = tracer
        self.logger = logger
        self.now = now ?? SystemClock.now
        self.makeRequestID = makeRequestID ?? { NotificationModel.RequestID.random() }
        kafkaHealth = health.component("kafka")
        let rulesHealth = health.component("rules")
        http = try HTTPInterface(
            name: "HTTP API",
            configuration: configuration.http,
            defaultApplication: configuration.defaultApplication,
            now: self.now,
            health: health.component("http"),
            tracer: tracer,
            logger: logger
        )
        try configuration.callProducer.check(leastRecordBytes: RecordBound.least)
        try configuration.ingest.producer.check()
        ceiling = KafkaRecordCeiling(
            configuration.callProducer.maximumRecordBytes,
            least: RecordBound.least,
            logger: logger
        )
        try configuration.ingest.consumer.check()
        zones = try TimeZoneDatabase.loaded(logger: logger)
        rules = try configuration.rulesFile.map { [now = self.now] path throws(RuleFileError) in
            try RuleStore(
                path: path,
                defaultApplication: configuration.defaultApplication,
                unmatched: configuration.unmatchedEvents,
                now: now
            )
        }
        categoryReader = CategoryReader(
            table: categories,
            topic: configuration.topics.categories,
            client: configuration.shared.client("carillon-producer-categories"),
            health: health,
            registry: registry,
            logger: logger
        )
        rulesHealth.ready()
        if let registry { ProducerMetrics.describe(registry) }
    }

    /// The port of the HTTP API, once it listens.
    ///
    /// - Throws: `ListenError` when it failed to listen, `CancellationError` when the caller was cancelled or the
    ///   service ended before.
    public var httpPort: Int {
        get async throws { try await http.port }
    }

    /// Runs until graceful shutdown or cancellation.
    ///
    /// - Throws: `ListenError` when the address cannot be bound, `KafkaError` when a Kafka property is wrong.
    public func run() async throws {
        do {
            let producer = try KafkaProducer(
                configuration: configuration.callProducer,
                ceiling: ceiling,
                logger: logger
            )
            let outcome: Result<Void, any Error>
            do {
                try await serve(producer)
                outcome = .success(())
            } catch {
                outcome = .failure(error)
            }
            // All calls are answered by now, so this is quick; cancellation must not cut it short.
            await Task { await producer.shutDown(within: .seconds(2)) }.value
            try outcome.get()
        } catch {
            http.end(error)
            throw error
        }
        http.end(CancellationError())
    }

    /// Reads the files again that may change while the service runs, as SIGHUP does: rules, tokens, keys, certificates.
    public func reload() async {
        await http.reload()
        if rules != nil || !http.hasFiles { await reloadRules() }
    }

    /// Reloads the rule file. New rules apply from the next event on, and each event sees either the
    /// old or the new ones. An invalid file changes nothing: each problem is logged, and the service stays ready.
    ///
    /// - Returns: Whether the rules in force are those of the file; false also without a rule file.
    @discardableResult
    public func reloadRules() async -> Bool {
        guard let rules else {
            logger.warning("rules.file is not set: there are no rules to reload")
            return false
        }
        return await rules.reload(logger: logger)
    }

    private func serve(_ producer: KafkaProducer) async throws {
        let metrics = ProducerMetrics()
        let ingest = rules.map { rules in
            Ingest(
                configuration: configuration.ingest,
                ceiling: ceiling,
                rules: rules,
                metrics: metrics,
                health: kafkaHealth,
                tracer: tracer,
                logger: logger,
                now: now
            )
        }
        let routes = routes(producer, metrics)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await http.serve(
                    routes,
                    unanswered: .unavailable,
                    metrics.http,
                    drainTimeout: configuration.drainTimeout
                )
            }
            group.addTask { try await categoryReader.run() }
            if let ingest {
                logger.info("rules loaded", metadata: [LogMetadata.count: "\(rules?.engine.rules.count ?? 0)"])
                rules?.logWarnings(logger)
                group.addTask { await ingest.run() }
            } else {
                logger.warning(
                    "rules.file is not set: business events stay on their topic until a producer with rules reads them"
                )
                group.addTask { await watchBroker(producer) }
            }
            // The first failure stops the others.
            while try await group.next() != nil {}
        }
    }

    /// Without ingest this reports whether the broker is reachable.
    private func watchBroker(_ producer: KafkaProducer) async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    _ = try await producer.partitionCount(of: configuration.topics.requests)
                    kafkaHealth.ready()
                } catch {
                    kafkaHealth.notReady("the broker does not answer: \(error)")
                }
                try? await Task.sleep(for: .seconds(2))
            }
        }
    }
}
