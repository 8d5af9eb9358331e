import NotificationConsumer
import NotificationModel

/// A whole deployment under simulation: brokers, instances with their lanes, devices, a workload, and what goes wrong.
final class World {
    private static let longestQuiet: Int64 = 86_400_000_000
    /// A run that takes more does not come to its end.
    private static let mostHappenings = 2_000_000

    let options: Simulation.Options
    let scenario: Scenario
    let timeline = Timeline(clock: SimulatedClock())
    let broker: SimulatedBroker
    let devices = SimulatedDevices()
    let topics = TopicNames()
    let workload: Workload
    let observer: Observer
    let state: StateObserver
    private(set) var instances: [Instance] = []
    private(set) var trace = Trace()
    private(set) var violation: Violation?
    /// Nothing goes wrong any more.
    private(set) var isCalm = false
    var random: SeededGenerator
    /// When something of the agenda happens, in order.
    private var agenda: [Int64] = []
    /// Lives of centres so far.
    /// Lives of centres so far.
    var epochs: UInt64 = 0
    private var isObserving = false
    private var isAwaitingRest = false
    private var isRested = false
    /// Events of the timeline so far.
    private var happenings = 0
    private var links: [SimulatedLink] = []
    private var channels: [SimulatedChannel] = []

    init(_ options: Simulation.Options) {
        self.options = options
        random = SeededGenerator(seed: options.seed)
        var scenarioRandom = random.split()
        scenario = Scenario(random: &scenarioRandom)
        broker = SimulatedBroker(timeline: timeline)
        for topic in [topics.requests, topics.state] { broker.addTopic(topic, partitions: scenario.partitions) }
        broker.addTopic(topics.deliveries, partitions: 2)
        broker.addTopic(topics.deadLetters, partitions: 1)
        broker.group.partitions = scenario.partitions
        let noted = Box<(String, String) -> Void> { _, _ in }
        workload = Workload(
            broker: broker,
            topics: topics,
            partitions: scenario.partitions,
            random: random.split(),
            note: { noted.value("producer", $0) }
        )
        observer = Observer(
            broker: broker,
            topics: topics,
            published: { [workload] in workload.published },
            partitions: scenario.partitions,
            isExactlyOnce: options.isExactlyOnce,
            usesChannel: scenario.usesChannel,
            note: { noted.value("reader", $0) }
        )
        state = StateObserver(broker: broker, topics: topics, isExactlyOnce: options.isExactlyOnce)
        noted.value = { [unowned self] in note($0, $1) }
        devices.onBegin = { [unowned self] number in
            check { () throws(Violation) in try check(number) }
        }
        timeline.afterEvent = { [unowned self] in observe() }
        for number in 0..<scenario.instances {
            let clock = MachineClock(timeline.clock, error: random.number(-100...100))
            instances.append(Instance(number: number, clock: clock))
        }
    }

    private final class Box<Value> {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    func note(_ who: String, _ what: String) {
        trace.note(timeline.now, who, what)
    }

    func fail(_ violation: Violation) {
        guard self.violation == nil else { return }
        self.violation = violation
        note("world", "violation: \(violation)")
        // Everything ends, so that the call in which it was found returns.
        for instance in instances { instance.process?.crash() }
    }

    private func observe() {
        guard violation == nil, !isObserving else { return }
        happenings += 1
        guard happenings < Self.mostHappenings else {
            return fail(Violation(.rest, "\(happenings) events of the simulation and no end: \(unrest ?? "")"))
        }
        isObserving = true
        defer { isObserving = false }
        do throws(Violation) {
            try observer.follow()
            try state.follow(observer)
        } catch {
            fail(error)
        }
        if isAwaitingRest, happenings % 32 == 0, isAtRest { (isAwaitingRest, isRested) = (false, true) }
    }

    // MARK: - The run

    func run() -> Simulation.Result {
        prepareAgenda()
        for instance in instances {
            timeline.add(after: random.number(0...5_000_000)) { [self] in begin(instance) }
        }
        let end = agenda.last ?? 0
        proceed(until: { self.timeline.now > end }, atMost: .max)
        calm()
        rest("after the workload")
        check { () throws(Violation) in
            try observer.checkCounting(isEnd: false, isExactlyOnce: options.isExactlyOnce)
        }
        if violation == nil, random.chance(500) {
            restartAll(erasing: random.chance(500))
            rest("after a restart of everything")
        }
        check { () throws(Violation) in try checkDevices() }
        if violation == nil {
            note("world", "removes everything")
            workload.removeAll()
            rest("after the removal of everything")
            check { () throws(Violation) in
                try observer.checkCounting(isEnd: true, isExactlyOnce: options.isExactlyOnce)
                try checkDevices()
            }
        }
        return Simulation.Result(
            violation: violation,
            trace: trace,
            requests: observer.model.order.count,
            events: observer.events.count,
            time: timeline.now
        )
    }

