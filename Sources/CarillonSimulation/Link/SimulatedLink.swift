import Kafka
import NotificationConsumer
import NotificationModel
import NotificationState
import ServiceSupport

/// A lane's simulated Kafka clients: one member of the group and one producer on a `SimulatedBroker`, with faults.
///
/// At each call the process may end, the answer may be lost, or time may pass. After the process has ended, every call fails
/// and changes nothing.
final class SimulatedLink: LaneLink {
    struct Configuration {
        var topics = TopicNames()
        /// The topics that it reads.
        var inputs = InputTopic.allCases
        /// nil for `at-least-once`.
        var transactionalID: String?
        /// Microseconds within which a revoke hook should end.
        var revokeBudget: Int64 = 7_500_000
        /// Microseconds.
        var heartbeatInterval: Int64 = 3_000_000
        /// Whether it detects that its process was paused for longer than a session, as the production link does; otherwise
        /// only the fence makes its later work ineffective.
        var noticesSuspension = true
        var bugs: Set<PlantedBug> = []
    }

    /// A poll of at least this time is that of an idle lane.
    private static let idlePoll = Duration.milliseconds(4)
    private static let idleWait: Int64 = 60_000

    let name: String
    let configuration: Configuration
    let broker: SimulatedBroker
    /// The group of its member.
    let group: GroupCoordinator
    let process: SimulatedProcess
    let producer: SimulatedProducer
    var faults: FaultPlan
    var random: SeededGenerator
    private var inputRandom = SeededGenerator(seed: 0x696e_7075_7473)
    let note: (String) -> Void
    /// The instant before which nothing will happen; an idle poll skips the time until then, so that idle years pass in one
    /// call.
    var idleUntil: () -> Int64? = { nil }
    /// Whether an idle poll must return.
    var isWoken: () -> Bool = { false }
    /// Whether a group rebalances: an idle poll may run inside the one of a member, which does not return before it.
    var isRebalancing: () -> Bool = { false }
    private let bell = SimulatedBell()
    /// Called at each fault, and at its end.
    var onFault: () -> Void = {}
    private(set) var steps = 0
    // For planted bugs: records that are held back, and records reported as written without being written.
    var heldBack: [(record: LogRecord, topic: LaneTopic, partition: Int32)] = []
    var pretended: [KafkaDeliveryReport] = []
    var fixesRead: Int64 = 0
    var overtaken: (record: LogRecord, partition: Int32, tag: UInt)?
    /// The time of a link whose process has ended advances separately, so that its waits end.
    private var timeAfterDeath: Int64 = 0

    // The member.
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
    /// The input partitions that are paused by themselves.
    var pausedInputs: Set<InputPartition> = []
    var isClosed = false
    var nextHeartbeat: Int64 = 0
    /// Until when its heartbeats do not reach the group, in microseconds.
    var noCoordinatorUntil: Int64 = 0
    /// When the client considers its session expired, while its heartbeats do not reach the group.
    var sessionEnd: Int64 = 0
    private var lastPoll: Int64?
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
        // The producer needs the link's fault plan, and may ask for it during a call of the link.
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
        group.stopHeartbeats(id)
        process.whenResumed { [weak self] in
            guard let self, !isDead, !process.isPaused else { return }
            if !hasNoCoordinator { group.sendHeartbeats(id) }
            nextHeartbeat = timeline.now + random.number(0...self.configuration.heartbeatInterval)
        }
    }

    private func died() {
        if isMember { group.stopHeartbeats(memberID) }
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

    /// Advances the time, at least until the process is not paused.
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

    /// Waits until a paused process is resumed.
    private func awaken() {
        guard !isDead, process.isPaused else { return }
        while !isDead, process.isPaused { timeline.advance(to: process.pausedUntil) }
    }

    /// Advances the time until a condition holds, at most by a number of microseconds.
    ///
    /// - Parameter isIdle: the lane waits for no answer.
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

    /// Counts a call, and carries out faults before its effect.
    ///
    /// - Returns: the fault of the call; nil also if the process has ended.
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
        // As the production link does.
        if noticesSuspension, let lastPoll, timeline.now - lastPoll > GroupCoordinator.sessionTimeout {
            throw LaneEnd.suspended
        }
        let next = try nextRecord(within: time)
        // The next poll detects a pause from here on.
        lastPoll = timeline.now
        guard let (partition, record) = next else { return false }
        positions[partition] = record.offset + 1
        if let invented = invented(before: record, of: partition) { try deliver(invented, partition, apply) }
        try deliver(record, partition, apply)
        try checkAlive()
        return true
    }

    private func nextRecord(within time: Duration) throws -> (InputPartition, LogRecord)? {
        let began = timeline.now
        var deadline = began + time.microseconds
        let isIdle = time >= Self.idlePoll
        if isIdle { deadline = max(deadline, timeline.now + Self.idleWait) }
        while true {
            let before = generation
            try followGroup()
            try checkAlive()
            // The lane must begin the restore of a new assignment.
            if generation != before { return nil }
            if let next = try nextRecord() { return next }
            guard timeline.now < deadline, !bell.isRung else {
                bell.still()
                return nil
            }
            if isIdle, let quiet = idleUntil() {
                pass(quiet - timeline.now, isIdle: true) {
                    hasRecord || bell.isRung || isWoken() || isRebalancing()
                }
            } else {
                let beat = max(nextHeartbeat, timeline.now + 1_000)
                pass(min(deadline, beat) - timeline.now, isIdle: isIdle) {
                    hasRecord || bell.isRung || isWoken()
                }
            }
            try checkAlive()
            if noticesSuspension, process.wasSuspended(since: began) { throw LaneEnd.suspended }
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
        !isReadingPaused && !isInHook
            && ownedInputs.contains { !pausedInputs.contains($0) && upcoming(of: $0) != nil }
    }

    /// The next record of any partition; the order of the partitions is random.
    private func nextRecord() throws -> (InputPartition, LogRecord)? {
        guard !isReadingPaused, !owned.isEmpty, !isInHook else { return nil }
        let first = owned.count > 1 ? random.index(owned.count) : 0
        for index in owned.indices {
            let number = owned[(first + index) % owned.count]
            var found: [(InputPartition, LogRecord)] = []
            for input in configuration.inputs {
                let partition = InputPartition(input, number)
                guard !pausedInputs.contains(partition) else { continue }
                let position = positions[partition] ?? 0
                let log = log(partition)
                guard position >= log.start, position <= log.end else { throw KafkaError.offsetOutOfRange }
                if let record = upcoming(of: partition) { found.append((partition, record)) }
            }
            // Of its own, so that a run without signals is the same as before there were any.
            if found.count > 1 { return found[inputRandom.index(found.count)] }
            if let only = found.first { return only }
        }
        return nil
    }

    func pauseReading() { isReadingPaused = true }
    func resumeReading() { isReadingPaused = false }
    func pause(_ partitions: Set<InputPartition>) { pausedInputs.formUnion(partitions) }
    func resume(_ partitions: Set<InputPartition>) { pausedInputs.subtract(partitions) }
}
