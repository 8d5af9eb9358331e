package import Logging
import NIOCore
import NIOPosix
package import NotificationDelivery
package import NotificationModel
import OutboundHTTP
package import ServiceSupport
import Synchronization

/// The channel `webpush`: sends each notification to one browser or UnifiedPush app (RFC 8030), encrypted for it
/// (RFC 8291) and signed with the application's key (RFC 8292).
///
/// Endpoints are URLs that whoever registers a device names: the address guard judges them, and an answer never concerns more than
/// its origin. What an answer leads to is ``WebPushAction``. Retries are the lane's.
package final class WebPushChannel: DeliveryChannel, ReloadingChannel, Sendable {
    /// The time and the randomness that it uses, and what is known of the world outside.
    package struct World: Sendable {
        /// The wall clock.
        var wall: @Sendable () -> Timestamp = { SystemClock.now() }
        /// What is drawn for each message.
        var secrets: @Sendable () -> WebPushSecrets? = { .random() }
        /// Calls a function on another thread: encryption takes a tenth of a millisecond, which is not the lane's.
        var aside: @Sendable (@escaping @Sendable () -> Void) -> Void = { body in
            MultiThreadedEventLoopGroup.singleton.next().execute(body)
        }
        /// Looks hosts up.
        var resolver: any HostResolver = SystemResolver(threads: OutboundConnections.lookUps)

        package init() {}
    }

    /// A message on its way.
    private struct Flight: Sendable {
        let application: String
        let sender: WebPushSender
        let subscription: PushSubscription
        let endpoint: EgressURL
        let message: WebPushMessage
        /// When the push service takes it.
        let success: ChannelResult
        let reply: ChannelReply
        let begun: Timestamp
    }

    private struct Contents {
        var senders = WebPushSenders()
        /// Applications that are not in the file.
        var stops = ApplicationStops(of: "Web Push")
        /// Applications whose key a push service refuses, as events have told.
        var refused: Set<ExactText> = []
        /// What has no answer; nil while it is being encrypted.
        var active: [ChannelReply: OutboundExchange?] = [:]
        var isClosed = false

        var summary: String? { stops.summary ?? senders.summary }
    }

    package let name = ChannelName.webpush
    package let changes: ChannelChanges? = ChannelChanges()
    private let configuration: WebPushConfiguration
    private let policy: EgressPolicy
    private let connections: OutboundConnections
    private let metrics: PushMetrics
    private let health: HealthComponent
    private let world: World
    private let logger: Logger
    private let contents: Mutex<Contents>
    private let collection: Mutex<MetricsCollection?> = Mutex(nil)

    /// - Parameters:
    ///   - configuration: Of the channel.
    ///   - egress: Which addresses push services may have, and further authorities.
    ///   - health: Says which keys are refused.
    ///   - registry: Receives counters and gauges.
    ///   - logger: The service's logger.
    ///   - world: Its time and chance.
    /// - Throws: `PushSettingsError`, and `EgressPolicyError`.
    package init(
        _ configuration: WebPushConfiguration,
        egress: EgressConfiguration,
        health: Health,
        registry: PrometheusRegistry,
        logger: Logger,
        world: World = World()
    ) throws {
        var contents = Contents()
        contents.senders.use(try WebPushApplicationsFile.load(path: configuration.applicationsFile))
        self.contents = Mutex(contents)
        policy = try egress.webPushPolicy(internalOrigins: configuration.internalOrigins)
        connections = try OutboundConnections(configuration, policy: policy, egress, resolver: world.resolver)
        metrics = PushMetrics(
            .webpush,
            of: "push services",
            devices: "subscribed",
            reasons: WebPushAction.allCases.dropFirst().map(\.rawValue) + [Self.addressRefused],
            isPooled: false,
            registry
        )
        self.health = health.component("webpush")
        (self.configuration, self.world, self.logger) = (configuration, world, logger)
        self.health.ready()
        let collection = registry.collect { [weak self] page in self?.collect(&page) }
        self.collection.withLock { $0 = collection }
    }

    deinit {
        collection.withLock { $0?.cancel() }
        connections.close()
    }

    /// The reason of an endpoint whose address the policy refuses, for metrics.
    private static let addressRefused = "address-refused"

    // MARK: - Attempts

    package func begin(_ send: Issued<ChannelSend>, _ reply: ChannelReply) {
        let send = send.work
        guard let token = send.registration?.token, let subscription = try? PushSubscription(kept: token) else {
            return end(reply, .rejected(.unsupportedForm))
        }
        let application = send.key.application
        let now = world.wall()
        let (pause, route) = contents.withLock { contents in
            (contents.stops.pause(of: application, at: now), contents.senders[application])
        }
        guard let route else {
            if let pause { return end(reply, .deferred(retryAfter: pause)) }
            noteStop(of: application, "it is not in \(WebPushApplicationsFile.setting)")
            return end(reply, .deferred(retryAfter: ApplicationStops.pause))
        }
        let endpoint: EgressURL
        do throws(EgressRefusal) {
            endpoint = try policy.check(subscription.endpoint)
        } catch {
            return refuseAddress(reply, of: application)
        }
        if let pause = route.sender.origins.withLock({ $0.pause(of: endpoint.origin, at: now) }) {
            return end(reply, .deferred(retryAfter: pause))
        }
        let message: WebPushMessage
        do throws(ModelError) {
            message = try WebPushMessage(send, of: route.application, at: now)
        } catch {
            let known: [ReasonCode] = [.payloadTooLarge, .unsupportedForm]
            return end(reply, .rejected(known.contains(error.reason) ? error.reason : .rejected))
        }
        for change in message.changes { metrics.count(change) }
        let isWanted = contents.withLock { contents in
            if !contents.isClosed { contents.active[reply] = .some(nil) }
            return !contents.isClosed
        }
        guard isWanted else { return end(reply, .deferred(retryAfter: nil)) }
        let flight = Flight(
            application: application,
            sender: route.sender,
            subscription: subscription,
            endpoint: endpoint,
            message: message,
            success: ChannelResult(takenFor: send.kind, lacking: message.changes),
            reply: reply,
            begun: now
        )
        world.aside { [weak self] in self?.send(flight) }
    }

    private func send(_ flight: Flight) {
        guard contents.withLock({ $0.active[flight.reply] != nil }) else { return }
        let origin = flight.endpoint.origin
        guard let secrets = world.secrets(),
            let authorization = flight.sender.authorization(for: origin, at: world.wall())
        else {
            logger.error("a message of Web Push cannot be encrypted or signed: OpenSSL has failed")
            return finish(flight.reply, .failed(retryAfter: nil))
        }
        // All else was checked: its key is no point of the curve.
        guard let body = WebPushEncryption.body(flight.message.body, for: flight.subscription, with: secrets) else {
            return finish(flight.reply, .rejected(.unsupportedForm))
        }
        let exchange = OutboundExchange(
            flight.message.head(to: flight.endpoint, authorization: authorization, bytes: body.count),
            to: flight.endpoint,
            at: nil,
            for: flight.application,
            body: ByteBuffer(bytes: body),
            by: .now() + .nanoseconds(configuration.timeout.nanoseconds),
            // The lane decides what is tried again.
            isRepeated: false,
            judge: WebPushAnswer.plan
        )
        let isWanted = contents.withLock { contents in
            guard contents.active[flight.reply] != nil, !contents.isClosed else { return false }
            contents.active[flight.reply] = exchange
            return true
        }
        guard isWanted else { return }
        exchange.begin(by: connections) { [weak self] result in self?.ended(flight, result) }
    }

    private func ended(_ flight: Flight, _ result: Result<any OutboundAnswer, OutboundFailure>) {
        switch result {
        case .success(let answer as WebPushAnswer): note(answer, flight)
        case .success: finish(flight.reply, .unanswered(retryAfter: nil))
        // A code of the policy: the name has an address that is not public.
        case .failure(let failure) where failure.clientCode == nil && !failure.isSent:
            guard take(flight.reply) else { return }
            refuseAddress(flight.reply, of: flight.application)
        case .failure(let failure): finish(flight.reply, failure.result)
        }
    }

    /// Does what an answer means for the key, and ends the message.
    private func note(_ answer: WebPushAnswer, _ flight: Flight) {
        let (action, now, origin) = (answer.action, world.wall(), flight.endpoint.origin)
        metrics.count(answer: action == .accept ? nil : action.rawValue, isAccepted: action == .accept)
        let isProven = flight.sender.origins.withLock { $0.isProven(origin) }
        switch action {
        case .accept:
            let isResumed = flight.sender.origins.withLock { $0.accepted(origin) }
            tellAcceptance(flight, at: now)
            if isResumed {
                remark()
                logger.notice("a push service accepts the key again", metadata: of(flight))
            }
        case .refuseToken,
            .refuseKey where !isProven:
            let why = "\(answer.status)\(answer.reason.map { " \($0)" } ?? "")"
            let (isNew, isTold) = flight.sender.origins.withLock { $0.refused(origin, because: why, at: now) }
            if isTold { tellRefusal(flight, because: why, at: now) }
            guard isNew else { break }
            remark()
            logger.error(
                "nothing is sent to a push service that refuses the key: correct key-file or subject, and send SIGHUP",
                metadata: of(flight).merging(["reason": "\(why)"]) { $1 }
            )
        case .refuseKey, .retire, .refuse, .refuseSize, .redirect, .delay, .retry, .unanswered: break
        }
        let pause = answer.retryAfter.flatMap { RetryAfter.milliseconds($0, at: now) }
        let result = action.result(retryAfter: pause, begun: flight.begun, isProven: isProven)
        finish(flight.reply, result == .accepted ? flight.success : result)
    }

    // MARK: - Events of push services

    /// A push service refuses a key: nothing is sent there for the applications that have it.
    private func tellRefusal(_ flight: Flight, because why: String, at now: Timestamp) {
        let names = contents.withLock { contents in
            let names = contents.senders.names(of: flight.sender)
            contents.refused.formUnion(names.map { ExactText($0) })
            return names
        }
        let reason = "\(flight.endpoint.origin) refuses the key: \(why)"
        for name in names { tell(.stopped, name, at: now, reason) }
    }

    /// A push service accepts a key: that ends what was told of the application once no other one refuses it.
    private func tellAcceptance(_ flight: Flight, at now: Timestamp) {
        let isResumed = contents.withLock { contents in
            !contents.refused.isEmpty && !flight.sender.origins.withLock(\.isStopTold)
                && contents.refused.remove(ExactText(flight.application)) != nil
        }
        if isResumed { tell(.resumed, flight.application, at: now) }
    }

    private func tell(
        _ event: NotificationModel.ChannelEvent.Name,
        _ application: String,
        at now: Timestamp,
        _ why: String? = nil
    ) {
        changes?.add(.init(name: event, channel: name, application: application, at: now, reason: why))
    }

    package func cancel(_ reply: ChannelReply) {
        if case .some(.some(let exchange)) = contents.withLock({ $0.active.removeValue(forKey: reply) }) {
            _ = exchange.cancel(by: connections)
        }
    }

    // MARK: - Ends

    private func take(_ reply: ChannelReply) -> Bool {
        contents.withLock { $0.active.removeValue(forKey: reply) } != nil
    }

    /// Ends a message, unless nobody waits for it any more.
    private func finish(_ reply: ChannelReply, _ result: ChannelResult) {
        if take(reply) { end(reply, result) }
    }

    private func end(_ reply: ChannelReply, _ result: ChannelResult) {
        metrics.count(PushMetrics.Outcome(result))
        reply(result)
    }

    /// Whoever registered the device has named an address that is not allowed; the endpoint is not logged.
    private func refuseAddress(_ reply: ChannelReply, of application: String) {
        metrics.count(answer: Self.addressRefused, isAccepted: false)
        logger.info(
            "an endpoint of Web Push is at an address that is not allowed",
            metadata: ["application": "\(application)"]
        )
        end(reply, .rejected(.rejected))
    }

    private func noteStop(of application: String, _ why: String) {
        let now = world.wall()
        guard contents.withLock({ $0.stops.stop(application, because: why, at: now) }) else { return }
        tell(.stopped, application, at: now, why)
        remark()
        logger.error(
            "nothing is sent by Web Push for an application: add it to the file, and send SIGHUP",
            metadata: ["application": "\(application)", "reason": "\(why)"]
        )
    }

    /// Says in `/health/ready` whose key is refused.
    private func remark() {
        // Under the lock: two threads must not report two changes in the wrong order.
        contents.withLock { health.remark($0.summary) }
    }

    private func of(_ flight: Flight) -> Logger.Metadata {
        ["application": "\(flight.application)", "service": "\(flight.endpoint.origin)"]
    }

    // MARK: - Files

    /// Reads the file of applications and their keys again; a file that is wrong changes nothing.
    package func reload() async {
        let path = configuration.applicationsFile
        do {
            // Files are not for the threads of others.
            let applications = try await NIOThreadPool.singleton.runIfActive {
                try WebPushApplicationsFile.load(path: path)
            }
            let resumed = contents.withLock { contents in
                contents.senders.use(applications)
                let senders = contents.senders
                let resumed = contents.stops.resume { senders[$0] != nil }
                contents.refused = contents.refused.filter { senders[$0.text] != nil }
                for sender in contents.senders.all { sender.origins.withLock { $0.tryAll() } }
                health.remark(contents.summary)
                return resumed
            }
            for application in resumed { tell(.resumed, application, at: world.wall()) }
            metrics.countReload(succeeded: true)
            logger.notice(
                "the applications of Web Push are read again",
                metadata: ["count": "\(applications.count)"]
            )
        } catch {
            metrics.countReload(succeeded: false)
            logger.error(
                "the applications of Web Push are not read again: those before stay in force",
                metadata: ["error": "\(error)"]
            )
        }
    }

    package func close() async {
        contents.withLock { $0.isClosed = true }
        connections.close()
    }

    private func collect(_ page: inout MetricsPage) {
        let (active, stopped) = contents.withLock { ($0.active.count, $0.senders.stopped) }
        let usage = connections.usage
        page.gauge(
            "webpush.connections",
            help: "Connections to push services that are open or being opened.",
            value: Double(usage.open)
        )
        page.gauge(
            "webpush.pushes.waiting",
            help: "Messages that wait for a connection.",
            value: Double(usage.waiting)
        )
        page.gauge(
            "webpush.pushes.active",
            help: "Messages that push services have not answered yet, those that wait included.",
            value: Double(active)
        )
        page.gauge(
            "webpush.services.stopped",
            help: "Push services to which nothing is sent for a key, because they refuse it.",
            value: Double(stopped)
        )
    }
}
