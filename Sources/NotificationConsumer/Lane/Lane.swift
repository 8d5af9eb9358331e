import CoreMetrics
import Foundation
import Kafka
import Logging
import NotificationModel
import ServiceSupport

/// One consumer, one producer and the centres of their partitions on one thread, as a stream thread of Kafka Streams: no
/// record crosses a thread. A record's way: `poll` → `Intake` → `PartitionCenter` → `Emission` → checkpoint.
///
/// ## Where a record's time goes
/// Of the process's CPU for an immediate request of 400 bytes (`perf`, `carillon bench pipeline`), librdkafka's broker thread
/// takes about 40 %: sockets, batches, compression. The rest is this thread's:
/// - 18 % `Emission`: writing the event and its id is small; copying eight headers into librdkafka's list is half of it;
/// - 9 % delivery reports, most of it freeing librdkafka's messages;
/// - 7 % `PartitionCenter`: a cache miss or two for the key, and remembering the closed id;
/// - 6 % `Intake`: one scan of the JSON, which is neither copied nor built;
/// - 5 % reading the input's headers, which librdkafka takes apart for the first that is asked for;
/// - the rest copies key and value, polls, and counts.
///
/// About a third of this thread's time is the allocator's, on librdkafka's behalf more than on ours: the README's figures show
/// what jemalloc makes of it.
final class Lane {
    /// What the lanes of one service share.
    struct Context: Sendable {
        let configuration: ConsumerServiceConfiguration
        let parked: ParkedCenters
        let stop: StopSignal
        let clock: @Sendable () -> Timestamp
        let metrics: any MetricsFactory
        let logger: Logger
    }

    /// Records applied before timers, reports and the checkpoint get their turn.
    private static let recordsPerTurn = 1000
    private static let timersPerTurn = 1000

    private let context: Context
    private let configuration: ConsumerServiceConfiguration
    private let status: LaneStatus
    private let health: HealthComponent
    private let metrics: LaneMetrics
    private let logger: Logger

    private let consumer: KafkaConsumer
    private let producer: KafkaLaneProducer
    private let ledger: DeliveryLedger
    private let intake: Intake
    private var emission: Emission
    private let partitions: Int32

    /// By partition number; nil where another member is the owner.
    private var centers: [PartitionCenter?]
    /// The next offset to read, by partition number; what a parked centre is known by.
    private var positions: [Int64]
    private var owned: Set<Int32> = []
    private var effects: [NotificationCenter.Effect] = []
    private var isPaused = false
    private var nextCheckpoint = ContinuousClock.now
    private var checkpointStarted = ContinuousClock.now
    private var nextStatus = ContinuousClock.now
    private var hasFailed = false

    /// Connects; waits for the broker until asked to stop.
    ///
    /// - Returns: nil when asked to stop meanwhile.
    /// - Throws: `KafkaError` for a configuration that librdkafka refuses, `ConsumerRefusal`.
    init?(context: Context, status: LaneStatus, health: HealthComponent) throws {
        self.context = context
        self.status = status
        self.health = health
        configuration = context.configuration
        logger = context.logger
        metrics = LaneMetrics(factory: context.metrics)

        let topics = configuration.topics
        producer = try KafkaLaneProducer(configuration: configuration.laneProducer, logger: logger)
        guard let targets = try LaneTargets.find(with: producer, topics, stop: context.stop, health: health, logger)
        else {
            producer.close(within: .seconds(1))
            return nil
        }
        partitions = targets.requestPartitions
        let count = partitions
        ledger = DeliveryLedger(partitions: count)
        centers = Array(repeating: nil, count: Int(count))
        positions = Array(repeating: 0, count: Int(count))
        intake = Intake(topic: topics.requests) { key in
            key.withRecipientBytes { KafkaPartitioner.partition(forKey: $0, count: count) }
        }
        emission = Emission(
            producer: producer,
            deliveries: targets.deliveries,
            deadLetters: targets.deadLetters,
            state: targets.state,
            source: configuration.source,
            ledger: ledger
        )
        consumer = try KafkaConsumer(configuration: configuration.groupConsumer, logger: logger)
        effects.reserveCapacity(64)
    }

    /// Works until asked to stop, then drains within the configured time.
    ///
    /// - Throws: what makes it impossible to go on; the centres are then read again from the marker.
    func run() throws {
        defer { close() }
        do {
            try consumer.subscribe(
                to: [configuration.topics.requests],
                onAssign: { [unowned self] in try assign($0) },
                onRevoke: { [unowned self] in revoke($0, lost: $1, deadline: $2) }
            )
            health.notReady("waiting for the group \(configuration.groupID) to assign partitions")
            while !context.stop.isRequested {
                try turn()
            }
            drain()
        } catch {
            hasFailed = true
            throw error
        }
    }

    // MARK: - One turn

