import Kafka
import NotificationConsumer
import NotificationModel
import NotificationState
import ServiceSupport

/// A run of a world in which a seed decides everything: deployment, workload and faults. In the end all faults stop, and every
/// request is counted.
final class SeededRun {
    private static let longestQuiet: Int64 = 86_400_000_000
    /// The longest time until an ended process is started again and its last records have arrived, in microseconds.
    static let longestRestart: Int64 = 20_000_000

    let world: World
    let workload: Workload
    private var isAwaitingRest = false
    private var isRested = false
    /// When the last wait for the token of a Live Activity ends that was seen, in microseconds.
    private var lastTokenWait: Int64 = 0
    /// The times of the agenda's events, in order.
    private var agenda: [Int64] = []
    /// For features of few runs, so that they do not change the random numbers of other runs.
    var hazards: SeededGenerator
    // For added partitions.
    var hasGrown = false
    var refusals: [Int: Int] = [:]

    init(_ options: Simulation.Options) throws {
        var random = SeededGenerator(seed: options.seed)
        var scenarioRandom = random.split()
        var scenario = Scenario(random: &scenarioRandom)
        scenario.reachesDevices = Self.reachesDevices(options, scenario)
        scenario.hasActivities = Self.activities(options, scenario) != nil
        let workloadRandom = random.split()
        hazards = SeededGenerator(seed: options.seed ^ 0x6861_7a61_7264_7321)
        world = try World(options, scenario, random: random)
        var loop: LoopWorkload?
        if let random = Self.loop(options, scenario) {
            let log = LoopLog(broker: world.broker, topics: world.topics, isExactlyOnce: options.isExactlyOnce)
            log.onGone = { [devices = world.devices] in devices.clear($0) }
            log.onCapped = { [devices = world.devices] in devices.activities.drop($0) }
            log.onLeft = { [devices = world.devices, timeline = world.timeline] in
                devices.activities.leave($0, at: timeline.now)
            }
            log.onAnswer = { [devices = world.devices] response, recipient in
                guard let device = response.device,
                    let key = try? NotificationKey(
                        application: response.application ?? "shop",
                        recipient: recipient,
                        identifier: response.identifier
                    )
                else { return }
                let isDefault = response.actionIdentifier == ResponseSignal.defaultAction
                devices.answer(response.requestID, key, on: device, isCertain: isDefault)
            }
            log.text = { [unowned world] in world.note("phones", $0) }
            world.observer.loop = log
            loop = LoopWorkload(
                broker: world.broker,
                topics: world.topics,
                log: log,
                scenario: scenario,
                random: random
            )
        }
        var activities: ActivityWorkload?
        if let loop, let log = world.observer.loop, let random = Self.activities(options, scenario) {
            activities = ActivityWorkload(
                timeline: world.timeline,
                devices: world.devices,
                loop: loop,
                log: log,
                scenario: scenario,
                random: random
            )
        }
        workload = Workload(
            broker: world.broker,
            topics: world.topics,
            requests: world.requests,
            scenario: scenario,
            random: workloadRandom,
            // A bug is looked for without: few seeds find some of them.
            calendars: options.bugs.isEmpty ? SeededGenerator(seed: options.seed ^ 0x6361_6c65_6e64_6172) : nil,
            locations: Self.locations(options),
            channels: Self.channels(options, scenario),
            enrichments: Self.enrichments(options),
            fixes: world.fixes,
            loop: loop,
            activities: activities
        )
        for _ in 0..<scenario.instances { world.addInstance() }
        if Self.hasIngest(options, scenario) {
            world.addIngest(random: SeededGenerator(seed: options.seed ^ 0x696e_6765_7374_2121))
        }
        world.onEvent = { [unowned self] in
            if isAwaitingRest, world.happenings % 32 == 0, isAtRest { (isAwaitingRest, isRested) = (false, true) }
        }
        world.onDeath = { [unowned self] in died($0, $1) }
        world.onRefusal = { [unowned self] in refused($0, $1) }
        world.quietUntil = { [unowned self] in quietUntil }
        world.isWakingLanes = { [unowned self] in isRested }
    }

