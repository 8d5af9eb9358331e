package import Logging
import NIOCore
import NIOPosix
import NotificationConsumer
package import NotificationDelivery
package import NotificationModel
import OutboundHTTP
package import ServiceSupport
import Synchronization

/// The channel `apns`: sends each notification to one Apple device, over HTTP/2, and acts on what APNs answers.
///
/// A push that a connection did not process is sent again by the pool. What the answer of APNs leads to is ``APNsAction``, what an
/// attempt does then ``APNsAttempt``. Retries are the lane's.
package final class APNsChannel: DeliveryChannel, ReloadingChannel, Sendable {
    typealias Configuration = ConsumerServiceConfiguration.APNs

    /// The time that it uses.
    struct World: Sendable {
        /// The wall clock.
        var wall: @Sendable () -> Timestamp = { SystemClock.now() }
        /// Calls a function later.
        var later: @Sendable (_ milliseconds: Int64, @escaping @Sendable () -> Void) -> Void = { time, body in
            MultiThreadedEventLoopGroup.singleton.next().scheduleTask(in: .milliseconds(time), body)
        }
    }

    /// A push without its answer.
    private struct Active {
        let sender: APNsSenders.Sender
        let request: HTTP2Request
    }

    private struct Contents {
        var senders: APNsSenders
        var stops = APNsStops()
        var budget = RetryBudget()
        var removals = APNsRemovalBatches()
        var active: [ChannelReply: Active] = [:]
        var isClosed = false
    }

    package let name = ChannelName.apns
    private let configuration: Configuration
    private let pools: APNsPools
    private let metrics: APNsMetrics
    private let health: HealthComponent
    private let world: World
    private let logger: Logger
    private let contents: Mutex<Contents>
    private let collection: Mutex<MetricsCollection?> = Mutex(nil)

    /// - Parameters:
    ///   - configuration: Of the channel.
    ///   - egress: Which addresses the servers may have, and further authorities.
    ///   - health: Says whose credentials APNs refuses.
    ///   - registry: Receives counters and gauges.
    ///   - logger: The service's logger.
    /// - Throws: `APNsSettingsError`, and `EgressPolicyError`.
    package convenience init(
        _ configuration: ConsumerServiceConfiguration.APNs,
        egress: ConsumerServiceConfiguration.Egress,
        health: Health,
        registry: PrometheusRegistry,
        logger: Logger
    ) throws {
        try self.init(
            configuration,
            egress: egress,
            health: health,
            registry: registry,
            logger: logger,
            world: World()
        )
    }

    init(
        _ configuration: Configuration,
        egress: ConsumerServiceConfiguration.Egress,
        health: Health,
        registry: PrometheusRegistry,
        logger: Logger,
        world: World
    ) throws {
        let applications = try APNsApplicationsFile.load(path: configuration.applicationsFile)
        let metrics = APNsMetrics(registry)
        pools = try APNsPools(configuration, egress, observer: metrics)
        var senders = APNsSenders(applications)
        _ = try senders.use(applications, pools.sender)
        contents = Mutex(Contents(senders: senders))
        self.health = health.component("apns")
        (self.configuration, self.metrics, self.world, self.logger) = (configuration, metrics, world, logger)
        self.health.ready()
        let collection = registry.collect { [weak self] page in self?.collect(&page) }
        self.collection.withLock { $0 = collection }
    }

    deinit { collection.withLock { $0?.cancel() } }

    // MARK: - Attempts

    package func begin(_ send: Issued<ChannelSend>, _ reply: ChannelReply) {
        guard let registration = send.work.registration else { return reply(.rejected(.unsupportedForm)) }
        let application = send.work.key.application
        let now = world.wall()
        let pause = contents.withLock { contents in
            contents.budget.noteFirstAttempt()
            return contents.stops.pause(of: application, at: now)
        }
        if let pause { return end(reply, .deferred(retryAfter: pause), .stopped) }
        guard case .remove = send.work.kind, removalPolicy(of: application) == .ask else {
            return push(send.work, to: registration, reply)
        }
        let (isFirst, isFull) = contents.withLock { contents in
            let isFirst = contents.removals.add(send.work, registration, reply)
            return (isFirst, contents.removals.isFull(registration.token))
        }
        if isFull { return askToRemove(registration.token) }
        guard isFirst else { return }
        world.later(APNsRemovalBatches.window) { [weak self] in self?.askToRemove(registration.token) }
    }

    private func removalPolicy(of application: String) -> APNsRemovalPolicy? {
        contents.withLock { $0.senders.applications[application]?.removal }
    }

    /// Sends the push of one operation.
    private func push(_ send: ChannelSend, to registration: DeviceRegistration, _ reply: ChannelReply) {
        start(send.key.application, to: registration, priority: send.priority, [reply]) {
            application,
            bundle throws(ModelError) in
            let device = try send.devices.map(APNsDevice.init(list:)) ?? APNsDevice(name: "")
            switch send.kind {
            case .deliver(let content):
                let delivery = APNsDelivery(send, content: content, to: device)
                return try APNsPush(delivery, bundle: bundle, oversize: application.oversize)
            case .remove:
                guard case .overwrite(let text) = application.removal else { return nil }
                let origin = APNsDelivery.Origin(
                    key: send.key,
                    requestID: send.requestID,
                    occurrence: send.occurrence,
                    sequence: send.sequence,
                    device: device.name
                )
                return try APNsRemoval.overwrite(with: text, id: send.id, origin: origin, bundle: bundle)
            }
        }
    }

    /// Sends the removals of a device that were collected.
    private func askToRemove(_ token: String) {
        guard let batch = contents.withLock({ $0.removals.take(token) }) else { return }
        start(batch.send.key.application, to: batch.registration, priority: .normal, batch.replies) { _, bundle in
            APNsRemoval.request(batch.items, id: batch.send.id, bundle: bundle)
        }
    }

    /// - Parameter make: the push, by the settings of the application and the app's bundle identifier.
    private func start(
        _ name: String,
        to registration: DeviceRegistration,
        priority: WorkPriority,
        _ replies: [ChannelReply],
        _ make: (APNsApplication, _ bundle: String) throws(ModelError) -> APNsPush?
    ) {
        let environment = registration.environment ?? .production
        guard let application = contents.withLock({ $0.senders.applications[name] }),
            let bundle = application.bundle(registration.bundleIdentifier)
        else { return stop(name, "the app is not in \(APNsApplicationsFile.setting)", replies) }
        let push: APNsPush
        do throws(ModelError) {
            guard let made = try make(application, bundle) else { return end(replies, .rejected(.rejected), .rejected) }
            push = made
        } catch {
            return end(replies, .rejected(error.reason == .payloadTooLarge ? .payloadTooLarge : .rejected), .rejected)
        }
        for change in push.changes { metrics.count(change) }
        let flight = APNsFlight(
            application: name,
            push: push,
            token: registration.token,
            priority: priority,
            replies: replies,
            attempt: APNsAttempt(to: environment, at: world.wall())
        )
        send(flight)
    }

    private func send(_ flight: APNsFlight) {
        let sender = contents.withLock { contents in
            contents.senders.applications[flight.application].flatMap {
                contents.senders.sender(of: $0, flight.attempt.environment)
            }
        }
        guard let sender else {
            let text = "there are no credentials for the environment \(flight.attempt.environment.rawValue)"
            return stop(flight.application, text, flight.replies)
        }
        let token: ProviderTokens.Token?
        switch sender.credentials {
        case .certificate: token = nil
        case .tokens(let tokens):
            token = tokens.token(at: world.wall())
            if token == nil { return stop(flight.application, "no provider token can be signed", flight.replies) }
        }
        let request = HTTP2Request(
            flight.push.fields(
                to: flight.token,
                beginning: sender.beginning,
                authorization: token?.authorization
            ),
            body: ByteBuffer(bytes: flight.push.payload),
            priority: HTTP2Request.Priority(flight.priority),
            by: .now() + .nanoseconds(configuration.timeout.nanoseconds)
        ) { [weak self] result in
            self?.ended(flight, sender, token, result)
        }
        let isWanted = contents.withLock { contents in
            guard !contents.isClosed else { return false }
            for reply in flight.replies { contents.active[reply] = Active(sender: sender, request: request) }
            return true
        }
        guard isWanted else { return end(flight.replies, .deferred(retryAfter: nil), .failed) }
        sender.pool.send(request)
    }

    private func ended(
        _ flight: APNsFlight,
        _ sender: APNsSenders.Sender,
        _ token: ProviderTokens.Token?,
        _ result: Result<HTTP2Answer, OutboundFailure>
    ) {
        let isAwaited = contents.withLock { contents in
            flight.replies.count { contents.active.removeValue(forKey: $0) != nil } > 0
        }
        switch result {
        case .success(let answer):
            let known = APNsAnswer(status: answer.status, body: Array(buffer: answer.body), header: answer.field)
            let action = note(known, of: flight, sender, token, answer.connection)
            guard isAwaited else { return }
            follow(flight, known, action)
        case .failure(let failure):
            guard isAwaited else { return }
            end(flight.replies, failure.result, failure.isSent ? .unanswered : .failed)
        }
    }

    /// Does what an answer means for the connection and the credentials.
    ///
    /// - Returns: what it means for the push.
    private func note(
        _ answer: APNsAnswer,
        of flight: APNsFlight,
        _ sender: APNsSenders.Sender,
        _ token: ProviderTokens.Token?,
        _ connection: HTTP2ConnectionID
    ) -> APNsAction {
        var action = answer.action
        metrics.count(answer)
        if action.closesConnection { sender.pool.retire(connection) }
        if case .tokens(let tokens) = sender.credentials {
            let now = world.wall()
            if action == .keepToken { tokens.hold(at: now) }
            if action == .renewToken, let token, tokens.renew(refused: token, at: now) == .clockSkew { action = .stop }
        }
        switch action {
        case .stop: noteStop(of: flight.application, answer.why)
        case .accept:
            let isResumed = contents.withLock { contents in
                let isResumed = contents.stops.resume(flight.application)
                if isResumed { health.remark(contents.stops.summary) }
                return isResumed
            }
            if isResumed { logger.notice("APNs accepts the credentials again", metadata: of(flight.application)) }
        default: break
        }
        return action
    }

    private func follow(_ flight: APNsFlight, _ answer: APNsAnswer, _ action: APNsAction) {
        var next = flight
        let hasOther = contents.withLock { contents in
            contents.senders.applications[flight.application]?.credentials[flight.attempt.environment.other] != nil
        }
        let step = next.attempt.step(after: answer, action, hasOther: hasOther) {
            contents.withLock { $0.budget.takeRepeat() }
        }
        switch step {
        case .end(let result): end(flight.replies, result, APNsMetrics.Outcome(result))
        case .again, .toOtherEnvironment: send(next)
        }
    }

    package func cancel(_ reply: ChannelReply) {
        let active = contents.withLock { contents -> Active? in
            if contents.removals.cancel(reply) { return nil }
            return contents.active.removeValue(forKey: reply)
        }
        guard let active else { return }
        // A push that asks for several removals goes on for the others.
        let isShared = contents.withLock { $0.active.values.contains { $0.request === active.request } }
        if !isShared { active.sender.pool.cancel(active.request) }
    }

    // MARK: - Ends

    private func end(_ replies: [ChannelReply], _ result: ChannelResult, _ outcome: APNsMetrics.Outcome) {
        for reply in replies { end(reply, result, outcome) }
    }

    private func end(_ reply: ChannelReply, _ result: ChannelResult, _ outcome: APNsMetrics.Outcome) {
        metrics.count(outcome)
        reply(result)
    }

    /// Nothing can be sent for an application until an operator corrects its settings.
    private func stop(_ application: String, _ why: String, _ replies: [ChannelReply]) {
        noteStop(of: application, why)
        end(replies, .deferred(retryAfter: APNsAction.pauseWithoutCredentials), .stopped)
    }

    private func noteStop(of application: String, _ why: String) {
        let isNew = contents.withLock { contents in
            let isNew = contents.stops.stop(application, because: why, at: world.wall())
            health.remark(contents.stops.summary)
            return isNew
        }
        guard isNew else { return }
        logger.error(
            "nothing is sent through APNs for an application: correct its credentials, and send SIGHUP",
            metadata: of(application).merging(["reason": "\(why)"]) { $1 }
        )
    }

    private func of(_ application: String) -> Logger.Metadata { ["application": "\(application)"] }

    // MARK: - Files

    /// Reads the file of applications and their keys again; a file that is wrong changes nothing.
    package func reload() async {
        let former = contents.withLock { $0.senders.applications }
        let path = configuration.applicationsFile
        do {
            let applications = try await NIOThreadPool.singleton.runIfActive {
                try APNsApplicationsFile.load(path: path, keeping: former)
            }
            let unused = try contents.withLock { contents in
                contents.stops.tryAll()
                return try contents.senders.use(applications, pools.sender)
            }
            logger.notice("the applications of APNs are read again", metadata: ["count": "\(applications.count)"])
            metrics.countReload(succeeded: true)
            let deadline = NIODeadline.now() + .nanoseconds(configuration.timeout.nanoseconds)
            for sender in unused { await sender.pool.shutdown(by: deadline) }
        } catch {
            metrics.countReload(succeeded: false)
            logger.error(
                "the applications of APNs are not read again: those before stay in force",
                metadata: ["error": "\(error)"]
            )
        }
    }

    package func close() async {
        let senders = contents.withLock { contents in
            contents.isClosed = true
            return contents.senders.all
        }
        for sender in senders { await sender.pool.shutdown(by: .now()) }
    }

    private func collect(_ page: inout MetricsPage) {
        let (senders, stopped) = contents.withLock { ($0.senders.all, $0.stops.count) }
        metrics.collect(senders.map(\.pool.usage), stopped: stopped, &page)
    }
}

/// A push on its way, with what has become of it so far.
struct APNsFlight: Sendable {
    let application: String
    let push: APNsPush
    let token: String
    let priority: WorkPriority
    /// Several for removals that share it.
    let replies: [ChannelReply]
    var attempt: APNsAttempt
}

extension HTTP2Request.Priority {
    init(_ priority: WorkPriority) {
        switch priority {
        case .high: self = .high
        case .normal: self = .normal
        case .low: self = .low
        }
    }
}

extension OutboundFailure {
    /// The outcome of an attempt without an answer.
    fileprivate var result: ChannelResult {
        if isSent { return .unanswered(retryAfter: nil) }
        switch clientCode {
        // It waited for a stream until its deadline, or had no room to wait.
        case .overloaded?, .cancelled?, .timedOut?: return .deferred(retryAfter: nil)
        default: return .failed(retryAfter: nil)
        }
    }
}

extension APNsAnswer {
    /// Why it stops an application, for people.
    fileprivate var why: String { reason.map { "\($0.rawValue), \($0.meaning)" } ?? "status \(status)" }
}
