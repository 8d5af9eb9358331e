import Foundation
import Kafka
import NotificationConsumer
import NotificationModel
import NotificationState
import ServiceSupport

/// A complete simulated deployment: broker, instances with their lanes, devices, and the observers that check them.
///
/// A `SeededRun` or a `ScriptedRun` decides which records are published and which faults occur.
final class World {
    /// A run with more events is assumed not to end.
    private static let mostHappenings = 2_000_000

    let options: Simulation.Options
    let scenario: Scenario
    let timeline = Timeline(clock: SimulatedClock())
    let broker: SimulatedBroker
    let devices = SimulatedDevices()
    let topics = TopicNames()
    /// Of calendar triggers.
    /// By version: `Instance.zoneData`.
    let zones: [TimeZones]
    let requests: RequestLog
    /// nil in runs without business events.
    var ingest: IngestStage?
    let observer: Observer
    let fixes: FixLog
    let state: StateObserver
    private(set) var instances: [Instance] = []
    private(set) var trace = Trace()
    private(set) var violation: Violation?
    /// All random faults have ended.
    private(set) var isCalm = false
    var random: SeededGenerator
    /// The number of assignments so far.
    var assignments: UInt64 = 0
    private var isObserving = false
    var punctuality: PunctualityChecks
    var activityChecks = ActivityChecks()
    /// The largest error of any clock so far, in milliseconds.
    private var latestClock: Int64 = 0
    /// The number of events of the timeline so far.
    private(set) var happenings = 0
    /// The folder for the instances' disks in runs with stores in files.
    private let files: String?
    private(set) var links: [SimulatedLink] = []
    private var channels: [SimulatedChannel] = []
    private var enrichments: [SimulatedEnrichment] = []

    // MARK: Hooks of the run

    /// Called after every event and its checks.
    var onEvent: () -> Void = {}
    /// Called when a process has ended.
    var onDeath: (Instance, SimulatedProcess) -> Void = { _, _ in }
    /// Called when a lane refuses to run, and no other may follow it.
    var onRefusal: (Instance, ConsumerRefusal) -> Void = { _, _ in }
    /// For idle lanes: the instant before which nothing will happen, in microseconds.
    var quietUntil: () -> Int64? = { nil }
    /// Whether idle polls must return.
    var isWakingLanes: () -> Bool = { false }

    init(_ options: Simulation.Options, _ scenario: Scenario, random: SeededGenerator) throws {
        zones = try SimulatedZone.zones()
        (self.options, self.scenario, self.random) = (options, scenario, random)
        files =
            scenario.usesFiles
            ? FileManager.default.temporaryDirectory.appending(path: "carillon-simulate-\(UUID().uuidString)").path
            : nil
        broker = SimulatedBroker(timeline: timeline)
        for topic in [topics.requests, topics.signals, topics.devices, topics.tokens, topics.state] {
            broker.addTopic(topic, partitions: scenario.partitions)
        }
        broker.addTopic(topics.deliveries, partitions: 2)
        broker.addTopic(topics.responses, partitions: 2)
        broker.addTopic(topics.deadLetters, partitions: 1)
        broker.group.partitions = scenario.partitions
        broker.bytesPerSecond = scenario.bytesPerSecond
        punctuality = PunctualityChecks { [broker] in broker.busyTime(since: $0) }
        // Larger contents for slow brokers, where they take time.
        // With activities their tokens need room in the record of a recipient.
        if scenario.bytesPerSecond != nil || scenario.hasActivities { broker.maximumRecordBytes = 96 * 1024 }
        let noted = Box<(String, String) -> Void> { _, _ in }
        requests = RequestLog(broker: broker, topics: topics, note: { noted.value("producer", $0) })
        let log = FixLog(broker: broker, topic: topics.signals, isExactlyOnce: options.isExactlyOnce)
        observer = Observer(
            broker: broker,
            topics: topics,
            published: { [requests] in requests.published },
            base: { [requests] in requests.base(of: $0) },
            partitions: scenario.partitions,
            isExactlyOnce: options.isExactlyOnce,
            channel: scenario.channel,
            isDisturbed: !scenario.isUndisturbed,
            maximumEntries: scenario.maximumEntries,
            fixes: log,
            note: { noted.value("reader", $0) }
        )
        state = StateObserver(
            broker: broker,
            topics: topics,
            isExactlyOnce: options.isExactlyOnce,
            isDisturbed: !scenario.isUndisturbed,
            base: { [requests] in requests.base(of: $0) }
        )
        observer.isHeld = { [state] in state.holds($0, of: $1, in: $2) }
        fixes = log
        noted.value = { [unowned self] in note($0, $1) }
        devices.onBegin = { [unowned self] number in
            check { () throws(Violation) in try check(number) }
        }
        timeline.afterEvent = { [unowned self] in observe() }
        writeEndsLate()
        disturb()
    }