    func run() -> Simulation.Result {
        defer { world.end() }
        prepareAgenda()
        for instance in world.instances {
            world.timeline.add(after: world.random.number(0...5_000_000)) { [self] in world.begin(instance) }
        }
        let end = agenda.last ?? 0
        world.proceed(until: { world.timeline.now > end }, atMost: .max)
        calm()
        if hasGrown {
            stayRefused()
            return result
        }
        rest("after the workload")
        checkCounting(isEnd: false)
        checkOpen()
        if workload.hasLocations { locateAll(.outside) }
        if let growth = world.scenario.growth, world.violation == nil {
            downAll()
            grow(growth)
            upAll()
            stayRefused()
            return result
        }
        if world.violation == nil, world.random.chance(500) {
            restartAll(erasing: world.random.chance(500))
            rest("after a restart of everything")
            checkOpen()
        }
        cross()
        world.check { () throws(Violation) in try world.checkDevices() }
        // Not with an ingest, which would continue to write.
        if world.violation == nil, world.random.chance(150), world.ingest == nil {
            createRequestsAgain()
            rest("after requests were created again")
            checkCounting(isEnd: false)
            world.check { () throws(Violation) in try world.checkDevices() }
        }
        if world.violation == nil {
            world.note("world", "removes everything")
            workload.removeAll()
            rest("after the removal of everything")
            checkCounting(isEnd: true)
            checkOpen()
            world.check { () throws(Violation) in try world.checkDevices() }
            forgetAll()
        }
        return result
    }

    private var result: Simulation.Result {
        Simulation.Result(
            violation: world.violation,
            trace: world.trace,
            requests: world.observer.model.order.count,
            businessEvents: world.ingest?.log.events.reduce(0) { $0 + $1.count } ?? 0,
            crossings: world.observer.crossings,
            responses: world.observer.loop?.answers ?? 0,
            activities: world.devices.activities.all.count,
            events: world.observer.events.count,
            time: world.timeline.now,
            lateness: world.punctuality.longest
        )
    }

    /// Waits until all entries must be forgotten, and checks that they are.
    private func forgetAll() {
        // What is known of devices stays.
        guard world.violation == nil, world.scenario.forgets, !workload.hasLoop else { return }
        let limit = world.timeline.now + 3 * Self.longestQuiet + world.scenario.retention * 1000
        world.proceed(until: { world.state.remembered == nil }, atMost: limit)
        guard world.violation == nil, let key = world.state.remembered else { return }
        world.fail(Violation(.state, "\(key.text) is still in the changelog, although it should be forgotten"))
    }

    private func checkCounting(isEnd: Bool) {
        world.check { () throws(Violation) in
            try world.observer.checkCounting(isEnd: isEnd, isExactlyOnce: world.options.isExactlyOnce)
            guard let loop = world.observer.loop else { return }
            try loop.check(world.observer.closings, usesChannel: world.scenario.usesChannel)
            try world.state.checkTokens()
        }
    }

    /// At rest the gauge of open requests has what the events have not closed.
    private func checkOpen() {
        world.check { () throws(Violation) in
            let counts = world.openCounts
            let open = world.observer.open.count + world.state.reopened(world.observer)
            guard counts.total == open else {
                let states = OpenState.allCases.filter { counts[$0] > 0 }.map { "\(counts[$0]) \($0.name)" }
                throw Violation(
                    .open,
                    "\(counts.total) are counted (\(states.joined(separator: ", "))), and \(open) are not closed"
                )
            }
        }
    }

    /// Ends all faults, and starts every instance that does not run.
    private func calm() {
        guard world.violation == nil else { return }
        world.note("world", "has no more faults")
        world.calm()
        for instance in world.instances {
            world.setClock(of: instance, error: max(-100, min(100, instance.clock.currentError)))
            instance.isDown = false
            if instance.process?.isDead != false { world.begin(instance) }
        }
        for machine in world.ingest?.machines ?? [] where machine.process?.isDead != false {
            world.begin(ingest: machine)
        }
    }

