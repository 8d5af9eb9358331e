import AsyncHTTPClient
import Foundation
package import Logging
import NIOCore
import NIOSSL
package import NotificationConsumer
import NotificationModel
package import ServiceSupport
import Synchronization

/// The channel `webhook`: posts each notification, and each recall, to one URL as a signed CloudEvent.
///
/// Its lanes limit the requests at one time to `concurrency`, which is also the number of connections, so that no
/// request waits here. While the endpoint fails, a circuit breaker answers sends without a request.
package final class WebhookChannel: DeliveryChannel, Sendable {
    typealias Configuration = ConsumerServiceConfiguration.Webhook

    /// The time and the randomness that it uses.
    struct World: Sendable {
        /// Nanoseconds of a monotonic clock.
        var now: @Sendable () -> Int64
        /// The wall clock, for the time of events and signatures.
        var wall: @Sendable () -> Timestamp
        /// From 0 to below 1.
        var jitter: @Sendable () -> Double
    }

    /// A request in progress.
    private struct Active {
        let exchange: WebhookExchange
        let pass: CircuitBreaker.Pass
    }

    private struct Contents {
        var breaker: CircuitBreaker
        var active: [ChannelReply: Active] = [:]
        /// When a permanent refusal was last logged, in nanoseconds.
        var logged: Int64?
    }

    package let name = "webhook"
    private let configuration: Configuration
    private let requests: WebhookRequests
    private let client: HTTPClient
    private let metrics: WebhookMetrics
    private let health: HealthComponent
    private let world: World
    private let logger: Logger
    private let contents: Mutex<Contents>
    private let collection: Mutex<MetricsCollection?> = Mutex(nil)

    /// - Parameters:
    ///   - source: the `source` of the events.
    /// - Throws: `WebhookSettingsError`.
    package convenience init(
        _ configuration: ConsumerServiceConfiguration.Webhook,
        source: String,
        health: Health,
        registry: PrometheusRegistry,
        logger: Logger
    ) throws {
        let start = ContinuousClock.now
        try self.init(
            configuration,
            source: source,
            health: health,
            registry: registry,
            logger: logger,
            world: World(
                now: { (ContinuousClock.now - start).nanoseconds },
                wall: { SystemClock.now() },
                jitter: { Double.random(in: 0..<1) }
            )
        )
    }

    init(
        _ configuration: Configuration,
        source: String,
        health: Health,
        registry: PrometheusRegistry,
        logger: Logger,
        world: World
    ) throws {
        let signer = try WebhookKeyFile.load(path: configuration.keysFile)
        requests = try WebhookRequests(url: configuration.url, channel: name, source: source, signer: signer)
        if WebhookKeyFile.isExposed(configuration.keysFile) {
            logger.warning(
                "every user of this machine can read the webhook's keys",
                metadata: ["file": "\(configuration.keysFile)"]
            )
        }
        (self.configuration, self.world, self.logger) = (configuration, world, logger)
        client = HTTPClient(
            eventLoopGroup: HTTPClient.defaultEventLoopGroup,
            configuration: Self.clientConfiguration(configuration)
        )
        metrics = WebhookMetrics(registry)
        self.health = health.component("webhook")
        contents = Mutex(
            Contents(
                breaker: CircuitBreaker(
                    .init(
                        failures: configuration.breakerFailures,
                        firstPause: configuration.breakerFirstPause.milliseconds,
                        longestPause: max(
                            configuration.breakerFirstPause,
                            configuration.breakerLongestPause
                        ).milliseconds
                    )
                )
            )
        )
        self.health.ready()
        let collection = registry.collect { [weak self] page in self?.collect(&page) }
        self.collection.withLock { $0 = collection }
    }

    deinit {
        collection.withLock { $0?.cancel() }
        // Does nothing after `close`.
        client.shutdown { _ in }
    }

    private static func clientConfiguration(_ configuration: Configuration) -> HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        var client = HTTPClient.Configuration(
            tlsConfiguration: tls,
            redirectConfiguration: .disallow,
            timeout: .init(connect: .nanoseconds(configuration.connectTimeout.nanoseconds)),
            connectionPool: .init(idleTimeout: .nanoseconds(configuration.idleTimeout.nanoseconds)),
            decompression: .disabled
        )
        client.httpVersion = .http1Only
        client.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = configuration.connections
        // The retry policy decides when an attempt follows, and the breaker has to know of the failure.
        client.connectionPool.retryConnectionEstablishment = false
        return client
    }

    // MARK: - Sends

    package var concurrency: Int? { configuration.connections }

    package func begin(_ send: ChannelSend, _ reply: ChannelReply) {
        let start = world.now()
        let exchange = WebhookExchange(answerBytes: configuration.answerBytes) { [weak self] answer in
            self?.end(reply, answer, since: start)
        }
        let admission = contents.withLock { contents in
            let admission = contents.breaker.admit(at: start / 1_000_000)
            if case .admitted(let pass) = admission {
                contents.active[reply] = Active(exchange: exchange, pass: pass)
            }
            return admission
        }
        if case .refused(let pause) = admission {
            metrics.countRefused()
            return reply(.failed(retryAfter: pause))
        }
        exchange.begin(
            requests.request(for: send, at: world.wall()),
            by: .now() + .nanoseconds(configuration.timeout.nanoseconds),
            with: client
        )
    }

    package func cancel(_ reply: ChannelReply) {
        guard let active = contents.withLock({ $0.active.removeValue(forKey: reply) }), active.exchange.cancel() else {
            return
        }
        metrics.count(.cancelled)
        note(.cancelled, of: active.pass, because: .cancelled)
    }

    package func close() async {
        try? await client.shutdown()
    }

    private func end(_ reply: ChannelReply, _ answer: WebhookAnswer, since start: Int64) {
        guard let active = contents.withLock({ $0.active.removeValue(forKey: reply) }) else { return }
        metrics.record(duration: world.now() - start)
        let (kind, result) = answer.result(at: world.wall())
        metrics.count(kind)
        switch result {
        case .failed(let pause): note(.failure(retryAfter: pause), of: active.pass, because: kind)
        case .accepted: note(.success, of: active.pass, because: kind)
        case .rejected:
            note(.success, of: active.pass, because: kind)
            if case .head(let status, _) = answer { logRefusal(status) }
        }
        reply(result)
    }

    // MARK: - The endpoint

    private func note(_ outcome: CircuitBreaker.Outcome, of pass: CircuitBreaker.Pass, because kind: WebhookAnswer.Kind)
    {
        let (now, jitter) = (world.now() / 1_000_000, world.jitter())
        let change = contents.withLock { contents in
            let change = contents.breaker.note(outcome, of: pass, at: now, jitter: jitter)
            // Under the lock: two threads must not report two changes in the wrong order.
            switch change {
            case .opened, .remainsOpen:
                health.remark("the circuit breaker of \(requests.authority) is open, after: \(kind.rawValue)")
            case .closed: health.remark(nil)
            case nil: break
            }
            return change
        }
        switch change {
        case .opened(let pause):
            metrics.countOpened()
            logger.warning("the webhook's endpoint fails: its circuit breaker opens", metadata: of(kind, pause))
        case .remainsOpen(let pause):
            logger.info("the webhook's endpoint still fails", metadata: of(kind, pause))
        case .closed:
            logger.notice("the webhook's endpoint works again", metadata: ["endpoint": "\(requests.authority)"])
        case nil: break
        }
    }

    private func of(_ kind: WebhookAnswer.Kind, _ pause: Int64) -> Logger.Metadata {
        ["endpoint": "\(requests.authority)", "failure": "\(kind.rawValue)", "pauseMilliseconds": "\(pause)"]
    }

    /// At most once a minute: every notification may be refused.
    private func logRefusal(_ status: UInt) {
        let now = world.now()
        let isDue = contents.withLock { contents in
            if let logged = contents.logged, now - logged < 60_000_000_000 { return false }
            contents.logged = now
            return true
        }
        guard isDue else { return }
        logger.warning(
            "the webhook's endpoint refuses notifications permanently",
            metadata: ["endpoint": "\(requests.authority)", "status": "\(status)"]
        )
    }

    private func collect(_ page: inout MetricsPage) {
        let (active, isClosed) = contents.withLock { ($0.active.count, $0.breaker.isClosed) }
        page.gauge(
            "webhook.requests.active",
            help: "Requests to the webhook's endpoint that are not answered yet.",
            value: Double(active)
        )
        page.gauge(
            "webhook.breaker.open",
            help: "Whether the circuit breaker of the webhook's endpoint is open, 1 or 0.",
            value: isClosed ? 0 : 1
        )
    }
}