    private func turn() throws {
        let isBacklogged = regulate()
        try read(upTo: Self.recordsPerTurn, waiting: waitingTime(isBacklogged: isBacklogged))
        if !isBacklogged { try fireTimers() }
        try settle(within: .zero)
        if nextCheckpoint <= .now, !ledger.checkpoint.isUnderWay {
            nextCheckpoint = .now.advanced(by: configuration.checkpointInterval)
            checkpointStarted = .now
            ledger.checkpoint.cut()
        }
        try advanceCheckpoint(waiting: false)
        metrics.flush()
        if nextStatus <= .now { reportStatus() }
    }

    /// At the bound of unacknowledged events partitions are paused, not buffered; at half of it they go on.
    private func regulate() -> Bool {
        let outstanding = producer.outstanding
        if !isPaused, outstanding >= configuration.outstandingRecords {
            consumer.pause(consumer.assignment)
            isPaused = true
            health.notReady("the broker does not acknowledge: \(outstanding) events outstanding, reading is paused")
        } else if isPaused, outstanding <= configuration.outstandingRecords / 2 {
            consumer.resume(consumer.assignment)
            isPaused = false
            health.ready()
        }
        return isPaused
    }

    /// How long a read may wait: until the next timer, and shortly while acknowledgements are awaited.
    private func waitingTime(isBacklogged: Bool) -> Duration {
        if ledger.checkpoint.isUnderWay || producer.outstanding > 0 { return .milliseconds(2) }
        var wait: Int64 = 100
        if !isBacklogged {
            let now = context.clock()
            for partition in owned {
                guard let due = centers[Int(partition)]?.nextDue() else { continue }
                wait = min(wait, max(0, due.rawValue - now.rawValue))
            }
        }
        return .milliseconds(wait)
    }

    private func read(upTo limit: Int, waiting: Duration) throws {
        var waiting = waiting
        let now = context.clock()
        var readAt = now
        for _ in 0..<limit {
            guard let message = try consumer.poll(within: waiting) else { return }
            if waiting > .zero { readAt = context.clock() }
            waiting = .zero
            try apply(message, at: readAt)
        }
    }

    private func apply(_ message: borrowing KafkaMessage, at now: Timestamp) throws {
        let partition = message.partition
        // A record that was fetched before its partition left belongs to the next owner.
        guard owned.contains(partition) else { return }
        let record = Intake.Record(
            partition: partition,
            offset: message.offset,
            timestamp: message.timestamp,
            key: message.key(),
            value: message.value(),
            trace: CarriedTrace(message)
        )
        do throws(ModelError) {
            let input = try intake.input(from: record, at: now)
            if let outcome = centers[Int(partition)]?.apply(input, at: now, effects: &effects) {
                metrics.count(outcome)
            }
        } catch {
            logger.warning(
                "dead letter",
                metadata: [
                    "reason": "\(error.reason.rawValue)", "field": "\(error.field ?? "")",
                    "partition": "\(partition)", "offset": "\(message.offset)",
                ]
            )
            metrics.count(deadLetter: error.reason)
            try emission.publishDeadLetter(message.record(), because: error, group: configuration.groupID)
        }
        try publishEffects(at: now)
        positions[Int(partition)] = record.offset + 1
        ledger.checkpoint.applied(record.offset, of: partition)
    }

    private func fireTimers() throws {
        for partition in owned {
            let now = context.clock()
            let fired = centers[Int(partition)]?.fireDue(at: now, limit: Self.timersPerTurn, effects: &effects) {
                metrics.record(lateness: $0)
            }
            if fired ?? 0 > 0 { try publishEffects(at: now) }
            metrics.count(forgottenEarly: centers[Int(partition)]?.forget(at: now) ?? 0)
        }
    }

    private func publishEffects(at now: Timestamp) throws {
        for effect in effects {
            try emission.publish(effect, at: now)
            metrics.count(effect.event.name)
        }
        effects.removeAll(keepingCapacity: true)
    }

    // MARK: - Checkpoint

    private func settle(within wait: Duration) throws {
        producer.serveReports(within: wait, ledger.settle)
        if let failure = ledger.failure { throw failure }
    }

    private func advanceCheckpoint(waiting: Bool) throws {
        while let action = ledger.checkpoint.next() {
            switch action {
            case .writeMarkers(let offsets):
                let now = context.clock()
                for (partition, offset) in offsets {
                    try emission.publish(marker(at: offset, now: now), partition: partition)
                }
            case .commit(let offsets):
                let places = offsets.map {
                    (KafkaTopicPartition(topic: configuration.topics.requests, partition: $0), $1)
                }
                try consumer.commit(
                    Dictionary(uniqueKeysWithValues: places),
                    within: waiting ? .seconds(5) : nil
                )
                metrics.record(checkpoint: .now - checkpointStarted)
            }
        }
    }

    /// Checkpoints all that was read, until the deadline.
    private func finishCheckpoint(by deadline: ContinuousClock.Instant) throws -> Bool {
        while true {
            try advanceCheckpoint(waiting: true)
            ledger.checkpoint.cut()
            try advanceCheckpoint(waiting: true)
            if ledger.checkpoint.isSettled { return true }
            guard ContinuousClock.now < deadline else { return false }
            try settle(within: .milliseconds(20))
        }
    }

