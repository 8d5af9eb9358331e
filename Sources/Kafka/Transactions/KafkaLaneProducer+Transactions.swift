import Synchronization

/// Transactions, for a producer with a `transactionalID`.
///
///     try producer.initTransactions(within: .seconds(10))          // once
///     try producer.beginTransaction()
///     // enqueue, and serve reports until none is outstanding
///     try producer.sendOffsets(positions, of: consumer, within: .seconds(5))
///     try producer.commitTransaction(within: .seconds(5)) { note($0) }
///
/// Each call is one attempt and blocks the owner's thread; `KafkaTransactionPolicy.perform` repeats the retriable ones.
/// A time below half a second counts as half a second. Every call throws `.state` when it is out of order, `.destroyed`
/// after `close`, and the fatal error after one. `close` during a transaction leaves the transaction to the broker,
/// which aborts it at its timeout, or when the next producer with the id calls `initTransactions`.
extension KafkaLaneProducer {
    /// Registers the transactional id: fences an older producer with it, and waits until that producer's transaction is
    /// completed or aborted. Call it once, before anything else.
    ///
    /// - Throws: `KafkaError`; a retriable call may be repeated and resumes. `.invalidArgument` without a transactional
    ///   id.
    public func initTransactions(within time: Duration) throws(KafkaError) {
        try checkTransactional()
        try client.handle.initTransactions(within: time)
    }

    /// Begins a transaction. It sends no request: the transaction timeout starts with the first record.
    public func beginTransaction() throws(KafkaError) {
        try checkTransactional()
        try client.handle.beginTransaction()
        unconfirmed = nil
    }

    /// Adds the group's offsets to the transaction, as the group member that the consumer is. The coordinator refuses a
    /// member that has lost its place in the group: this fences it. Repeat only with identical arguments; a second call
    /// starts again and does not resume.
    ///
    /// - Parameters:
    ///   - offsets: for each partition the next offset to read; nothing happens if there are none.
    ///   - consumer: an open consumer with a group.
    ///   - time: librdkafka tries for this time, and then waits for the request in flight, which takes at most half the
    ///     transaction timeout.
    /// - Throws: `KafkaError`; `requiresAbort` when the member is fenced or not authorized.
    public func sendOffsets(
        _ offsets: [KafkaTopicPartition: Int64],
        of consumer: KafkaConsumer,
        within time: Duration
    ) throws(KafkaError) {
        try checkTransactional()
        let reader = try consumer.client()
        for place in offsets.keys { try KafkaError.checkName(place.topic) }
        guard !offsets.isEmpty else { return }
        try client.handle.sendOffsets(RDKafkaTopicPartitionList(offsets), of: reader, within: time)
    }

    /// Commits the transaction. Its records should be reported before; the call waits for the others, and commits
    /// nothing if they are not acknowledged in time.
    ///
    /// - Parameters:
    ///   - time: how long to wait for the reports and for the commit together.
    ///   - body: called for the reports that arrive meanwhile; it must not call this producer.
    /// - Throws: `KafkaError`; `requiresAbort` when a record was not written, or is `.unconfirmed`. After a retriable
    ///   error the commit may be in progress or done: only a repeated call, which resumes it, shows the outcome.
    public func commitTransaction(
        within time: Duration,
        _ body: (KafkaDeliveryReport) -> Void = { _ in }
    ) throws(KafkaError) {
        try checkTransactional()
        let deadline = ContinuousClock.now.advanced(by: time)
        // librdkafka would wait for reports that no thread serves.
        if outstanding > 0, !flush(within: time, body) {
            try checkTransactional()
            let reason = "commit a transaction: \(outstanding) records were not acknowledged in time"
            throw KafkaError(code: .timedOut, reason: reason, requiresAbort: true)
        }
        if var unconfirmed {
            unconfirmed.requiresAbort = true
            throw unconfirmed
        }
        try client.handle.commitTransaction(within: deadline - .now)
    }

    /// Aborts the transaction and purges the outstanding records: each of them is reported with `.purgedFromQueue`, or
    /// with its actual outcome if its request was in flight.
    ///
    /// - Parameters:
    ///   - time: how long to wait.
    ///   - body: called for these reports; it must not call this producer.
    /// - Throws: `KafkaError`; a retriable call may be repeated and resumes.
    public func abortTransaction(
        within time: Duration,
        _ body: (KafkaDeliveryReport) -> Void = { _ in }
    ) throws(KafkaError) {
        try checkTransactional()
        serve(within: .zero, body)
        guard outstanding > 0 else {
            try client.handle.abortTransaction(within: time)
            return
        }
        // librdkafka purges the records, and then waits inside the call until all of them are reported.
        let call = BlockingCall()
        let handle = client.handle
        KafkaThread.start(name: "kafka-abort") {
            call.finish { () throws(KafkaError) in
                try handle.use { () throws(KafkaError) in try handle.abortTransaction(within: time) }
            }
        }
        while true {
            let result = call.result
            // Also after the call has returned: earlier reports are in the queue by now.
            serve(within: result == nil ? .milliseconds(5) : .zero, body)
            if let result { return try result.get() }
        }
    }

    private func checkTransactional() throws(KafkaError) {
        try checkUsable()
        guard isTransactional else {
            let reason = "transactions need a transactionalID in the producer's configuration"
            throw KafkaError(code: .invalidArgument, reason: reason)
        }
        // The event may not have arrived yet.
        if let fatal = client.fatalError { throw fatal }
    }
}

/// A call that runs on another thread.
private final class BlockingCall: Sendable {
    private let state = Mutex<Result<Void, KafkaError>?>(nil)

    var result: Result<Void, KafkaError>? { state.withLock { $0 } }

    func finish(_ body: () throws(KafkaError) -> Void) {
        let result: Result<Void, KafkaError>
        do throws(KafkaError) {
            result = .success(try body())
        } catch {
            result = .failure(error)
        }
        state.withLock { $0 = result }
    }
}
