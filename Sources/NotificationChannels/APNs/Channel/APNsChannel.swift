package import Logging
import NIOCore
import NIOPosix
package import NotificationDelivery
package import NotificationModel
import OutboundHTTP
package import ServiceSupport
import Synchronization

/// The channel `apns`: sends each notification to one Apple device, over HTTP/2, and acts on what APNs answers.
///
/// A push that a connection did not process is sent again by the pool. What the answer of APNs leads to is ``APNsAction``, what an
/// attempt does then ``APNsAttempt``. Retries are the lane's.
package final class APNsChannel: DeliveryChannel, ReloadingChannel, ProbedChannel, Sendable {
    /// The time that it uses.
    package struct World: Sendable {
        /// The wall clock.
        var wall: @Sendable () -> Timestamp = { SystemClock.now() }
        /// Calls a function later.
        var later: @Sendable (_ milliseconds: Int64, @escaping @Sendable () -> Void) -> Void = { time, body in
            MultiThreadedEventLoopGroup.singleton.next().scheduleTask(in: .milliseconds(time), body)
        }

        package init() {}
    }

    private struct Contents {
        var senders: APNsSenders
        var budget = RetryBudget()
        var removals = APNsRemovalBatches()
        /// Pools with pushes of which their event loops have not been told.
        var untold: [HTTP2Pool] = []
        var isClosed = false
    }

    package let name = ChannelName.apns
    package var changes: ChannelChanges? { stops.changes }
    private let configuration: APNsConfiguration
    private let pools: APNsPools
    private let metrics: PushMetrics
    private let stops: ChannelStops
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
    ///   - world: Its time.
    /// - Throws: `PushSettingsError`, and `EgressPolicyError`.
    package init(
        _ configuration: APNsConfiguration,
        egress: EgressConfiguration,
        health: Health,
        registry: PrometheusRegistry,
        logger: Logger,
        world: World = World()
    ) throws {
        let applications = try APNsApplicationsFile.load(path: configuration.applicationsFile)
        let metrics = PushMetrics(
            .apns,
            of: "APNs",
            devices: "Apple",
            reasons: APNsReason.allCases.map(\.rawValue),
            registry
        )
        pools = try APNsPools(configuration, egress, observer: metrics)
        var senders = APNsSenders()
        _ = try senders.use(applications, pools.sender)
        contents = Mutex(Contents(senders: senders))
        let component = health.component("apns")
        stops = ChannelStops(.apns, of: "APNs", component, logger)
        (self.configuration, self.metrics, self.world, self.logger) = (configuration, metrics, world, logger)
        component.ready()
        let collection = registry.collect { [weak self] page in self?.collect(&page) }
        self.collection.withLock { $0 = collection }
    }

    deinit { collection.withLock { $0?.cancel() } }

    // MARK: - Attempts

    package func begin(_ send: Issued<ChannelSend>, _ reply: ChannelReply) {
        guard let registration = send.work.registration else { return reply(.rejected(.unsupportedForm)) }
        let name = send.work.key.application
        let now = world.wall()
        let (route, isClosed) = contents.withLock { contents in
            contents.budget.noteFirstAttempt()
            return (contents.senders[name], contents.isClosed)
        }
        guard !isClosed else { return end([reply], .deferred(retryAfter: nil), .failed) }
        if let pause = stops.pause(of: name, at: now) { return end([reply], .deferred(retryAfter: pause), .stopped) }
        guard case .remove = send.work.kind, send.activity == nil, route?.application.removal == .ask else {
            return push(send, to: registration, route, reply, at: now)
        }
        switch contents.withLock({ $0.removals.add(send, registration, reply) }) {
        case .wait: break
        case .send(let batch): askToRemove(batch, route)
        case .begin:
            let device = APNsRemovalBatches.Device(send.work, registration)
            world.later(APNsRemovalBatches.window) { [weak self] in self?.askToRemove(from: device) }
        }
    }

    package func flush() {
        let pools = contents.withLock { contents in
            guard !contents.untold.isEmpty else { return [] as [HTTP2Pool] }
            defer { contents.untold.removeAll(keepingCapacity: true) }
            return contents.untold
        }
        for pool in pools { pool.flush() }
    }

    /// Sends the push of one operation.
    private func push(
        _ issued: Issued<ChannelSend>,
        to registration: DeviceRegistration,
        _ route: APNsSenders.Route?,
        _ reply: ChannelReply,
        at now: Timestamp
    ) {
        start(issued, to: registration, route, [reply], at: now) { application, bundle throws(ModelError) in
            let device = try issued.work.devices.map(PresentedDevice.init(list:)) ?? PresentedDevice(name: "")
            if let activity = issued.work.activity {
                return try APNsPush(issued.work, activity, to: device, registration, bundle: bundle)
            }
            switch issued.work.kind {
            case .deliver(let content):
                let delivery = DeviceDelivery(issued.work, content: content, to: device)
                return try APNsPush(delivery, bundle: bundle, oversize: application.oversize)
            case .remove:
                guard case .overwrite(let text) = application.removal else { return nil }
                let origin = DeviceDelivery.Origin(of: issued.work, on: device.name)
                return try APNsRemoval.overwrite(with: text, id: issued.work.id, origin: origin, bundle: bundle)
            }
        }
    }

    /// The window of a device's removals has passed.
    private func askToRemove(from device: APNsRemovalBatches.Device) {
        let (batch, route) = contents.withLock { contents in
            (contents.removals.take(device), contents.senders[device.application.text])
        }
        if let batch { askToRemove(batch, route) }
    }

    /// Sends the removals of a device that were collected.
    private func askToRemove(_ batch: APNsRemovalBatches.Batch, _ route: APNsSenders.Route?) {
        start(batch.send, to: batch.registration, route, batch.replies, at: world.wall()) { _, bundle in
            APNsRemoval.request(batch.items, id: batch.send.work.id, bundle: bundle)
        }
        flush()
    }

    /// Writes a push; ``flush()`` must follow.
    ///
    /// - Parameters:
    ///   - issued: decides the application and the priority.
    ///   - make: the push, by the settings of the application and the app's bundle identifier.
    private func start(
        _ issued: Issued<ChannelSend>,
        to registration: DeviceRegistration,
        _ route: APNsSenders.Route?,
        _ replies: [ChannelReply],
        at now: Timestamp,
        _ make: (APNsApplication, _ bundle: String) throws(ModelError) -> APNsPush?
    ) {
        guard let route else {
            return stop(issued.work.key.application, because: "it is not in \(APNsApplicationsFile.setting)", replies)
        }
        // Anyone who registers a device names its app: that must not stop the others.
        guard let bundle = route.application.bundle(registration.bundleIdentifier) else {
            return end(replies, .rejected(.unsupportedForm), .rejected)
        }
        let push: APNsPush
        do throws(ModelError) {
            guard let made = try make(route.application, bundle) else {
                return end(replies, .rejected(.rejected), .rejected)
            }
            push = made
        } catch {
            return end(replies, .rejected(error.reason == .payloadTooLarge ? .payloadTooLarge : .rejected), .rejected)
        }
        for change in push.changes { metrics.count(change) }
        let flight = APNsFlight(
            route: route,
            push: push,
            success: ChannelResult(
                takenFor: issued.work.kind,
                lacking: push.changes,
                removal: route.application.removal == .ask || issued.work.activity != nil ? .requested : .overwritten
            ),
            token: registration.token,
            priority: issued.work.priority(of: push.level),
            replies: replies
        )
        for reply in replies { reply.task = flight }
        write(flight, APNsAttempt(to: registration.environment ?? .production, at: now), at: now)
    }

    /// Writes a push as an attempt; ``flush()`` must follow.
    private func write(_ flight: APNsFlight, _ attempt: APNsAttempt, at now: Timestamp) {
        // Nor does its environment.
        guard let sender = flight.route[attempt.environment] else {
            return end(flight.replies, .rejected(.unsupportedForm), .rejected)
        }
        let token: ProviderTokens.Token?
        switch sender.credentials {
        case .certificate: token = nil
        case .tokens(let tokens):
            token = tokens.token(at: now)
            if token == nil {
                let text = "no provider token can be signed"
                return stop(flight.route.name, attempt.environment, because: text, flight.replies)
            }
        }
        // Not the token itself, nor the sender: each that a push refers to is counted by two threads in turn.
        let signedAt = token?.issuedAt
        let request = HTTP2Request(
            flight.push.fields(
                to: flight.token,
                sender.shared(of: flight.push.headers),
                authorization: token?.authorization
            ),
            body: ByteBuffer(bytes: flight.push.payload),
            priority: HTTP2Request.Priority(flight.priority),
            by: .now() + .nanoseconds(configuration.timeout.nanoseconds)
        ) { result in
            self.ended(flight, attempt, signedAt, result)
        }
        if flight.begin(request, in: attempt.environment), sender.pool.write(request) {
            contents.withLock { $0.untold.append(sender.pool) }
        }
    }

    /// - Parameter signedAt: `iat` of the provider token; nil without one.
    private func ended(
        _ flight: APNsFlight,
        _ attempt: APNsAttempt,
        _ signedAt: Int64?,
        _ result: Result<HTTP2Answer, OutboundFailure>
    ) {
        switch result {
        case .success(let answer):
            let known = APNsAnswer(status: answer.status, body: Array(buffer: answer.body), header: answer.field)
            let sender = flight.route[attempt.environment]
            let action = sender.map { note(known, $0, signedAt, answer.connection) } ?? known.action
            let (application, environment, now) = (flight.route.name, attempt.environment, world.wall())
            if action == .accept { stops.resume(application, environment, at: now) }
            if action == .stop { stops.stop(application, environment, because: known.why, at: now) }
            if flight.endAttempt() { follow(flight, attempt, known, action) }
        case .failure(let failure):
            guard flight.endAttempt() else { return }
            end(flight.replies, failure.result, failure.isSent ? .unanswered : .failed)
        }
    }

    /// Does what an answer means for the connection and its credentials.
    ///
    /// - Returns: what it means for the push.
    private func note(
        _ answer: APNsAnswer,
        _ sender: APNsSenders.Sender,
        _ signedAt: Int64?,
        _ connection: HTTP2ConnectionID
    ) -> APNsAction {
        let action = answer.action
        metrics.count(answer: answer.reason?.rawValue, isAccepted: action == .accept)
        if action.closesConnection { sender.pool.retire(connection) }
        guard case .tokens(let tokens) = sender.credentials else { return action }
        if action == .keepToken { tokens.hold(at: world.wall()) }
        if action == .renewToken, let signedAt, tokens.renew(refused: signedAt, at: world.wall()) == .clockSkew {
            return .stop
        }
        return action
    }

    private func follow(_ flight: APNsFlight, _ attempt: APNsAttempt, _ answer: APNsAnswer, _ action: APNsAction) {
        var next = attempt
        let hasOther = flight.route[attempt.environment.other] != nil
        let step = next.step(after: answer, action, hasOther: hasOther) {
            contents.withLock { $0.budget.takeRepeat() }
        }
        switch step {
        case .end(.accepted): end(flight.replies, flight.success, .accepted)
        case .end(let result): end(flight.replies, result, PushMetrics.Outcome(result))
        case .again, .toOtherEnvironment:
            write(flight, next, at: world.wall())
            flush()
        }
    }

    package func cancel(_ reply: ChannelReply) {
        if let task = reply.task { return task.cancel() }
        contents.withLock { $0.removals.cancel(reply) }
    }

    // MARK: - Ends

    private func end(_ replies: [ChannelReply], _ result: ChannelResult, _ outcome: PushMetrics.Outcome) {
        for reply in replies {
            metrics.count(outcome)
            reply.task = nil
            reply(result)
        }
    }

    /// Nothing can be sent for an application until an operator corrects its settings.
    private func stop(
        _ application: String,
        _ environment: DeviceRegistration.Environment? = nil,
        because why: String,
        _ replies: [ChannelReply]
    ) {
        stops.stop(application, environment, because: why, at: world.wall())
        end(replies, .deferred(retryAfter: APNsAction.pauseWithoutCredentials), .stopped)
    }

    // MARK: - Files

    /// Reads the file of applications and their keys again; a file that is wrong changes nothing.
    package func reload() async {
        let former = contents.withLock { $0.senders }
        let (path, pools) = (configuration.applicationsFile, pools)
        do {
            // Files and contexts of TLS: neither for the threads of others nor under the lock.
            let (senders, unused) = try await NIOThreadPool.singleton.runIfActive {
                var senders = former
                let applications = try APNsApplicationsFile.load(path: path, keeping: former.applications)
                let unused = try senders.use(applications, pools.sender)
                return (senders, unused)
            }
            contents.withLock { $0.senders = senders }
            stops.tryAll()
            let count = senders.applications.count
            logger.notice("the applications of APNs are read again", metadata: ["count": "\(count)"])
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

    package var probes: [ChannelProbe] { contents.withLock { $0.senders }.probes(now: world.wall) }

    private func collect(_ page: inout MetricsPage) {
        let senders = contents.withLock { $0.senders.all }
        metrics.collect(senders.map(\.pool.usage), stopped: stops.count, &page)
    }
}

extension APNsAnswer {
    /// Why it stops an application, for people.
    fileprivate var why: String { reason.map { "\($0.rawValue), \($0.meaning)" } ?? "status \(status)" }
}
