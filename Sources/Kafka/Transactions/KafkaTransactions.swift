/// The transactions of one producer: one after the other, each begun by its first record, or by offsets alone.
///
/// Any doubt before the commit call is answered by an abort. After a commit with unknown outcome, or any other failure that only
/// another producer can follow, nothing more is called: the next producer with the same transactional id resolves it.
package final class KafkaTransactions<Calls: KafkaTransactionCalls> {
    private let calls: Calls
    /// Whether a transaction is open that this producer can end.
    package private(set) var isOpen = false
    /// When the last transaction began.
    private var began: ContinuousClock.Instant

    /// When the open transaction began; nil when none is open.
    package var openSince: ContinuousClock.Instant? { isOpen ? began : nil }

    package init(_ calls: Calls) {
        self.calls = calls
        began = calls.now
    }

    /// Takes over the transactional id, which ends what a predecessor left open.
    package func initialize(within time: Duration) throws(KafkaTransactionFailure) {
        try perform(.initialize, until: calls.now.advanced(by: time)) { left throws(KafkaError) in
            try calls.initTransactions(within: left)
        }
    }

    /// Call it before each record: without work no transaction is open, and none holds readers back.
    @inlinable
    package func beginIfNeeded() throws(KafkaError) {
        if !isOpen { try begin() }
    }

    @usableFromInline
    package func begin() throws(KafkaError) {
        try calls.beginTransaction()
        (isOpen, began) = (true, calls.now)
    }

    /// Takes offsets into the transaction. All its records must be acknowledged.
    ///
    /// - Parameter offsets: Of every partition that the transaction was written for, changed or not: the group refuses them if a
    ///   partition was given to another member, which fences this one.
    package func sendOffsets(
        _ offsets: Calls.Offsets,
        until deadline: ContinuousClock.Instant
    ) throws(KafkaTransactionFailure) {
        if !isOpen { try perform(.begin, until: deadline) { _ throws(KafkaError) in try begin() } }
        try perform(.sendOffsets, until: deadline) { left throws(KafkaError) in
            try calls.sendOffsets(offsets, within: left)
        }
    }

    /// - Throws: `KafkaTransactionFailure`. If the decision is to abort, the caller does it.
    package func commit(until deadline: ContinuousClock.Instant) throws(KafkaTransactionFailure) {
        try perform(.commit, until: deadline) { left throws(KafkaError) in
            try calls.commitTransaction(within: left)
        }
        isOpen = false
    }

    /// Aborts the open transaction, if there is one. When that fails the broker does it, at the transaction's timeout or when the
    /// id is taken over.
    ///
    /// - Throws: `KafkaTransactionFailure`: this producer is not usable any more.
    package func abort(until deadline: ContinuousClock.Instant) throws(KafkaTransactionFailure) {
        guard isOpen else { return }
        isOpen = false
        try perform(.abort, until: deadline) { left throws(KafkaError) in
            try calls.abortTransaction(within: left)
        }
    }

    /// One call, repeated as librdkafka's rules allow. After what it throws the call must not be repeated.
    private func perform(
        _ call: KafkaTransactionCall,
        until deadline: ContinuousClock.Instant,
        _ attempt: (Duration) throws(KafkaError) -> Void
    ) throws(KafkaTransactionFailure) {
        do throws(KafkaTransactionFailure) {
            try KafkaTransactionPolicy.perform(
                call,
                until: deadline,
                now: { calls.now },
                pause: { calls.wait($0) },
                attempt: attempt
            )
        } catch {
            // This producer cannot abort it.
            if error.decision == .recreate { isOpen = false }
            throw error
        }
    }
}