    private func check(_ body: () throws(Violation) -> Void) {
        guard violation == nil else { return }
        do throws(Violation) { try body() } catch { fail(error) }
    }

    private func proceed(until condition: () -> Bool, atMost limit: Int64) {
        while violation == nil, timeline.now < limit, !condition() {
            guard timeline.step() else { return }
        }
    }

    /// Everything that can go wrong stops doing so, and everything runs.
    private func calm() {
        guard violation == nil else { return }
        isCalm = true
        note("world", "is calm")
        for link in links { link.faults.calm() }
        for channel in channels { channel.rates = .init() }
        for instance in instances {
            instance.clock.set(error: max(-100, min(100, instance.clock.currentError)))
            instance.isDown = false
            if instance.process?.isDead != false { begin(instance) }
        }
    }

    private func restartAll(erasing: Bool) {
        note("world", "restarts everything\(erasing ? " without disks" : "")")
        for instance in instances {
            instance.process?.crash()
            if erasing { instance.disk.erase() }
            begin(instance)
        }
    }

    /// Waits until all that is due was handed over.
    private func rest(_ when: String) {
        guard violation == nil else { return }
        let begun = timeline.now
        (isAwaitingRest, isRested) = (true, false)
        proceed(until: { self.isRested }, atMost: lastDue + 3_600_000_000)
        isAwaitingRest = false
        guard violation == nil, !isRested else {
            isRested = false
            return
        }
        check { () throws(Violation) in
            try observer.checkCounting(isEnd: false, isExactlyOnce: options.isExactlyOnce)
        }
        fail(Violation(.rest, "\(when), \((timeline.now - begun) / 1_000_000) s later: \(unrest ?? "")"))
    }

    /// When the last of what fires once is due, in microseconds.
    private var lastDue: Int64 {
        observer.open.reduce(timeline.now) { last, id in
            guard let entry = observer.model.requests[id], !entry.request.repeats else { return last }
            let due = entry.request.nominal(from: entry.record.timestamp).rawValue + entry.request.jitter
            return max(last, SimulatedClock.elapsed(at: Timestamp(rawValue: due)))
        }
    }

    private var isAtRest: Bool { unrest == nil }

    /// What is still going on; nil when nothing is.
    private var unrest: String? {
        if let instance = instances.first(where: { !$0.isDown && !$0.isRunning }) {
            return "p\(instance.number) does not run"
        }
        if !broker.group.isQuiet { return "the group is being shared out" }
        if let link = links.first(where: { !$0.isDead && !$0.isClosed && $0.outstanding > 0 }) {
            return
                "\(link.name) waits for \(link.producer.unsent) of \(link.outstanding) acknowledgements \(link.producer.state)"
        }
        if devices.openCount > 0 { return "\(devices.openCount) sends are under way" }
        if state.isSending { return "something is being sent" }
        if timeline.now - broker.lastActivity < 2_000_000 { return "something is being written" }
        let waiting = observer.open.first { id in
            guard let entry = observer.model.requests[id], let key = entry.record.key else { return false }
            return !entry.request.repeats || observer.events(of: id).isEmpty
                || observer.model.mayWait(key, before: .max) != id
        }
        return waiting.map { "\($0.text.prefix(8)) is open" }
    }

    // MARK: - Processes

    func begin(_ instance: Instance) {
        guard violation == nil, !instance.isDown else { return }
        instance.begin(on: timeline) { process in
            note(process.name, "begins")
            process.observe(pause: {}, death: { [unowned self] in died(instance, process) })
            let stores = SimulatedStores(
                disk: instance.disk,
                timeline: timeline,
                process: process,
                random: random.split(),
                writesPositionFirst: options.bug == .storePositionFirst
            )
            return (0..<scenario.lanesEach).map { runner(of: $0, on: instance, process, stores) }
        }
    }

    private func died(_ instance: Instance, _ process: SimulatedProcess) {
        note(process.name, "ends")
        guard violation == nil, instance.process === process else { return }
        if random.chance(scenario.eraseRate), !isCalm {
            note("p\(instance.number)", "loses its disk")
            instance.disk.erase()
        }
        timeline.add(after: random.number(500_000...20_000_000)) { [self] in
            if instance.process === process { begin(instance) }
        }
    }