    /// The coordinator answers before it writes the end of a transaction; long before if a partition's leader is unavailable.
    private func writeEndsLate() {
        var (random, late) = (SeededGenerator(seed: ~options.seed), SeededGenerator(seed: ~options.seed ^ 1))
        broker.transactions.writingTime = { [unowned self] in
            if scenario.writesEndsLate, !isCalm, late.chance(15) {
                let time = late.number(500_000...20_000_000)
                note("broker", "writes the end of a transaction \(time) us late")
                disturb(for: time)
                return time
            }
            switch random.index(20) {
            case 0: return random.number(1_000...500_000)
            case 1..<4: return random.number(1...20_000)
            default: return 0
            }
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
        // End all processes, so that the call that detected the violation returns.
        for instance in instances { instance.process?.crash() }
        for machine in ingest?.machines ?? [] { machine.process?.crash() }
    }

    /// Ends the simulation, and deletes its files.
    func end() {
        timeline.end()
        for instance in instances { instance.forget() }
        for machine in ingest?.machines ?? [] { machine.forget() }
        ingest = nil
        if let files { try? FileManager.default.removeItem(atPath: files) }
    }

    private func observe() {
        guard violation == nil, !isObserving else { return }
        happenings += 1
        guard happenings < Self.mostHappenings else {
            return fail(Violation(.rest, "no end after \(happenings) events of the simulation: \(unrest ?? "")"))
        }
        isObserving = true
        defer { isObserving = false }
        do throws(Violation) {
            noteDisturbance()
            latestClock = max(latestClock, instances.map(\.clock.currentError).max() ?? 0)
            if instances.contains(where: { abs($0.clock.currentError) > 1_000 }) { observer.wereClocksRight = false }
            try requests.follow()
            try observer.follow()
            try ingest?.checks.follow()
            try punctuality.check(
                observer,
                at: timeline.now,
                slack: clockSlack,
                latest: timeline.clock.wall.adding(milliseconds: latestClock + 1),
                areClocksRight: instances.allSatisfy { abs($0.clock.currentError) <= 100 },
                usesChannel: scenario.usesChannel
            )
            try state.follow(observer)
        } catch {
            fail(error)
        }
        onEvent()
    }

    /// By how many microseconds the clock of an instance or of a producer may be behind.
    var clockSlack: Int64 { max(100, -(instances.map(\.clock.currentError).min() ?? 0)) * 1000 }

    /// Whether lateness is checked. Several lanes wait inside each other's calls, so that any of them may be late without a
    /// fault.
    private var isPunctual: Bool { scenario.instances == 1 && scenario.lanesEach == 1 && ingest == nil }

    /// - Parameter time: for how many microseconds the disturbance lasts.
    func disturb(for time: Int64 = 0) { punctuality.disturb(at: isPunctual ? timeline.now + time : .max / 2) }

    /// Sets the error of an instance's clock, in milliseconds. If this sets the clock back, timers are late by the difference.
    func setClock(of instance: Instance, error: Int64) {
        let back = max(0, instance.clock.currentError - error)
        instance.clock.set(error: error)
        disturb(for: back * 1000)
    }

    private func noteDisturbance() {
        let isDisturbed =
            broker.isAway || !broker.group.isQuiet
            || instances.contains { !$0.isDown && (!$0.isRunning || $0.process?.isPaused == true) }
        if isDisturbed { disturb() }
        if areRequestsBlocked { punctuality.noteBlocked(at: timeline.now) }
    }

    func check(_ body: () throws(Violation) -> Void) {
        guard violation == nil else { return }
        do throws(Violation) { try body() } catch { fail(error) }
    }

    func proceed(until condition: () -> Bool, atMost limit: Int64) {
        while violation == nil, timeline.now < limit, !condition() {
            guard timeline.step() else { return }
        }
    }

    /// Ends all random faults.
    func calm() {
        isCalm = true
        disturb()
        for link in links { link.calm() }
        for channel in channels { channel.rates = .init() }
        for enrichment in enrichments { enrichment.isCalm = true }
    }

    /// Breaks a process's connection to the group coordinator for a number of microseconds.
    func cutOff(_ process: SimulatedProcess, for time: Int64) {
        for link in links where link.process === process { link.loseCoordinator(for: time) }
        disturb(for: time)
    }

    /// Whether the group gets no heartbeats of a running member, or has rebalanced without it.
    var isAnyOutOfTouch: Bool { links.contains(where: \.isOutOfTouch) }

    /// Ends a process at one of its next calls.
    func crash(_ process: SimulatedProcess, withinCalls calls: Int) {
        for link in links where link.process === process { link.faults.callsToCrash = calls }
    }

    // MARK: - Processes

    @discardableResult
    func addInstance(named name: String? = nil) -> Instance {
        let clock = MachineClock(timeline.clock, error: random.number(-100...100))
        let number = instances.count
        let instance = Instance(number: number, name: name ?? "p\(number)", clock: clock, files: files)
        instances.append(instance)
        return instance
    }

    func begin(_ instance: Instance, _ settings: ProcessSettings = .init()) {
        guard violation == nil, !instance.isDown else { return }
        instance.begin(on: timeline) { process in
            note(process.name, "starts")
            process.observe(
                pause: {},
                death: { [unowned self] in
                    note(process.name, "ends")
                    if violation == nil { onDeath(instance, process) }
                }
            )
            let stores = makeStores(for: instance, process, settings)
            let health = Health()
            let seats = (0..<scenario.lanesEach).map { lane in
                LaneSeat(
                    name: "\(process.name)/\(lane)",
                    lane: lane,
                    instance: instance,
                    process: process,
                    settings: settings,
                    channel: channel(for: "\(process.name)/\(lane)", of: process),
                    enrichment: enrichment(for: "\(process.name)/\(lane)", of: process),
                    stores: stores,
                    status: LaneStatus(),
                    health: health.component("lane-\(lane)")
                )
            }
            return (seats, seats.map { runner(for: $0) })
        }
    }

    private func makeStores(
        for instance: Instance,
        _ process: SimulatedProcess,
        _ settings: ProcessSettings
    ) -> any EntryStores {
        guard settings.hasStore else { return MemoryEntryStores() }
        let random = random.split()
        guard files == nil else {
            return FileStores(instance.disk, process: process, timeline: timeline, random: random)
        }
        return SimulatedStores(
            disk: instance.disk,
            timeline: timeline,
            process: process,
            random: random,
            bugs: options.bugs
        )
    }

    private func channel(for name: String, of process: SimulatedProcess) -> SimulatedChannel {
        let channel = SimulatedChannel(
            scenario.reachesDevices ? .apns : .test,
            lane: name,
            devices: devices,
            process: process,
            timeline: timeline,
            random: random.split(),
            bugs: options.bugs,
            note: { [unowned self] in note(name, $0) }
        )
        if !isCalm, scenario.faultRate > 0 {
            channel.rates = .init(
                retiring: scenario.reachesDevices ? 20 : 0,
                failing: 100,
                rejecting: 30,
                losing: 20,
                delaying: 50,
                repeating: 100
            )
        }
        channels.append(channel)
        return channel
    }

    private func enrichment(for name: String, of process: SimulatedProcess) -> SimulatedEnrichment {
        let enrichment = SimulatedEnrichment(
            process: process,
            timeline: timeline,
            // Of its own, so that it does not change the random numbers of other runs.
            random: SeededGenerator(seed: options.seed ^ UInt64(enrichments.count) ^ 0x7374_6167_6573_2121),
            bugs: options.bugs,
            note: { [unowned self] in note(name, $0) }
        )
        enrichment.isCalm = isCalm
        enrichments.append(enrichment)
        return enrichment
    }

    func add(_ link: SimulatedLink) {
        link.onFault = { [unowned self] in disturb() }
        link.idleUntil = { [unowned self] in quietUntil() }
        link.isWoken = { [unowned self] in isWakingLanes() }
        link.isRebalancing = { [unowned self] in !broker.group.isQuiet || ingest?.group.isQuiet == false }
        links.removeAll { $0.isDead || $0.isClosed }
        links.append(link)
    }
}

/// How a process is started.
struct ProcessSettings {
    /// Whether it keeps its stores on its machine's disk.
    var hasStore = true
    /// What it does when unread requests were deleted.
    var gap = LaneConfiguration.Gap.refuse
}

/// The place of a lane in a process: the parts that outlive each lane.
struct LaneSeat {
    var name: String
    var lane: Int
    var instance: Instance
    var process: SimulatedProcess
    var settings: ProcessSettings
    var channel: SimulatedChannel
    var enrichment: SimulatedEnrichment
    var stores: any EntryStores
    var status: LaneStatus
    var health: HealthComponent
}
