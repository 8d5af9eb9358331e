import Kafka
import NotificationConsumer
import NotificationModel
import ServiceSupport

/// A lane's Kafka, simulated: one member of the group and one producer on a `SimulatedBroker`, with faults.
///
/// Each call is a step at which the process may end, the answer may be lost, or time may pass. Once the process ended, every
/// call fails and changes nothing.
final class SimulatedLink: LaneLink {
    struct Configuration {
        var topics = TopicNames()
        /// What it reads.
        var inputs = InputTopic.allCases
        /// nil for `at-least-once`.
        var transactionalID: String?
        /// Microseconds within which a revoke hook should end.
        var revokeBudget: Int64 = 7_500_000
        /// Microseconds.
        var heartbeatInterval: Int64 = 3_000_000
        /// Whether it notices by itself that it stood still for longer than a session, as the shipping link does; without that
        /// only the fence keeps what it does then from counting.
        var noticesStanding = true
        var bugs: Set<PlantedBug> = []
    }

    /// A lane that waits for so long expects nothing.
    private static let idlePoll = Duration.milliseconds(4)
    private static let idleWait: Int64 = 60_000

    let name: String
    let configuration: Configuration
    let broker: SimulatedBroker
    /// The one that it is a member of.
    let group: GroupCoordinator
    let process: SimulatedProcess
    let producer: SimulatedProducer
    var faults: FaultPlan
    var random: SeededGenerator
    let note: (String) -> Void
    /// Asked when nothing came within a poll: the instant to which nothing will happen, so that idle years pass in one call.
    var idleUntil: () -> Int64? = { nil }
    /// Whether an idle lane is to look about.
    var isWoken: () -> Bool = { false }
    private let bell = SimulatedBell()
    /// Called when a call meets a fault, and when that is over.
    var onFault: () -> Void = {}
    private(set) var steps = 0
    // For planted bugs: what is held back, and what is said to be written.
    var heldBack: [(record: LogRecord, topic: LaneTopic, partition: Int32)] = []
    var pretended: [KafkaDeliveryReport] = []
    var overtaken: (record: LogRecord, partition: Int32, tag: UInt)?
    /// A dead link's time goes on for itself, so that what waits in it ends.
    private var timeAfterDeath: Int64 = 0

    // Of the member.
    var memberID: String
    var joins = 0
    var generation = -1
    var owned: [Int32] = [] {
        didSet { ownedInputs = owned.flatMap { number in configuration.inputs.map { InputPartition($0, number) } } }
    }
    private var ownedInputs: [InputPartition] = []
    var positions: InputOffsets = [:]
    var isMember = false
    var isReadingPaused = false
    var isClosed = false
    var nextHeartbeat: Int64 = 0
    /// Its heartbeats do not reach the group until then, in microseconds.
    var unheardUntil: Int64 = 0
    /// When the client counts its session as over, while it is not heard.
    var sessionEnd: Int64 = 0
    private var lastPoll: Int64?
    private var hasStoodStill = false
    var isInHook = false
    var onAssign: (([Int32]) throws -> InputOffsets)?
    var onRevoke: ((_ partitions: [Int32], _ lost: Bool, _ deadline: ContinuousClock.Instant) -> Void)?

    init(
        name: String,
        configuration: Configuration,
        broker: SimulatedBroker,
        group: GroupCoordinator? = nil,
        process: SimulatedProcess,
        faults: FaultPlan,
        random: SeededGenerator,
        note: @escaping (String) -> Void = { _ in }
    ) {
        (self.name, self.configuration, self.broker, self.process) = (name, configuration, broker, process)
        (self.faults, self.random, self.note) = (faults, random, note)
        self.group = group ?? broker.group
        memberID = "\(name)-0"
        // The producer asks for the faults of its requests while the link is in a call of its own.
        let box = FaultBox()
        producer = SimulatedProducer(
            transactionalID: configuration.transactionalID,
            broker: broker,
            process: process,
            random: self.random.split(),
            fault: { box.link?.produceFault($0) }
        )
        box.link = self
        process.observe(
            pause: { [weak self] in self?.paused() },
            death: { [weak self] in self?.died() }
        )
    }

    private final class FaultBox {
        weak var link: SimulatedLink?
    }

    var timeline: Timeline { broker.timeline }
    var isDead: Bool { process.isDead }

    private func paused() {
        guard isMember else { return }
        let id = memberID
        group.fallSilent(id)
        process.whenResumed { [weak self] in
            guard let self, !isDead, !process.isPaused else { return }
            if !isUnheard { group.speak(id) }
            nextHeartbeat = timeline.now + random.number(0...self.configuration.heartbeatInterval)
        }
    }

    private func died() {
        if isMember { group.fallSilent(memberID) }
        producer.abandon()
    }

    // MARK: - Time

    var now: ContinuousClock.Instant {
        timeline.clock.instant.advanced(by: .microseconds(timeAfterDeath))
    }

    func wait(_ time: Duration) {
        _ = enter(.wait)
        pass(time.microseconds)
    }

    var wake: @Sendable () -> Void { { [bell] in bell.ring() } }

    func waitUntilWoken(_ time: Duration) {
        _ = enter(.wait)
        pass(time.microseconds) { bell.isRung }
        bell.still()
    }

    /// Lets time pass, at least to when the process runs again.
    func pass(_ microseconds: Int64) {
        guard !isDead else {
            timeAfterDeath += max(1_000, microseconds)
            return
        }
        broker.waiting += 1
        defer { broker.waiting -= 1 }
        broker.noteActivity()
        timeline.advance(to: timeline.now + max(0, microseconds))
        awaken()
    }