    private func marker(at offset: Int64, now: Timestamp) -> StateMarker {
        StateMarker(
            offsets: [configuration.topics.requests: offset],
            wallTime: now,
            partitions: partitions,
            timeZoneDataVersion: TimeZone.timeZoneDataVersion,
            firedThrough: now
        )
    }

    // MARK: - Assignment; on this thread, inside poll

    private func assign(_ places: Set<KafkaTopicPartition>) throws -> [KafkaTopicPartition: Int64] {
        let reader = MarkerReader(
            configuration: configuration,
            topics: configuration.topics,
            partitions: partitions,
            logger: logger
        )
        let limits = PartitionCenter.Limits(
            maximumEntries: configuration.maximumEntries,
            retention: configuration.retention.milliseconds
        )
        var starts: [KafkaTopicPartition: Int64] = [:]
        for (place, position) in try reader.positions(of: places) {
            let offset = position.offset
            if !position.isMarked {
                let marker = marker(at: offset, now: context.clock())
                try emission.publish(marker, partition: place.partition, tag: .firstMarker)
            }
            let kept = context.parked.take(place.partition, at: offset)
            if kept == nil, offset > 0 {
                logger.warning(
                    "resumed from the marker; what was pending before is lost: this release keeps it in memory",
                    metadata: ["topic": "\(place.topic)", "partition": "\(place.partition)", "offset": "\(offset)"]
                )
            }
            centers[Int(place.partition)] = kept ?? PartitionCenter(limits: limits)
            positions[Int(place.partition)] = offset
            owned.insert(place.partition)
            starts[place] = offset
        }
        // A crash before the first checkpoint must find where this began.
        guard producer.flush(within: .seconds(10), ledger.settle) else {
            throw FirstMarkersNotWritten()
        }
        isPaused = false
        health.ready()
        reportStatus()
        return starts
    }

    private func revoke(_ places: Set<KafkaTopicPartition>, lost: Bool, deadline: ContinuousClock.Instant) {
        var isCheckpointed = false
        if !lost, !hasFailed {
            do {
                isCheckpointed = try finishCheckpoint(by: deadline)
            } catch {
                logger.error("no checkpoint before partitions left", metadata: ["error": "\(error)"])
            }
        }
        let leaving = Set(places.map(\.partition))
        if isCheckpointed {
            for partition in leaving {
                guard let center = centers[Int(partition)] else { continue }
                context.parked.park(center, of: partition, at: positions[Int(partition)])
            }
        }
        for partition in leaving { centers[Int(partition)] = nil }
        owned.subtract(leaving)
        ledger.checkpoint.forget(leaving)
        health.notReady(
            lost
                ? "the session with the group is lost: the broker does not answer, or did not in time"
                : "partitions are being reassigned"
        )
        reportStatus()
    }

    // MARK: - The end

    /// Stops reading, lets everything read be acknowledged and checkpointed, within the bound.
    private func drain() {
        health.notReady("shutting down")
        consumer.pause(consumer.assignment)
        let deadline = ContinuousClock.now.advanced(by: configuration.drainTimeout / 2)
        do {
            if try !finishCheckpoint(by: deadline) {
                logger.error("not all events were acknowledged in time; they are read again at the next start")
            }
        } catch {
            logger.error(
                "no checkpoint at the end; records are read again at the next start",
                metadata: ["error": "\(error)"]
            )
        }
        let pending = centers.reduce(0) { $0 + ($1?.pendingCount ?? 0) }
        if pending > 0 {
            logger.warning(
                "pending notifications are in memory and will be lost at the end of the process",
                metadata: ["pending": "\(pending)"]
            )
        }
    }

    private func close() {
        consumer.close(within: configuration.drainTimeout / 4)
        producer.close(within: configuration.drainTimeout / 4)
        metrics.flush()
        status.update { $0 = .init() }
    }

    private func reportStatus() {
        nextStatus = .now.advanced(by: .milliseconds(500))
        let now = context.clock()
        var snapshot = LaneStatus.Snapshot()
        snapshot.outstanding = producer.outstanding
        for partition in owned {
            let place = KafkaTopicPartition(topic: configuration.topics.requests, partition: partition)
            snapshot.assignment.insert(place)
            snapshot.pending += centers[Int(partition)]?.pendingCount ?? 0
            snapshot.entries += centers[Int(partition)]?.entryCount ?? 0
            if let due = centers[Int(partition)]?.nextDue() {
                snapshot.oldestDueAge = max(snapshot.oldestDueAge, now.rawValue - due.rawValue)
            }
            if let marks = consumer.cachedWatermarks(of: place) {
                snapshot.lag[place] = max(0, marks.high - positions[Int(partition)])
            }
        }
        status.update { $0 = snapshot }
    }
}

/// The broker went away while partitions were taken over; the lane starts again.
private struct FirstMarkersNotWritten: Error, CustomStringConvertible {
    let description = "the first markers of the assigned partitions were not acknowledged in time"
}
