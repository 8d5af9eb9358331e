import Kafka

/// The transactions of one session: one after the other, each begun by its first record, or by offsets alone.
///
/// A transaction contains the records of whole events and their offsets. It is committed only when every record is
/// acknowledged. Any doubt before the commit call aborts it. After a commit with unknown outcome nothing more is
/// called: the next session's producer with the same transactional id resolves it.
final class IngestTransactions {
    /// The longest time before a commit: well below the transaction timeout, after which the broker aborts.
    static let longestInterval = Duration.seconds(2)

    private let lane: KafkaLaneProducer
    private let consumer: KafkaConsumer
    private let clock = ContinuousClock()

    /// Whether a transaction is open.
    private(set) var isOpen = false
    /// Number of its records.
    private(set) var records = 0

    init(_ lane: KafkaLaneProducer, _ consumer: KafkaConsumer) {
        self.lane = lane
        self.consumer = consumer
    }

    /// Call before each record; does nothing while a transaction is open.
    func beginIfNeeded() throws(KafkaError) {
        guard !isOpen else { return }
        try lane.beginTransaction()
        isOpen = true
    }

    func noteRecord() { records += 1 }

    /// Commits the records and the offsets atomically. All records must be acknowledged.
    ///
    /// - Parameters:
    ///   - offsets: of every partition with events read, changed or not: the group refuses them if a partition was
    ///     given to another member, which fences this one.
    ///   - deadline: for the whole call; a commit that times out has an unknown outcome.
    /// - Throws: `KafkaTransactionFailure`. If the decision is to abort, the caller does it.
    func commit(
        _ offsets: [KafkaTopicPartition: Int64],
        until deadline: ContinuousClock.Instant,
        _ report: (KafkaDeliveryReport) -> Void
    ) throws(KafkaTransactionFailure) {
        try perform(.begin, deadline, report) { _ throws(KafkaError) in try beginIfNeeded() }
        try perform(.sendOffsets, deadline, report) { left throws(KafkaError) in
            try lane.sendOffsets(offsets, of: consumer, within: left)
        }
        try perform(.commit, deadline, report) { left throws(KafkaError) in
            try lane.commitTransaction(within: left, report)
        }
        (isOpen, records) = (false, 0)
    }

    /// Aborts the open transaction, if there is one.
    ///
    /// - Throws: `KafkaTransactionFailure`: this producer is not usable any more.
    func abort(
        until deadline: ContinuousClock.Instant,
        _ report: (KafkaDeliveryReport) -> Void
    ) throws(KafkaTransactionFailure) {
        guard isOpen else { return }
        (isOpen, records) = (false, 0)
        try perform(.abort, deadline, report) { left throws(KafkaError) in
            try lane.abortTransaction(within: left, report)
        }
    }

    private func perform(
        _ call: KafkaTransactionCall,
        _ deadline: ContinuousClock.Instant,
        _ report: (KafkaDeliveryReport) -> Void,
        _ attempt: (Duration) throws(KafkaError) -> Void
    ) throws(KafkaTransactionFailure) {
        do throws(KafkaTransactionFailure) {
            try KafkaTransactionPolicy.perform(
                call,
                until: deadline,
                now: { clock.now },
                pause: { lane.serveReports(within: $0, report) },
                attempt: attempt
            )
        } catch {
            // This producer cannot abort it.
            if error.decision == .recreate { isOpen = false }
            throw error
        }
    }
}