    /// A paused process goes on only when it is resumed.
    private func awaken() {
        guard !isDead, process.isPaused else { return }
        let since = process.pausedSince
        while !isDead, process.isPaused { timeline.advance(to: process.pausedUntil) }
        if timeline.now - since > GroupCoordinator.sessionTimeout { hasStoodStill = true }
    }

    /// Lets time pass until a condition holds, at most so long.
    ///
    /// - Parameter isIdle: nothing is expected.
    func pass(_ microseconds: Int64, isIdle: Bool = false, until condition: () -> Bool) {
        guard !isDead else { return pass(microseconds) }
        if !isIdle { broker.waiting += 1 }
        defer { if !isIdle { broker.waiting -= 1 } }
        let deadline = timeline.now + max(0, microseconds)
        while !condition(), !isDead {
            guard let next = timeline.next, next <= deadline else {
                timeline.advance(to: deadline)
                return awaken()
            }
            timeline.step()
            awaken()
        }
    }

    // MARK: - Steps

    /// Counts a call, and lets the process end before it.
    ///
    /// - Returns: the fault that the call meets; nil also when the process is gone.
    func enter(_ call: LinkCall) -> LinkFault? {
        guard !isDead else { return nil }
        steps += 1
        let fault = faults.fault(at: steps, call)
        if let fault {
            note("\(call.rawValue) #\(steps) \(fault)")
            onFault()
        }
        if fault == .crashBefore { process.crash() }
        if case .delay(let time) = fault {
            pass(time)
            onFault()
        }
        return fault
    }

    private func produceFault(_ call: LinkCall) -> LinkFault? {
        let fault = faults.fault(at: -1, call)
        switch fault {
        case .crashBefore, .crashAfter:
            process.crash()
            return nil
        default:
            if let fault {
                note("\(call.rawValue) \(fault)")
                onFault()
            }
            return fault
        }
    }

    // MARK: - Reading

    func poll(
        within time: Duration,
        _ apply: (Intake.Record, () -> KafkaConsumerRecord) throws -> Void
    ) throws -> Bool {
        _ = enter(.poll)
        try checkAlive()
        // As the shipping link does.
        if noticesStanding, let lastPoll, timeline.now - lastPoll > GroupCoordinator.sessionTimeout {
            throw LaneEnd.stoodStill
        }
        let next = try nextRecord(within: time)
        // What stands still from here on, the next poll notices.
        lastPoll = timeline.now
        guard let (partition, record) = next else { return false }
        positions[partition] = record.offset + 1
        try deliver(record, partition, apply)
        try checkAlive()
        return true
    }

    private func nextRecord(within time: Duration) throws -> (InputPartition, LogRecord)? {
        hasStoodStill = false
        var deadline = timeline.now + time.microseconds
        let isIdle = time >= Self.idlePoll
        if isIdle { deadline = max(deadline, timeline.now + Self.idleWait) }
        while true {
            let before = generation
            try followGroup()
            try checkAlive()
            // What was taken over wants to be looked at.
            if generation != before { return nil }
            if let next = try nextRecord() { return next }
            guard timeline.now < deadline, !bell.isRung else {
                bell.still()
                return nil
            }
            if isIdle, let quiet = idleUntil() {
                pass(quiet - timeline.now, isIdle: true) {
                    hasRecord || bell.isRung || isWoken() || !group.isQuiet
                }
            } else {
                let beat = max(nextHeartbeat, timeline.now + 1_000)
                pass(min(deadline, beat) - timeline.now, isIdle: isIdle) {
                    hasRecord || bell.isRung || isWoken()
                }
            }
            try checkAlive()
            if noticesStanding, hasStoodStill { throw LaneEnd.stoodStill }
            if isWoken() { return nil }
        }
    }

    private func deliver(
        _ record: LogRecord,
        _ partition: InputPartition,
        _ apply: (Intake.Record, () -> KafkaConsumerRecord) throws -> Void
    ) throws {
        try apply(Self.input(rewrite(input: record, of: partition), of: partition)) {
            KafkaConsumerRecord(
                topic: configuration.topics[partition.input],
                partition: partition.partition,
                offset: record.offset,
                timestamp: record.timestamp,
                key: record.key,
                value: record.value,
                headers: record.headers
            )
        }
    }

    func log(_ partition: InputPartition) -> PartitionLog {
        broker.log(configuration.topics[partition.input], partition.partition)
    }

    private func upcoming(of partition: InputPartition) -> LogRecord? {
        let log = log(partition)
        let position = positions[partition] ?? log.end
        guard position < log.lastStable, !broker.isAway else { return nil }
        return log.read(from: position, committed: true, atMost: 1).records.first
    }

    private var hasRecord: Bool {
        !isReadingPaused && !isInHook && ownedInputs.contains { upcoming(of: $0) != nil }
    }

    /// From the partitions in no order that means anything.
    private func nextRecord() throws -> (InputPartition, LogRecord)? {
        guard !isReadingPaused, !owned.isEmpty, !isInHook else { return nil }
        let owned = ownedInputs
        let first = owned.count > 1 ? random.index(owned.count) : 0
        for index in owned.indices {
            let partition = owned[(first + index) % owned.count]
            let position = positions[partition] ?? 0
            let log = log(partition)
            guard position >= log.start, position <= log.end else { throw KafkaError.offsetOutOfRange }
            if let record = upcoming(of: partition) { return (partition, record) }
        }
        return nil
    }

    func pauseReading() { isReadingPaused = true }
    func resumeReading() { isReadingPaused = false }
}
