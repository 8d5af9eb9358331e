import Dispatch
import Logging
import Synchronization

/// Wakes a producer's thread; repeated signals count as one.
private final class Waker: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let isWanted = Atomic(false)

    /// Any `wake` from here on ends the next `wait`.
    func prepare() { isWanted.store(true, ordering: .sequentiallyConsistent) }

    /// Called on any thread, also on librdkafka's.
    func wake() {
        if isWanted.exchange(false, ordering: .sequentiallyConsistent) { semaphore.signal() }
    }

    func wait(atMost milliseconds: Int) { _ = semaphore.wait(timeout: .now() + .milliseconds(milliseconds)) }
}

/// The state that `KafkaProducer` shares with its thread. The thread does not retain the producer, so that the producer
/// can be released.
///
/// A sender passes its record to librdkafka itself, which never waits and does not wake the thread. While the thread
/// serves reports or replaces the client, or when the queue is full, the record goes to the thread as mail.
final class ProducerLoop: Sendable {
    private typealias Continuation = CheckedContinuation<KafkaAcknowledgement, any Error>

    /// The task that waits for a record's acknowledgement.
    private enum Waiter {
        case alone(topic: String, Continuation)
        /// A record of a batch, identified by the batch's first tag.
        case inBatch(first: UInt)
    }

    /// Records that keep their order; one task waits for all of them.
    private struct Batch {
        var topics: [String]
        var acknowledgements: [KafkaAcknowledgement?]
        var left: Int
        var continuation: CheckedContinuation<[KafkaAcknowledgement], any Error>
    }

    private struct Mail: Sendable {
        var record: KafkaProducerRecord
        var tag: UInt
        var deadline: ContinuousClock.Instant
    }

    /// The lane producer, and the headers of the current record.
    private struct Desk {
        let lane: KafkaLaneProducer
        var headers = KafkaHeaderBuffer()
        /// Mail waits for room: later senders must not overtake it.
        var isBacklogged = false

        /// - Throws: as the lane's `enqueue`.
        mutating func enqueue(_ record: KafkaProducerRecord, tag: UInt) throws(KafkaError) {
            headers.removeAll()
            for header in record.headers { headers.append(header) }
            try lane.enqueue(
                topic: lane.topic(record.topic),
                partition: record.partition ?? -1,
                key: record.key,
                value: record.value,
                headers: headers,
                timestamp: record.timestamp,
                tag: tag
            )
        }
    }

    private struct State {
        var mail: [Mail] = []
        var waiting: [UInt: Waiter] = [:]
        var batches: [UInt: Batch] = [:]
        var nextTag: UInt = 1
        var closing: ContinuousClock.Instant?
        var isClosed = false
        var whenClosed: [@Sendable () -> Void] = []
        /// The handle of the current client; a fatal error replaces it.
        var handle: RDKafkaHandle
    }

    private let queueFullTimeout: Duration
    private let waker: Waker
    private let state: Mutex<State>
    /// Senders only try this lock. Inside it `state` may be locked, never the other way round.
    private let desk: Mutex<Desk>

    private init(
        _ configuration: KafkaProducerConfiguration,
        _ waker: Waker,
        _ handle: RDKafkaHandle,
        _ desk: sending Desk
    ) {
        queueFullTimeout = configuration.queueFullTimeout
        self.waker = waker
        state = Mutex(State(handle: handle))
        self.desk = Mutex(desk)
    }

    static func start(
        _ configuration: KafkaProducerConfiguration,
        _ ceiling: KafkaRecordCeiling?,
        _ logger: Logger
    ) throws -> ProducerLoop {
        let waker = Waker()
        // Created here so that an invalid property is reported at once. Records that wait at the same time have no
        // order.
        let lane = try KafkaLaneProducer(
            configuration: configuration,
            ceiling: ceiling,
            logger: logger,
            wake: { waker.wake() },
            repeatsUnconfirmed: true
        )
        let handle = lane.handle
        let loop = ProducerLoop(configuration, waker, handle, Desk(lane: lane))
        KafkaThread.start(name: "kafka-producer") { loop.run() }
        return loop
    }

    // MARK: - From any task

