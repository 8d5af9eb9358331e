import Dispatch
public import Logging
import Synchronization

/// A producer for any number of tasks: `send` returns when the record is acknowledged.
///
/// It owns a thread that hands records to librdkafka and serves its reports. A full queue suspends the sender, with a
/// deadline. A fatal error makes the client anew and publishes again what was not acknowledged.
public final class KafkaProducer: Sendable {
    private typealias Continuation = CheckedContinuation<KafkaAcknowledgement, any Error>

    private struct Mail: Sendable {
        var record: KafkaProducerRecord
        var tag: UInt
        var deadline: ContinuousClock.Instant
    }

    private struct State {
        var mail: [Mail] = []
        var waiting: [UInt: (topic: String, continuation: Continuation)] = [:]
        var nextTag: UInt = 1
        var closing: ContinuousClock.Instant?
        var isClosed = false
        var closeWaiters: [CheckedContinuation<Void, Never>] = []
        /// Of the client now; another one after a fatal error.
        var handle: RDKafkaHandle
    }

    private let configuration: KafkaProducerConfiguration
    private let logger: Logger
    private let state: Mutex<State>
    private let partitionCounts = Mutex<[String: Int32]>([:])
    /// Signalled for each thing the thread should look at.
    private let work = DispatchSemaphore(value: 0)

    /// Starts the producer's thread. It does not connect.
    ///
    /// - Throws: `KafkaError` that names a property librdkafka does not take.
    public init(configuration: KafkaProducerConfiguration, logger: Logger) throws {
        self.configuration = configuration
        self.logger = logger
        // Made here so that a wrong property is known at once; only the thread uses it from then on.
        nonisolated(unsafe) let lane = try KafkaLaneProducer(configuration: configuration, logger: logger)
        state = Mutex(State(handle: lane.handle))
        KafkaThread.start(name: "kafka-producer") { [self] in serve(lane) }
    }

    /// Publishes a record and waits for its acknowledgement. Cancelling ends the wait, not the record.
    ///
    /// - Throws: `KafkaError`: `.queueFull` when there was no room in time, `.messageTimedOut` when no acknowledgement came in
    ///   time, `.destroyed` after the shutdown, others as the broker says; `CancellationError`.
    public func send(_ record: KafkaProducerRecord) async throws -> KafkaAcknowledgement {
        let tag = state.withLock { state in
            defer { state.nextTag += 1 }
            return state.nextTag
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isTaken = state.withLock { state in
                    guard !Task.isCancelled, state.closing == nil else { return false }
                    // The slot is there before the record is: its report may come first.
                    state.waiting[tag] = (record.topic, continuation)
                    let deadline = ContinuousClock.now.advanced(by: configuration.queueFullTimeout)
                    state.mail.append(Mail(record: record, tag: tag, deadline: deadline))
                    return true
                }
                if isTaken {
                    work.signal()
                } else {
                    continuation.resume(throwing: Task.isCancelled ? CancellationError() : Self.closed)
                }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: tag) }?.continuation.resume(throwing: CancellationError())
        }
    }

    private static var closed: any Error {
        KafkaError(code: .destroyed, reason: "the producer is shut down; nothing more can be published")
    }

    /// How many partitions a topic has; asked once and remembered.
    ///
    /// - Throws: `KafkaError`, retriable while no broker answers.
    public func partitionCount(of topic: String) async throws -> Int32 {
        if let known = partitionCounts.withLock({ $0[topic] }) { return known }
        let handle = state.withLock { $0.handle }
        let count = try await KafkaThread.run(name: "kafka-metadata") {
            try handle.use { () throws(KafkaError) in try handle.partitionCount(of: topic, within: .seconds(5)) }
        }
        partitionCounts.withLock { $0[topic] = count }
        return count
    }

    /// Takes nothing more, waits for what is under way, and frees the client; what is then unacknowledged fails.
    public func shutDown(within time: Duration) async {
        await withCheckedContinuation { continuation in
            let isClosed = state.withLock { state in
                if !state.isClosed {
                    state.closing = state.closing ?? .now.advanced(by: time)
                    state.closeWaiters.append(continuation)
                }
                return state.isClosed
            }
            if isClosed { continuation.resume() } else { work.signal() }
        }
    }

    // MARK: - The thread

    private func serve(_ lane: KafkaLaneProducer) {
        var backlog: [Mail] = []
        var headers = KafkaHeaderBuffer()
        while true {
            let (mail, closing) = state.withLock { state in
                defer { state.mail.removeAll(keepingCapacity: true) }
                if state.handle !== lane.handle { state.handle = lane.handle }
                return (state.mail, state.closing)
            }
            backlog.append(contentsOf: mail)
            handOver(&backlog, to: lane, &headers)
            if let closing, (backlog.isEmpty && lane.outstanding == 0) || closing <= .now {
                finish(lane, by: closing)
                return
            }
            // Reports are awaited in short turns, so that a new record waits no longer than that; idle, for a record.
            let isIdle = lane.outstanding == 0 && backlog.isEmpty && closing == nil
            if isIdle { _ = work.wait(timeout: .now() + .seconds(1)) }
            lane.serveReports(within: isIdle ? .zero : .milliseconds(2), settle)
        }
    }

    private func handOver(_ backlog: inout [Mail], to lane: KafkaLaneProducer, _ headers: inout KafkaHeaderBuffer) {
        var done = 0
        for mail in backlog {
            headers.removeAll()
            for header in mail.record.headers { headers.append(KafkaHeaderName(header.name), header.value) }
            do throws(KafkaError) {
                try lane.enqueue(
                    topic: lane.topic(mail.record.topic),
                    partition: mail.record.partition ?? -1,
                    key: mail.record.key,
                    value: mail.record.value,
                    headers: headers,
                    timestamp: mail.record.timestamp,
                    tag: mail.tag
                )
            } catch where error.code == .queueFull && mail.deadline > .now {
                break
            } catch {
                resume(mail.tag) { $0.resume(throwing: error) }
            }
            done += 1
        }
        backlog.removeFirst(done)
    }

    private func settle(_ report: KafkaDeliveryReport) {
        resume(report.tag, topic: { topic, continuation in
            if let error = report.error {
                continuation.resume(throwing: error)
            } else {
                continuation.resume(
                    returning: KafkaAcknowledgement(topic: topic, partition: report.partition, offset: report.offset)
                )
            }
        })
    }

    private func resume(_ tag: UInt, _ body: (Continuation) -> Void) {
        resume(tag, topic: { body($1) })
    }

    private func resume(_ tag: UInt, topic body: (String, Continuation) -> Void) {
        guard let found = state.withLock({ $0.waiting.removeValue(forKey: tag) }) else { return }
        body(found.topic, found.continuation)
    }

    private func finish(_ lane: KafkaLaneProducer, by deadline: ContinuousClock.Instant) {
        lane.close(within: max(.zero, deadline - .now), settle)
        let (waiting, closers) = state.withLock { state in
            defer {
                state.waiting = [:]
                state.closeWaiters = []
                state.isClosed = true
            }
            return (state.waiting, state.closeWaiters)
        }
        for (_, waiter) in waiting { waiter.continuation.resume(throwing: Self.closed) }
        for closer in closers { closer.resume() }
    }
}