    /// The topic `requests` is deleted and created again while no instance runs; then all instances start.
    private func createRequestsAgain() {
        let isInOrder = world.random.chance(500)
        let cause = isInOrder ? "all have shut down" : "a crash"
        world.note("world", "creates the topic of requests again, after \(cause)")
        downAll(inOrder: isInOrder)
        // At a graceful shutdown a lane has time to write all waiting changes, unless the broker is slow.
        let isForgetful = !isInOrder || world.scenario.bytesPerSecond != nil
        if isForgetful { forgetUntold() }
        workload.repeatNothing(onlyNewerVersions: isForgetful)
        world.requests.createAgain { [world] in world.state.resumption($0) > world.requests.base(of: $0) }
        upAll(ProcessSettings(gap: .continue))
        // The lanes see an empty topic first: they could not distinguish a topic of the same length from the previous one.
        for _ in 0..<world.random.number(1...20) {
            let instant = world.timeline.now + Self.longestRestart + world.random.number(0...20_000_000)
            schedule(at: instant) { [self] in workload.publish() }
        }
        sortAgenda()
        world.proceed(until: { world.timeline.now > agenda.last ?? 0 }, atMost: .max)
    }

    /// Changes that a restore would replay are lost with the deleted requests.
    private func forgetUntold() {
        for partition in 0..<world.scenario.partitions {
            world.observer.forget(partition, world.state.untold(partition))
        }
    }

    /// Ends all instances, and waits until their last records have arrived and their sessions have expired.
    private func downAll(inOrder: Bool = false) {
        for instance in world.instances {
            instance.isDown = true
            if inOrder { for runner in instance.runners { runner.stop() } }
        }
        if inOrder {
            let areOver = { [world] in world.instances.allSatisfy { $0.runners.allSatisfy(\.isOver) } }
            world.proceed(until: areOver, atMost: world.timeline.now + Self.longestRestart)
        }
        for instance in world.instances { instance.crash() }
        world.proceed(until: { false }, atMost: world.timeline.now + Self.longestRestart)
    }

    private func upAll(_ settings: ProcessSettings = .init()) {
        for instance in world.instances {
            instance.isDown = false
            world.begin(instance, settings)
        }
    }

    /// Sets the group's offsets to random values.
    private func resetOffsets() {
        for partition in 0..<world.scenario.partitions {
            let end = world.broker.log(world.topics.requests, partition).end
            let offset = hazards.pick([nil, 0, end, hazards.number(0...end)])
            world.note("world", "sets the group's offset of \(partition) to \(offset.map { "\($0)" } ?? "none")")
            world.broker.group.reset(.init(topic: world.topics.requests, partition: partition), to: offset)
        }
    }

    private func restartAll(erasing: Bool) {
        world.note("world", "restarts everything\(erasing ? " without disks" : "")")
        if world.scenario.resetsOffsets {
            downAll()
            for instance in world.instances where erasing { instance.disk.erase() }
            resetOffsets()
            return upAll()
        }
        for instance in world.instances {
            instance.process?.crash()
            if erasing { instance.disk.erase() }
            world.begin(instance)
        }
    }

    /// Starts a process again after its end.
    private func died(_ instance: Instance, _ process: SimulatedProcess) {
        guard instance.process === process else { return }
        if world.random.chance(world.scenario.eraseRate), !world.isCalm {
            if world.scenario.usesFiles, world.random.chance(500) {
                world.note(instance.name, "has a damaged disk")
                instance.disk.damage(&world.random)
            } else {
                world.note(instance.name, "loses its disk")
                instance.disk.erase()
            }
        }
        world.timeline.add(after: world.random.number(500_000...Self.longestRestart)) { [self] in
            if instance.process === process { world.begin(instance) }
        }
    }

    // MARK: - The agenda

    func schedule(at instant: Int64, _ action: @escaping () -> Void) {
        agenda.append(instant)
        world.timeline.add(at: instant, action)
    }

    func sortAgenda() {
        agenda.sort()
    }

    // MARK: - Rest

    /// Waits until all due notifications are handed over.
    func rest(_ when: String) {
        guard world.violation == nil else { return }
        let begun = world.timeline.now
        (isAwaitingRest, isRested) = (true, false)
        // What an open transaction has written becomes known later.
        var limit: Int64 = 0
        while world.violation == nil, !isRested, limit < lastDue(since: begun) + 3_600_000_000 {
            limit = lastDue(since: begun) + 3_600_000_000
            world.proceed(until: { isRested }, atMost: limit)
        }
        isAwaitingRest = false
        guard world.violation == nil, !isRested else {
            isRested = false
            return
        }
        checkCounting(isEnd: false)
        let seconds = (world.timeline.now - begun) / 1_000_000
        world.fail(Violation(.rest, "\(when), \(seconds) s later: \(world.unrest ?? "")"))
    }