    func send(_ record: KafkaProducerRecord) async throws -> KafkaAcknowledgement {
        let tag = state.withLock { state in
            defer { state.nextTag += 1 }
            return state.nextTag
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isTaken = state.withLock { state in
                    // If the task was cancelled earlier, the cancellation handler below has run already.
                    guard !Task.isCancelled, state.closing == nil else { return false }
                    // Register the waiter before the record is sent: the report may arrive first.
                    state.waiting[tag] = .alone(topic: record.topic, continuation)
                    return true
                }
                if isTaken {
                    handOver(record, tag)
                } else {
                    continuation.resume(
                        throwing: Task.isCancelled ? CancellationError() : KafkaError.producerIsShutDown
                    )
                }
            }
        } onCancel: {
            fail(tag, CancellationError())
        }
    }

    /// Sends all records as mail, which keeps their order. When one fails, the records that librdkafka does not have
    /// yet are withdrawn.
    func send(batch records: [KafkaProducerRecord]) async throws -> [KafkaAcknowledgement] {
        guard !records.isEmpty else { return [] }
        let first = state.withLock { state in
            defer { state.nextTag += UInt(records.count) }
            return state.nextTag
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let deadline = ContinuousClock.now.advanced(by: queueFullTimeout)
                let isTaken = state.withLock { state in
                    guard !Task.isCancelled, state.closing == nil else { return false }
                    state.batches[first] = Batch(
                        topics: records.map(\.topic),
                        acknowledgements: Array(repeating: nil, count: records.count),
                        left: records.count,
                        continuation: continuation
                    )
                    for (tag, record) in zip(first..., records) {
                        state.waiting[tag] = .inBatch(first: first)
                        state.mail.append(Mail(record: record, tag: tag, deadline: deadline))
                    }
                    return true
                }
                if isTaken {
                    waker.wake()
                } else {
                    continuation.resume(
                        throwing: Task.isCancelled ? CancellationError() : KafkaError.producerIsShutDown
                    )
                }
            }
        } onCancel: {
            fail(first, CancellationError())
        }
    }

    private func handOver(_ record: KafkaProducerRecord, _ tag: UInt) {
        let isDone =
            desk.withLockIfAvailable { desk in
                guard !desk.isBacklogged else { return false }
                do throws(KafkaError) {
                    try desk.enqueue(record, tag: tag)
                } catch {
                    // The thread waits for room.
                    if error.code == .queueFull { return false }
                    fail(tag, error)
                }
                return true
            } ?? false
        guard !isDone else { return }
        let deadline = ContinuousClock.now.advanced(by: queueFullTimeout)
        state.withLock { $0.mail.append(Mail(record: record, tag: tag, deadline: deadline)) }
        waker.wake()
    }

    /// Runs on a separate thread; the client may be replaced meanwhile.
    func partitionCount(of topic: String, within time: Duration) async throws -> Int32 {
        try await KafkaThread.run(name: "kafka-metadata") { [self] in
            while true {
                let (handle, isClosing) = state.withLock { ($0.handle, $0.closing != nil) }
                guard !isClosing else { throw KafkaError.producerIsShutDown }
                do throws(KafkaError) {
                    return try handle.use { () throws(KafkaError) in
                        try handle.partitionCount(of: topic, within: time)
                    }
                } catch {
                    // The client was replaced meanwhile.
                    let isStale = state.withLock { $0.handle !== handle }
                    guard error.code == .destroyed, isStale else { throw error }
                }
            }
        }
    }

    /// - Parameter done: called once, when the client is freed or left behind.
    func close(within time: Duration, _ done: (@Sendable () -> Void)? = nil) {
        let deadline = ContinuousClock.now.advanced(by: time)
        let isClosed = state.withLock { state in
            if !state.isClosed {
                state.closing = min(state.closing ?? deadline, deadline)
                if let done { state.whenClosed.append(done) }
            }
            return state.isClosed
        }
        if isClosed { done?() } else { waker.wake() }
    }

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    func failForTest(_ reason: String) { state.withLock { $0.handle }.failForTest(reason) }

    /// Ends the wait for a record, and for its whole batch.
    private func fail(_ tag: UInt, _ error: any Error) {
        let (waiter, batch) = state.withLock { state -> (Waiter?, Batch?) in
            // A cancelled task identifies its batch by the first tag, whose record may be settled already.
            guard
                let waiter = state.waiting.removeValue(forKey: tag)
                    ?? state.batches[tag].map({ _ in .inBatch(first: tag) })
            else { return (nil, nil) }
            guard case .inBatch(let first) = waiter else { return (waiter, nil) }
            guard let batch = state.batches.removeValue(forKey: first) else { return (nil, nil) }
            for member in first..<first + UInt(batch.topics.count) { state.waiting[member] = nil }
            return (waiter, batch)
        }
        if case .alone(_, let continuation) = waiter { continuation.resume(throwing: error) }
        batch?.continuation.resume(throwing: error)
    }

    private func acknowledge(_ tag: UInt, _ partition: Int32, _ offset: Int64) {
        let (waiter, batch) = state.withLock { state -> (Waiter?, Batch?) in
            guard let waiter = state.waiting.removeValue(forKey: tag) else { return (nil, nil) }
            guard case .inBatch(let first) = waiter, var batch = state.batches.removeValue(forKey: first)
            else { return (waiter, nil) }
            let index = Int(tag - first)
            batch.acknowledgements[index] = KafkaAcknowledgement(
                topic: batch.topics[index],
                partition: partition,
                offset: offset
            )
            batch.left -= 1
            if batch.left == 0 { return (waiter, batch) }
            state.batches[first] = batch
            return (nil, nil)
        }
        if case .alone(let topic, let continuation) = waiter {
            continuation.resume(returning: KafkaAcknowledgement(topic: topic, partition: partition, offset: offset))
        }
        if let batch { batch.continuation.resume(returning: batch.acknowledgements.compactMap(\.self)) }
    }

    // MARK: - The thread

    private func run() {
        desk.withLock { desk in desk.lane.onRecreation = { [self] handle in state.withLock { $0.handle = handle } } }
        defer { desk.withLock { $0.lane.onRecreation = nil } }
        var backlog: [Mail] = []
        while true {
            waker.prepare()
            let (mail, closing) = state.withLock { state in
                var mail: [Mail] = []
                swap(&mail, &state.mail)
                return (mail, state.closing)
            }
            backlog.append(contentsOf: mail)
            let (outstanding, isRecovering) = desk.withLock { desk in
                // Reports first: they make room, and a later one wakes the thread.
                desk.lane.serveReports(within: .zero, settle)
                handOver(&backlog, to: &desk)
                desk.isBacklogged = !backlog.isEmpty
                return (desk.lane.outstanding, desk.lane.isRecovering)
            }
            if let closing, (backlog.isEmpty && outstanding == 0) || closing <= .now {
                finish(by: closing)
                return
            }
            // Reports, records and the shutdown wake the thread; the timeout covers deadlines and recovery.
            let isIdle = outstanding == 0 && backlog.isEmpty && closing == nil
            waker.wait(atMost: isIdle ? 10_000 : isRecovering ? 20 : 100)
        }
    }

    private func handOver(_ backlog: inout [Mail], to desk: inout Desk) {
        var done = 0
        loop: for mail in backlog {
            // Cancelled before librdkafka had the record.
            guard state.withLock({ $0.waiting[mail.tag] != nil }) else {
                done += 1
                continue
            }
            do throws(KafkaError) {
                try desk.enqueue(mail.record, tag: mail.tag)
            } catch {
                // All records wait equally long, so none behind this one is due earlier.
                if error.code == .queueFull, mail.deadline > .now { break loop }
                fail(mail.tag, error)
            }
            done += 1
        }
        backlog.removeFirst(done)
    }

    private func settle(_ report: KafkaDeliveryReport) {
        if let error = report.error {
            fail(report.tag, error)
        } else {
            acknowledge(report.tag, report.partition, report.offset)
        }
    }

    private func finish(by deadline: ContinuousClock.Instant) {
        // Senders no longer enqueue: the shutdown has begun.
        desk.withLock { $0.lane.close(within: max(.zero, deadline - .now), settle) }
        let (waiting, whenClosed) = state.withLock { state in
            defer {
                state.mail = []
                state.whenClosed = []
                state.isClosed = true
            }
            return (Array(state.waiting.keys), state.whenClosed)
        }
        for tag in waiting { fail(tag, KafkaError.producerIsShutDown) }
        for done in whenClosed { done() }
    }
}

extension KafkaError {
    static let producerIsShutDown = KafkaError(
        code: .destroyed,
        reason: "the producer is shut down"
    )
}
