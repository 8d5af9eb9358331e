import Foundation
package import Logging
import NIOCore
import NIOPosix
import NIOSSL
package import NotificationDelivery
package import NotificationModel
import OutboundHTTP
import ServiceHTTP
package import ServiceSupport
import Synchronization

/// The channel `webhook`: posts each notification, and each removal, to one URL as a signed CloudEvent.
///
/// Its lanes limit the requests at one time to `concurrency`, which is also the number of connections, so that no
/// request waits here. While the endpoint fails, a circuit breaker answers sends without a request.
package final class WebhookChannel: DeliveryChannel, ReloadingChannel, ProbedChannel, Sendable {
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
        let exchange: OutboundExchange
        let pass: CircuitBreaker.Pass
    }

    private struct Contents {
        var breaker: CircuitBreaker
        var active: [ChannelReply: Active] = [:]
        /// When a refusal was last logged, in nanoseconds.
        var logged: [WebhookAnswer.Kind: Int64] = [:]
    }

    package let name = ChannelName.webhook
    private let configuration: WebhookConfiguration
    /// In milliseconds.
    private let longestRequest: Int64
    private let requests: WebhookRequests
    private let signer: RequestSigner
    private let endpoint: EgressURL
    private let connections: OutboundConnections
    private let metrics: WebhookMetrics
    private let health: HealthComponent
    private let world: World
    private let logger: Logger
    private let contents: Mutex<Contents>
    private let collection: Mutex<MetricsCollection?> = Mutex(nil)

    /// - Parameters:
    ///   - configuration: Of the channel.
    ///   - longestRequest: The longest pause that the endpoint can request.
    ///   - egress: Which addresses the endpoint may have, unless it is internal.
    ///   - source: The `source` of the events.
    ///   - health: Shows the circuit breaker.
    ///   - registry: Receives counters and gauges.
    ///   - logger: The service's logger.
    /// - Throws: `WebhookSettingsError`, and `EgressPolicyError`.
    package convenience init(
        _ configuration: WebhookConfiguration,
        longestRequest: Duration,
        egress: EgressConfiguration,
        source: String,
        health: Health,
        registry: PrometheusRegistry,
        logger: Logger
    ) throws {
        let start = ContinuousClock.now
        try self.init(
            configuration,
            longestRequest: longestRequest,
            egress: egress,
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
        _ configuration: WebhookConfiguration,
        longestRequest: Duration,
        egress: EgressConfiguration,
        source: String,
        health: Health,
        registry: PrometheusRegistry,
        logger: Logger,
        resolver: any HostResolver = SystemResolver(threads: 1),
        addressLifetime: TimeAmount = .seconds(5),
        trusting roots: NIOSSLTrustRoots = .default,
        world: World
    ) throws {
        do throws(SigningKeyError) {
            signer = try SigningKeyFile.load(path: configuration.keysFile)
        } catch {
            throw WebhookSettingsError(.keysFile, error.message)
        }
        var policy = try egress.policy()
        do throws(EgressRefusal) {
            if configuration.isInternal { policy = try .inside(configuration.url) }
            endpoint = try policy.check(configuration.url)
        } catch {
            throw WebhookSettingsError(.url, error.detail)
        }
        requests = WebhookRequests(to: endpoint, channel: name.rawValue, source: source, signer: signer)
        (self.configuration, self.world, self.logger) = (configuration, world, logger)
        self.longestRequest = longestRequest.milliseconds
        connections = try OutboundConnections(
            Self.bounds(configuration, egress),
            hosts: GuardedHosts(
                policy: policy,
                hosts: HostAddresses(
                    resolver,
                    slots: 1,
                    timeout: .nanoseconds(configuration.connectTimeout.nanoseconds),
                    lifetime: addressLifetime,
                    group: MultiThreadedEventLoopGroup.singleton,
                    now: { .now() }
                )
            ),
            trusting: roots,
            and: egress.authorities()
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
                        ).milliseconds,
                        longestRequest: longestRequest.milliseconds
                    )
                )
            )
        )
        self.health.ready()
        let collection = registry.collect { [weak self] page in self?.collect(&page) }
        self.collection.withLock { $0 = collection }
        warnIfExposed()
    }

    deinit {
        collection.withLock { $0?.cancel() }
        connections.close()
    }

    private static func bounds(
        _ configuration: WebhookConfiguration,
        _ egress: EgressConfiguration
    ) -> OutboundConnections.Settings {
        var bounds = OutboundConnections.Settings()
        (bounds.bound, bounds.boundPerHost) = (configuration.connections, configuration.connections)
        // The lanes bound what waits, and there is a single server.
        (bounds.waiting, bounds.isShared) = (.max, false)
        bounds.connectTimeout = .nanoseconds(configuration.connectTimeout.nanoseconds)
        bounds.firstByteTimeout = .nanoseconds(configuration.timeout.nanoseconds)
        bounds.idleTimeout = .nanoseconds(configuration.idleTimeout.nanoseconds)
        bounds.age = .nanoseconds(egress.connectionAge.nanoseconds)
        bounds.drainedBytes = configuration.answerBytes
        return bounds
    }

    // MARK: - Keys

    /// Reads the file of keys again, and tests a failing endpoint with the next send. Requests that begin afterwards are
    /// signed with the keys of the file; a file that is wrong changes nothing, and is logged and counted.
    package func reload() async {
        await readKeys()
        guard contents.withLock({ $0.breaker.testNext(at: world.now() / 1_000_000) }) else { return }
        logger.notice(
            "the next send tests the webhook's endpoint",
            metadata: ["endpoint": "\(endpoint.hostHeader)"]
        )
    }

    private func readKeys() async {
        let path = configuration.keysFile
        do {
            let new = try await NIOThreadPool.singleton.runIfActive { try SigningKeyFile.load(path: path) }
            signer.use(keysOf: new)
            metrics.countReload(succeeded: true)
            logger.notice("the webhook's keys are read again", metadata: ["keys": "\(new.count)"])
            warnIfExposed()
        } catch {
            metrics.countReload(succeeded: false)
            logger.error(
                "the webhook's keys are not read again: the previous ones stay in force",
                metadata: ["error": "\(error)"]
            )
        }
    }

    private func warnIfExposed() {
        guard SecretFile.isExposed(configuration.keysFile) else { return }
        logger.warning(
            "every user of this machine can read the webhook's keys",
            metadata: ["file": "\(configuration.keysFile)"]
        )
    }

    // MARK: - Sends

    package var concurrency: Int? { configuration.connections }

    package func begin(_ send: Issued<ChannelSend>, _ reply: ChannelReply) {
        let start = world.now()
        switch contents.withLock({ $0.breaker.admit(at: start / 1_000_000) }) {
        case .refused(let pause):
            metrics.countRefused()
            reply(.deferred(retryAfter: pause))
        case .admitted(let pass):
            let request = requests.request(for: send.work, at: world.wall())
            let exchange = OutboundExchange(
                request.head,
                to: endpoint,
                at: nil,
                body: request.body,
                by: .now() + .nanoseconds(configuration.timeout.nanoseconds),
                // The lane decides what is tried again.
                isRepeated: false,
                judge: { .end(.success(WebhookStatus($0))) }
            )
            contents.withLock { $0.active[reply] = Active(exchange: exchange, pass: pass) }
            exchange.begin(by: connections) { [weak self] result in
                self?.end(reply, WebhookAnswer(result), since: start)
            }
        }
    }

    package func cancel(_ reply: ChannelReply) {
        guard let active = contents.withLock({ $0.active.removeValue(forKey: reply) }),
            active.exchange.cancel(by: connections)
        else {
            return
        }
        metrics.count(.cancelled)
        note(.cancelled, of: active.pass, because: .cancelled)
    }

    package var probes: [ChannelProbe] {
        [
            ChannelProbe("the endpoint of the webhook") { [connections, endpoint] in
                await connections.probe(endpoint, within: $0)
            }
        ]
    }

    package func close() async {
        connections.close()
    }

    private func end(_ reply: ChannelReply, _ answer: WebhookAnswer, since start: Int64) {
        guard let active = contents.withLock({ $0.active.removeValue(forKey: reply) }) else { return }
        metrics.record(duration: world.now() - start)
        let (kind, result) = answer.result(at: world.wall(), longest: longestRequest)
        metrics.count(kind)
        switch result {
        case .failed(let pause), .unanswered(let pause), .deferred(let pause):
            note(.failure(retryAfter: pause), of: active.pass, because: kind)
            if kind == .refusedAddress, case .failure(let failure) = answer { logRefusal(failure) }
        case .accepted, .reduced, .removed: note(.success, of: active.pass, because: kind)
        case .rejected, .gone:
            note(.success, of: active.pass, because: kind)
            if case .status(let answer) = answer { logRefusal(answer.status) }
        }
        reply(result)
    }

    // MARK: - The endpoint

    private func note(_ outcome: CircuitBreaker.Outcome, of pass: CircuitBreaker.Pass, because kind: WebhookAnswer.Kind)
    {
        let now = world.now() / 1_000_000
        let change = contents.withLock { contents in
            let change = contents.breaker.note(outcome, of: pass, at: now, jitter: world.jitter())
            // Under the lock: two threads must not report two changes in the wrong order.
            switch change {
            case .opened, .remainsOpen:
                health.remark("the circuit breaker of \(endpoint.hostHeader) is open, after: \(kind.rawValue)")
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
            logger.notice(
                "the webhook's endpoint works again",
                metadata: ["endpoint": "\(endpoint.hostHeader)"]
            )
        case nil: break
        }
    }

    private func of(_ kind: WebhookAnswer.Kind, _ pause: Int64) -> Logger.Metadata {
        ["endpoint": "\(endpoint.hostHeader)", "failure": "\(kind.rawValue)", "pauseMilliseconds": "\(pause)"]
    }

    private func logRefusal(_ status: UInt) {
        guard isDue(.rejected) else { return }
        logger.warning(
            "the webhook's endpoint refuses notifications permanently",
            metadata: ["endpoint": "\(endpoint.hostHeader)", "status": "\(status)"]
        )
    }

    private func logRefusal(_ refusal: OutboundFailure) {
        guard isDue(.refusedAddress) else { return }
        logger.warning(
            "the webhook's endpoint has an address that is not allowed: nothing is sent to it",
            metadata: ["endpoint": "\(endpoint.hostHeader)", "refusal": "\(refusal)"]
        )
    }

    /// At most once a minute for each kind: every notification may be refused.
    private func isDue(_ kind: WebhookAnswer.Kind) -> Bool {
        let now = world.now()
        return contents.withLock { contents in
            if let logged = contents.logged[kind], now - logged < 60_000_000_000 { return false }
            contents.logged[kind] = now
            return true
        }
    }

    private func collect(_ page: inout MetricsPage) {
        let (active, isClosed) = contents.withLock { ($0.active.count, $0.breaker.isClosed) }
        page.gauge(
            "webhook.requests.active",
            help: "Requests to the webhook's endpoint that are not answered yet.",
            value: Double(active)
        )
        page.gauge(
            "webhook.connections",
            help: "Connections to the webhook's endpoint that are open or being opened.",
            value: Double(connections.usage.open)
        )
        page.gauge(
            "webhook.breaker.open",
            help: "Whether the circuit breaker of the webhook's endpoint is open, 1 or 0.",
            value: isClosed ? 0 : 1
        )
    }
}