    private var isAtRest: Bool { world.unrest == nil }

    /// When the last notification without repeats is due, in microseconds.
    private func lastDue(since begun: Int64) -> Int64 {
        let observer = world.observer
        _ = tokenWaits()
        return observer.open.reduce(max(begun, lastTokenWait)) { last, id in
            guard let entry = observer.model.requests[id], !entry.request.mayStay else { return last }
            // Quiet hours last an hour longer where the clock goes back.
            let limit: Int64 = entry.request.limits == nil ? 0 : 7_200_000
            let due = entry.request.nominal(from: entry.record.timestamp).rawValue + entry.request.jitter + limit
            return max(last, SimulatedClock.elapsed(at: Timestamp(rawValue: due)))
        }
    }

    /// When the waits for tokens of Live Activities end, in microseconds and in order, where nothing else is being sent. The last is
    /// noted: when a pause until then is over, the wait has ended.
    private func tokenWaits() -> [Int64]? {
        let waits = world.state.tokenWaits?.map { SimulatedClock.elapsed(at: $0) }
        lastTokenWait = max(lastTokenWait, waits?.last ?? 0)
        return waits
    }

    /// While nothing happens: an instant shortly before the next possible event, in microseconds.
    private var quietUntil: Int64? {
        let (now, broker, observer) = (world.timeline.now, world.broker, world.observer)
        guard now - broker.lastActivity > 3_000_000, broker.waiting == 0, broker.group.isQuiet,
            world.devices.openCount == 0, !world.areRequestsBlocked, !broker.transactions.isWriting,
            !world.isAnyOutOfTouch,
            world.instances.allSatisfy({ $0.isDown || $0.isRunning }), world.ingest?.unrest == nil,
            world.unreadInputs == nil, observer.loop?.unanswered == nil
        else {
            return nil
        }
        if isAwaitingRest, isAtRest {
            (isAwaitingRest, isRested) = (false, true)
            return nil
        }
        let errors = world.instances.map { $0.clock.currentError * 1000 }
        let (ahead, behind) = (max(0, errors.max() ?? 0), min(0, errors.min() ?? 0))
        var next = agenda.first { $0 > now } ?? .max
        // The time of the next attempt is not known here, except where all wait for tokens of Live Activities.
        if world.state.isSending {
            let waits = tokenWaits()
            let end = world.writing == nil ? waits?.first.map { $0 - ahead - 2_000_000 } ?? now : now
            next = min(next, max(end, now + 1_000_000))
        }
        for id in observer.open {
            guard let entry = observer.model.requests[id] else { continue }
            let anchor = entry.record.timestamp
            let held = observer.events(of: id).last { $0.event.name == .held }?.event.until
            var due = SimulatedClock.elapsed(at: held ?? entry.request.nominal(from: anchor))
            // Jitter, and a slow clock.
            let spread = entry.request.jitter * 1000 - behind + 3_000_000
            if entry.request.repeats, due + spread < now {
                let instant = SimulatedClock.beginning.adding(milliseconds: (now - spread) / 1000)
                let passed = entry.request.passed(at: instant, from: anchor)
                due = SimulatedClock.elapsed(at: entry.request.nominal(max(1, passed + 1), from: anchor))
            }
            if due - ahead - 2_000_000 <= now, now <= due + spread { return nil }
            // Late, or between two attempts.
            if !entry.request.mayStay, due + spread < now { next = min(next, now + 1_000_000) }
            if due > now { next = min(next, due - ahead - 2_000_000) }
        }
        // Without transactions what has closed may have been decided otherwise since.
        for due in world.state.dues.lazy.map({ SimulatedClock.elapsed(at: $0) }) where due - behind + 3_000_000 >= now {
            guard due - ahead - 2_000_000 > now else { return nil }
            next = min(next, due - ahead - 2_000_000)
        }
        guard next > now else { return nil }
        return min(next, now + Self.longestQuiet)
    }
}
