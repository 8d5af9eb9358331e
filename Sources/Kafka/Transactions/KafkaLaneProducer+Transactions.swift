import Synchronization

/// Transactions, for a producer with a `transactionalID`.
///
///     try producer.initTransactions(within: .seconds(10))          // once
///     try producer.beginTransaction()
///     // enqueue, and serve reports until none is outstanding
///     try producer.sendOffsets(positions, of: consumer, within: .seconds(5))
///     try producer.commitTransaction(within: .seconds(5)) { note($0) }
///
/// Each call is one attempt and blocks the owner's thread; `KafkaTransactionPolicy.perform` repeats those that may be. A time
/// below half a second counts as half a second. All of them throw `.state` when it is not their turn, `.destroyed` after
/// `close`, and the fatal error after one. `close` in the middle of a transaction leaves it to the broker, which aborts it when
/// it times out, or when the next producer of that id calls `initTransactions`.
extension KafkaLaneProducer {
    /// Takes the transactional id over: fences an older producer of it, and waits until what that one left is completed or
    /// aborted. Once, before anything else.
    ///
    /// - Throws: `KafkaError`; a retriable one may be repeated, which resumes the call. `.invalidArgument` without a
    ///   transactional id.
    public func initTransactions(within time: Duration) throws(KafkaError) {
        try checkTransactional()
        try client.handle.initTransactions(within: time)
    }

    /// Begins a transaction. It asks no broker: the transaction's time begins with its first record.
    public func beginTransaction() throws(KafkaError) {
        try checkTransactional()
        try client.handle.beginTransaction()
        unconfirmed = nil
    }

    /// Makes the group's offsets part of the transaction, for the group's member that the consumer is: a member that has lost
    /// its place is refused, and that is the fence. Repeated with identical arguments or not at all; a second call begins
    /// anew and does not resume.
    ///
    /// - Parameters:
    ///   - offsets: of each partition the next one to read; with none nothing happens.
    ///   - consumer: one with a group, open.
    ///   - time: librdkafka tries for so long, and then waits for the request that is under way, which takes at most
    ///     half the transaction's timeout.
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

    /// Commits the transaction. Its records should be reported before; those that are not are waited for, and when they are
    /// not acknowledged in time nothing is committed.
    ///
    /// - Parameter body: called for the reports that come meanwhile; it may not call this producer.
    /// - Throws: `KafkaError`; `requiresAbort` when a record was not written, or is `.unconfirmed`. After a retriable one the commit may be under way
    ///   or done: only repeating the call, which resumes it, tells.
    public func commitTransaction(
        within time: Duration,
        _ body: (KafkaDeliveryReport) -> Void = { _ in }
    ) throws(KafkaError) {
        try checkTransactional()
        let deadline = ContinuousClock.now.advanced(by: time)
        // librdkafka would wait for reports that nobody serves.
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

    /// Aborts the transaction, and gives up what is outstanding: each such record is reported with `.purgedFromQueue`,
    /// or as what became of it when it was under way.
    ///
    /// - Parameter body: called for those reports; it may not call this producer.
    /// - Throws: `KafkaError`; a retriable one may be repeated, which resumes the call.
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
            // After the end too: what was reported before it is in the queue by now.
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
        // Its event may still be on its way.
        if let fatal = client.fatalError { throw fatal }
    }
}

/// A call that another thread makes.
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
