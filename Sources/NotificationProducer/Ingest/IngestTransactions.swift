import Kafka

/// The transactions of one session: one after the other, each begun by its first record, or by offsets alone.
///
/// A transaction holds the records of whole events and the offsets behind them. It is committed only when every record is
/// acknowledged; whenever that is in doubt before the commit was called, it is aborted, and once the outcome of a commit is
/// unknown nothing is called any more: the next session's producer of the same transactional id finds out.
final class IngestTransactions {
    /// The longest that one may stay open before its commit: well within its timeout, after which the broker aborts it.
    static let longestInterval = Duration.seconds(2)

    private let lane: KafkaLaneProducer
    private let consumer: KafkaConsumer
    private let clock = ContinuousClock()

    /// There is one to commit or abort.
    private(set) var isOpen = false
    /// Records in it.
    private(set) var records = 0

    init(_ lane: KafkaLaneProducer, _ consumer: KafkaConsumer) {
        self.lane = lane
        self.consumer = consumer
    }

    /// Before each record; does nothing while one is open.
    func beginIfNeeded() throws(KafkaError) {
        guard !isOpen else { return }
        try lane.beginTransaction()
        isOpen = true
    }

    func noteRecord() { records += 1 }

    /// Commits the records and the offsets as one. Every record is acknowledged before.
    ///
    /// - Parameters:
    ///   - offsets: of every partition that was read, changed or not: a group that gave a partition to another member refuses
    ///     them, and that is the fence.
    ///   - deadline: for all of it; a commit that is given up leaves its outcome open.
    /// - Throws: `KafkaTransactionFailure`. Where the decision is to abort, that is left to the caller.
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

    /// Gives up what is open, if anything is.
    ///
    /// - Throws: `KafkaTransactionFailure`: this producer is of no use any more.
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
            // Nothing to abort that this producer could.
            if error.decision == .recreate { isOpen = false }
            throw error
        }
    }
}
