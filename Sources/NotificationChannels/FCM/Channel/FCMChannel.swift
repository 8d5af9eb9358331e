package import Logging
import NIOCore
import NIOPosix
package import NotificationDelivery
package import NotificationModel
import OutboundHTTP
package import ServiceSupport
import Synchronization

/// The channel `fcm`: sends each notification to one Android device through Firebase Cloud Messaging (HTTP v1), over HTTP/2, and acts
/// on what FCM answers.
///
/// A message first waits for its turn in the project's quota (``ProjectPace``), then for an access token (``AccessTokens``), then for
/// a stream. What the answer leads to is ``FCMAction``, what an attempt does then ``FCMAttempt``. Retries are the lane's.
package final class FCMChannel: DeliveryChannel, ReloadingChannel, ProbedChannel, Sendable {
    /// The time that it uses, and what is known of the world outside.
    package struct World: Sendable {
        /// How many messages a device may get.
        var rates = DeviceRates()
        /// The wall clock.
        var wall: @Sendable () -> Timestamp = { SystemClock.now() }
        /// The clock of the quota.
        var now: @Sendable () -> ContinuousClock.Instant = { .now }
        /// Calls a function later.
        var later: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void = { time, body in
            MultiThreadedEventLoopGroup.singleton.next().scheduleTask(in: TimeAmount(time), body)
        }

        package init() {}
    }

    /// The shortest time between two looks at what waits for its turn.
    private static let tick = Duration.milliseconds(5)

    /// Where a message is that has no answer.
    private enum Place {
        /// It waits for its turn or for an access token.
        case waiting
        case sent(HTTP2Request, HTTP2Pool)
    }

    private struct Contents {
        var projects = FCMProjects()
        var budget = RetryBudget()
        var rates: DeviceRates
        var active: [ChannelReply: Place] = [:]
        var isClosed = false
    }

    package let name = ChannelName.fcm
    package var changes: ChannelChanges? { stops.changes }
    private let configuration: FCMConfiguration
    private let maker: FCMProjectMaker
    private let metrics: PushMetrics
    private let stops: ChannelStops
    private let world: World
    private let logger: Logger
    private let contents: Mutex<Contents>
    private let collection: Mutex<MetricsCollection?> = Mutex(nil)

    /// - Parameters:
    ///   - configuration: Of the channel.
    ///   - egress: Which addresses the servers may have, and further authorities.
    ///   - health: Says whose credentials are refused.
    ///   - registry: Receives counters and gauges.
    ///   - logger: The service's logger.
    ///   - world: Its time.
    /// - Throws: `PushSettingsError`, and `EgressPolicyError`.
    package init(
        _ configuration: FCMConfiguration,
        egress: EgressConfiguration,
        health: Health,
        registry: PrometheusRegistry,
        logger: Logger,
        world: World = World()
    ) throws {
        let applications = try FCMApplicationsFile.load(path: configuration.applicationsFile)
        let reasons = Set(FCMErrorCode.allCases.map(\.rawValue) + RPCStatus.allCases.map(\.rawValue))
        let metrics = PushMetrics(.fcm, of: "FCM", devices: "Android", reasons: reasons.sorted(), registry)
        maker = try FCMProjectMaker(configuration, egress, observer: metrics, wall: world.wall)
        var projects = FCMProjects()
        _ = try projects.use(applications, maker.project)
        contents = Mutex(Contents(projects: projects, rates: world.rates))
        let component = health.component("fcm")
        stops = ChannelStops(.fcm, of: "FCM", component, logger)
        (self.configuration, self.metrics, self.world, self.logger) = (configuration, metrics, world, logger)
        component.ready()
        let collection = registry.collect { [weak self] page in self?.collect(&page) }
        self.collection.withLock { $0 = collection }
    }

    deinit { collection.withLock { $0?.cancel() } }

    // MARK: - Attempts

    package func begin(_ send: Issued<ChannelSend>, _ reply: ChannelReply) {
        let send = send.work
        guard let registration = send.registration else { return reply(.rejected(.unsupportedForm)) }
        let application = send.key.application
        let now = world.wall()
        let route = contents.withLock { contents in
            contents.budget.noteFirstAttempt()
            return contents.projects[application]
        }
        if let pause = stops.pause(of: application, at: now) { return end(reply, .deferred(retryAfter: pause)) }
        guard let route else {
            stop(application, "it is not in \(FCMApplicationsFile.setting)")
            return end(reply, .deferred(retryAfter: ApplicationStops.pause))
        }
        // Anyone who registers a device names its package: that must not stop the others.
        guard route.application.has(package: registration.bundleIdentifier) else {
            return end(reply, .rejected(.unsupportedForm))
        }
        let message: FCMMessage
        do throws(ModelError) {
            message = try Self.message(of: send, to: registration, of: route.application, at: now)
        } catch {
            return end(reply, .rejected(error.reason == .payloadTooLarge ? .payloadTooLarge : .rejected))
        }
        if let pause = contents.withLock({ $0.rates.pause(of: registration.token, at: now) }) {
            return end(reply, .deferred(retryAfter: pause))
        }
        for change in message.changes { metrics.count(change) }
        let isWanted = contents.withLock { contents in
            if !contents.isClosed { contents.active[reply] = .waiting }
            return !contents.isClosed
        }
        guard isWanted else { return end(reply, .deferred(retryAfter: nil)) }
        queue(
            FCMFlight(
                application: application,
                project: route.project,
                target: FCMTarget(registration.token),
                body: message.body,
                success: ChannelResult(takenFor: send.kind, lacking: message.changes),
                priority: send.priority,
                reply: reply,
                attempt: FCMAttempt(at: now)
            )
        )
    }

    private static func message(
        of send: ChannelSend,
        to registration: DeviceRegistration,
        of application: FCMApplication,
        at now: Timestamp
    ) throws(ModelError) -> FCMMessage {
        let target = FCMTarget(registration.token)
        switch send.kind {
        case .deliver(let content):
            let device = try send.devices.map(PresentedDevice.init(list:)) ?? PresentedDevice(name: "")
            return try FCMMessage(
                DeviceDelivery(send, content: content, to: device),
                to: target,
                package: registration.bundleIdentifier,
                of: application,
                actions: send.actions,
                at: now
            )
        case .remove:
            return .removal(
                of: send.key,
                sequence: send.sequence,
                to: target,
                package: registration.bundleIdentifier,
                of: application
            )
        }
    }

    // MARK: - The turn

    /// Sends a message when the project's quota allows it.
    private func queue(_ flight: FCMFlight) {
        let (now, wall) = (world.now(), world.wall())
        switch flight.project.pace.withLock({ $0.turn(of: flight, flight.priority, at: now, wall: wall) }) {
        case .now: send(flight)
        case .later(let begins): if begins { wait(for: flight.project) }
        case .refused(let pause): finish(flight, .deferred(retryAfter: pause))
        }
    }

    private func wait(for project: FCMProject) {
        let time = project.pace.withLock { $0.wait(at: world.now()) }
        world.later(max(Self.tick, time)) { [weak self] in self?.sendDue(of: project) }
    }

    private func sendDue(of project: FCMProject) {
        while let flight = next(of: project) { send(flight) }
        if project.pace.withLock({ $0.count }) > 0 { wait(for: project) }
    }

    private func next(of project: FCMProject) -> FCMFlight? {
        project.pace.withLock { pace in
            pace.next(at: world.now()) { flight in contents.withLock { $0.active[flight.reply] != nil } }
        }
    }

    // MARK: - The message

    private func send(_ flight: FCMFlight) {
        flight.project.tokens.token { [weak self] supply in
            guard let self else { return }
            switch supply {
            case .token(let token): send(flight, token)
            case .none(.refused(let why), let pause):
                stop(flight.application, why)
                finish(flight, .deferred(retryAfter: pause))
            case .none(.unavailable(let why, _), let pause):
                logger.warning(
                    "FCM: no access token",
                    metadata: of(flight.application).merging(["reason": "\(why)"]) { $1 }
                )
                finish(flight, .deferred(retryAfter: pause))
            }
        }
    }

    private func send(_ flight: FCMFlight, _ token: AccessTokens.Token) {
        let request = HTTP2Request(
            flight.project.fields(token),
            body: ByteBuffer(bytes: flight.body),
            priority: HTTP2Request.Priority(flight.priority),
            by: .now() + .nanoseconds(configuration.timeout.nanoseconds)
        ) { [weak self] result in
            self?.ended(flight, token, result)
        }
        let isWanted = contents.withLock { contents in
            guard contents.active[flight.reply] != nil, !contents.isClosed else { return false }
            contents.active[flight.reply] = .sent(request, flight.project.pool)
            return true
        }
        if isWanted { flight.project.pool.send(request) }
    }

    private func ended(
        _ flight: FCMFlight,
        _ token: AccessTokens.Token,
        _ result: Result<HTTP2Answer, OutboundFailure>
    ) {
        switch result {
        case .success(let answer):
            let wall = world.wall()
            let known = FCMAnswer(
                status: answer.status,
                body: Array(buffer: answer.body),
                at: wall,
                header: answer.field
            )
            let (action, pause) = note(known, flight, token, at: wall)
            follow(flight, action, retryAfter: pause ?? known.retryAfter)
        case .failure(let failure): finish(flight, failure.result)
        }
    }

    /// Does what an answer means for the project and its credentials.
    ///
    /// - Returns: what it means for the message, and the pause in milliseconds if the quota asks for one.
    private func note(
        _ answer: FCMAnswer,
        _ flight: FCMFlight,
        _ token: AccessTokens.Token,
        at wall: Timestamp
    ) -> (FCMAction, pause: Int64?) {
        let action = answer.action(for: flight.target)
        metrics.count(answer: answer.code?.rawValue ?? answer.rpc?.rawValue, isAccepted: action == .accept)
        switch action {
        case .accept:
            flight.project.isProven.store(true, ordering: .relaxed)
            flight.project.pace.withLock { $0.accepted(wall: wall) }
            stops.resume(flight.application, at: wall)
        case .renewToken:
            guard flight.project.tokens.renew(refused: token) else {
                stop(flight.application, "FCM refuses its access tokens: the service account was disabled")
                return (.stop, nil)
            }
        case .stop: stop(flight.application, answer.why(flight.project))
        case .delayProject:
            let (pause, waiting) = flight.project.pace.withLock { pace in
                (pace.exceeded(retryAfter: answer.retryAfter, wall: wall), pace.removeAll())
            }
            for other in waiting { finish(other, .deferred(retryAfter: pause)) }
            return (action, pause)
        case .retire, .retireFromProject, .refuseDevice, .refuse, .delayDevice, .retry: break
        }
        return (action, nil)
    }

    private func follow(_ flight: FCMFlight, _ action: FCMAction, retryAfter: Int64?) {
        var next = flight
        let step = next.attempt.step(
            after: action,
            retryAfter: retryAfter,
            isProven: flight.project.isProven.load(ordering: .relaxed)
        ) { contents.withLock { $0.budget.takeRepeat() } }
        switch step {
        case .end(.accepted): finish(flight, flight.success)
        case .end(let result): finish(flight, result)
        case .again: send(next)
        }
    }

    package func cancel(_ reply: ChannelReply) {
        let place = contents.withLock { $0.active.removeValue(forKey: reply) }
        if case .sent(let request, let pool)? = place { pool.cancel(request) }
    }

    // MARK: - Ends

    /// Ends a message, unless nobody waits for it any more.
    private func finish(_ flight: FCMFlight, _ result: ChannelResult) {
        guard contents.withLock({ $0.active.removeValue(forKey: flight.reply) }) != nil else { return }
        end(flight.reply, result)
    }

    private func end(_ reply: ChannelReply, _ result: ChannelResult) {
        metrics.count(PushMetrics.Outcome(result))
        reply(result)
    }

    private func stop(_ application: String, _ why: String) {
        stops.stop(application, because: why, at: world.wall())
    }

    private func of(_ application: String) -> Logger.Metadata { ["application": "\(application)"] }

    // MARK: - Files

    /// Reads the file of applications and their accounts again; a file that is wrong changes nothing.
    package func reload() async {
        let former = contents.withLock { $0.projects }
        let (path, maker) = (configuration.applicationsFile, maker)
        do {
            // Files and contexts of TLS: neither for the threads of others nor under the lock.
            let (projects, unused) = try await NIOThreadPool.singleton.runIfActive {
                var projects = former
                let unused = try projects.use(try FCMApplicationsFile.load(path: path), maker.project)
                return (projects, unused)
            }
            contents.withLock { $0.projects = projects }
            stops.tryAll()
            for project in projects.all { project.tokens.tryAgain() }
            logger.notice("the applications of FCM are read again", metadata: ["count": "\(projects.count)"])
            metrics.countReload(succeeded: true)
            let deadline = NIODeadline.now() + .nanoseconds(configuration.timeout.nanoseconds)
            for project in unused { await project.pool.shutdown(by: deadline) }
        } catch {
            metrics.countReload(succeeded: false)
            logger.error(
                "the applications of FCM are not read again: those before stay in force",
                metadata: ["error": "\(error)"]
            )
        }
    }

    package func close() async {
        let projects = contents.withLock { contents in
            contents.isClosed = true
            return contents.projects.all
        }
        for project in projects { await project.pool.shutdown(by: .now()) }
    }

    package var probes: [ChannelProbe] { contents.withLock { $0.projects }.probes }

    private func collect(_ page: inout MetricsPage) {
        let projects = contents.withLock { $0.projects.all }
        metrics.collect(projects.map(\.pool.usage), stopped: stops.count, &page)
        let wall = world.wall()
        let (waiting, paused) = projects.reduce(into: (0, 0)) { sums, project in
            let (count, isPaused) = project.pace.withLock { ($0.count, $0.isPaused(wall: wall)) }
            sums = (sums.0 + count, sums.1 + (isPaused ? 1 : 0))
        }
        page.gauge(
            "fcm.messages.paced",
            help: "Messages that wait for their turn in the quota of their project.",
            value: Double(waiting)
        )
        page.gauge(
            "fcm.projects.paused",
            help: "Projects to which nothing is sent, because FCM has said that their quota is exceeded.",
            value: Double(paused)
        )
    }
}

/// A message on its way, with what has become of it so far.
struct FCMFlight: Sendable {
    let application: String
    let project: FCMProject
    let target: FCMTarget
    let body: [UInt8]
    /// When FCM takes it.
    let success: ChannelResult
    let priority: WorkPriority
    let reply: ChannelReply
    var attempt: FCMAttempt
}

extension FCMAnswer {
    /// Why it stops an application, for people.
    fileprivate func why(_ project: FCMProject) -> String {
        guard isError else {
            return "status \(status), not from FCM: is fcm.url right, and does the project \(project.id) exist?"
        }
        let name = reason ?? rpc?.rawValue ?? "status \(status)"
        return """
            \(name): the service account may not send to the project \(project.id): give it the role Firebase Cloud \
            Messaging API Admin there, enable the API, or correct `project`
            """
    }
}