    private func runner(
        of lane: Int,
        on instance: Instance,
        _ process: SimulatedProcess,
        _ stores: SimulatedStores
    ) -> LaneRunner {
        let name = "\(process.name)/\(lane)"
        let channel = SimulatedChannel(
            name: "simulated",
            lane: name,
            devices: devices,
            process: process,
            timeline: timeline,
            random: random.split(),
            answersTheLatest: options.bug == .acceptsLateOutcomes,
            note: { [unowned self] in note(name, $0) }
        )
        if !isCalm, scenario.faultRate > 0 {
            channel.rates = .init(failing: 100, rejecting: 30, losing: 20, delaying: 50, repeating: 100)
        }
        channels.append(channel)
        let seat = LaneSeat(
            name: name,
            lane: lane,
            instance: instance,
            process: process,
            channel: channel,
            stores: stores
        )
        return LaneRunner(
            name: name,
            process: process,
            timeline: timeline,
            random: random.split(),
            makeLane: { [unowned self] in try makeLane(seat) },
            note: { [unowned self] in note(name, $0) },
            onRefusal: { [unowned self] in fail(Violation(.refusal, $0)) }
        )
    }

    /// A link for a new lane.
    func makeLink(for seat: LaneSeat) -> SimulatedLink {
        var faults = FaultPlan(random: random.split())
        if !isCalm {
            faults.rate = scenario.faultRate
            if random.chance(scenario.crashRate) { faults.callsToCrash = Int(random.number(1...600)) }
        }
        let transactionalID = "carillon-\(seat.instance.number)-\(seat.lane)"
        let link = SimulatedLink(
            name: seat.name,
            configuration: .init(
                topics: topics,
                transactionalID: options.isExactlyOnce ? transactionalID : nil,
                bugs: options.bug.map { [$0] } ?? []
            ),
            broker: broker,
            process: seat.process,
            faults: faults,
            random: random.split(),
            note: { [unowned self] in note(seat.name, $0) }
        )
        link.idleUntil = { [unowned self] in quietUntil }
        link.isWoken = { [unowned self] in seat.channel.hasOutcomes || isRested }
        links.removeAll { $0.isDead || $0.isClosed }
        links.append(link)
        return link
    }

    // MARK: - The agenda

    func schedule(at instant: Int64, _ action: @escaping () -> Void) {
        agenda.append(instant)
        timeline.add(at: instant, action)
    }

    func sortAgenda() {
        agenda.sort()
    }

    /// When nothing moves: an instant shortly before something may happen again, in microseconds.
    private var quietUntil: Int64? {
        let now = timeline.now
        guard now - broker.lastActivity > 3_000_000, broker.waiting == 0, broker.group.isQuiet,
            devices.openCount == 0, instances.allSatisfy({ $0.isDown || $0.isRunning })
        else {
            return nil
        }
        if isAwaitingRest, isAtRest {
            (isAwaitingRest, isRested) = (false, true)
            return nil
        }
        let errors = instances.map { $0.clock.currentError * 1000 }
        let (ahead, behind) = (max(0, errors.max() ?? 0), min(0, errors.min() ?? 0))
        var next = agenda.first { $0 > now } ?? .max
        // The pause between two attempts is not known here.
        if state.isSending { next = min(next, now + 1_000_000) }
        for id in observer.open {
            guard let entry = observer.model.requests[id] else { continue }
            let anchor = entry.record.timestamp
            let held = observer.events(of: id).last { $0.event.name == .held }?.event.until
            var due = SimulatedClock.elapsed(at: held ?? entry.request.nominal(from: anchor))
            // Jitter, and a clock that is behind.
            let spread = entry.request.jitter * 1000 - behind + 3_000_000
            if entry.request.repeats, let interval = entry.request.interval, due + spread < now {
                let passed = (now - spread - SimulatedClock.elapsed(at: anchor)) / (interval * 1000)
                due = SimulatedClock.elapsed(at: entry.request.nominal(max(1, passed + 1), from: anchor))
            }
            if due - ahead - 2_000_000 <= now, now <= due + spread { return nil }
            // Late, or between two attempts.
            if !entry.request.repeats, due + spread < now { next = min(next, now + 1_000_000) }
            if due > now { next = min(next, due - ahead - 2_000_000) }
        }
        guard next > now else { return nil }
        return min(next, now + Self.longestQuiet)
    }
}

/// Where a lane sits.
struct LaneSeat {
    var name: String
    var lane: Int
    var instance: Instance
    var process: SimulatedProcess
    var channel: SimulatedChannel
    var stores: SimulatedStores
}
