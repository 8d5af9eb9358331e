/// The operations of a transaction's owner: the calls of `KafkaLaneProducer`, and publishing.
public enum KafkaTransactionCall: String, Sendable, Hashable, CaseIterable {
    /// `initTransactions`.
    case initialize
    /// `beginTransaction`.
    case begin
    /// `enqueue`, or the report of a record.
    case publish
    /// `sendOffsets`.
    case sendOffsets
    /// `commitTransaction`.
    case commit
    /// `abortTransaction`.
    case abort
}

/// A failed transactional call, and the decision that follows.
public struct KafkaTransactionFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error of the last attempt.
    public var error: KafkaError
    /// The failed operation.
    public var call: KafkaTransactionCall
    /// `.abort` or `.recreate`.
    public var decision: KafkaTransactionPolicy.Decision

    /// A failure with its decision.
    public init(error: KafkaError, call: KafkaTransactionCall, decision: KafkaTransactionPolicy.Decision) {
        self.error = error
        self.call = call
        self.decision = decision
    }

    /// The error and its consequence.
    public var description: String {
        switch decision {
        case .recreate where call == .commit && !error.isFatal: "\(error); the outcome of the commit is unknown"
        case .recreate: "\(error); the producer must be replaced"
        case .abort, .repeatCall: "\(error); the transaction must be aborted"
        }
    }
}

/// The decision after an error in a transaction: librdkafka's rules as values.
///
/// | error | decision |
/// |---|---|
/// | fatal | recreate: fenced, or out of sync with the broker |
/// | requires abort | abort; recreate if the abort itself failed so |
/// | retriable | repeat the call with identical arguments: it resumes, except for `sendOffsets`, which starts again |
/// | any error in `publish`, even if retriable elsewhere | abort; only after a full queue try again |
/// | any other | abort while records can still be purged: in `publish` and `sendOffsets`; else recreate |
///
/// A timeout of a repeated call is an error of the last kind. After a commit it means that the outcome is unknown: drop
/// the results in memory and read them from Kafka.
public enum KafkaTransactionPolicy {
    /// The next step.
    public enum Decision: Sendable, Hashable {
        /// The same call again, with identical arguments.
        case repeatCall
        /// Abort the transaction; the producer remains usable.
        case abort
        /// Close the producer and create another one, without abort: its `initTransactions` ends the open transaction.
        case recreate
    }

    /// The first pause before a call is repeated; it doubles up to `longestPause`.
    public static let firstPause = Duration.milliseconds(20)
    /// The longest pause before a call is repeated.
    public static let longestPause = Duration.seconds(1)

    /// The decision after an error of a call or of a record's report.
    public static func decision(after error: KafkaError, in call: KafkaTransactionCall) -> Decision {
        if error.isFatal { return .recreate }
        if error.requiresAbort { return call == .abort || call == .initialize ? .recreate : .abort }
        if call == .publish {
            // librdkafka retries by itself: a failed record is lost, and with it the transaction.
            return error.code == .queueFull ? .repeatCall : .abort
        }
        return error.isRetriable ? .repeatCall : lastDecision(in: call)
    }

    /// The decision when a call may not be repeated any more.
    public static func lastDecision(in call: KafkaTransactionCall) -> Decision {
        switch call {
        case .publish, .sendOffsets: .abort
        case .initialize, .begin, .commit, .abort: .recreate
        }
    }

    /// Repeats a call after each retriable error, until it succeeds or time has run out.
    ///
    /// - Parameters:
    ///   - call: decides what may be repeated.
    ///   - deadline: only the first attempt may begin after it.
    ///   - now: the clock.
    ///   - pause: waits; it may serve reports meanwhile.
    ///   - attempt: the call, with its remaining time. Each attempt gets the same arguments.
    /// - Throws: `KafkaTransactionFailure`; do not repeat the call after it.
    public static func perform<Instant: InstantProtocol<Duration>>(
        _ call: KafkaTransactionCall,
        until deadline: Instant,
        now: () -> Instant,
        pause: (Duration) -> Void,
        attempt: (_ left: Duration) throws(KafkaError) -> Void
    ) throws(KafkaTransactionFailure) {
        var wait = firstPause
        while true {
            let failure: KafkaError
            do throws(KafkaError) {
                return try attempt(max(.zero, now().duration(to: deadline)))
            } catch {
                failure = error
            }
            let decision = decision(after: failure, in: call)
            guard decision == .repeatCall else {
                throw KafkaTransactionFailure(error: failure, call: call, decision: decision)
            }
            let left = now().duration(to: deadline)
            guard left > .zero else {
                throw KafkaTransactionFailure(error: failure, call: call, decision: lastDecision(in: call))
            }
            pause(min(wait, left))
            wait = min(wait * 2, longestPause)
            guard now() < deadline else {
                throw KafkaTransactionFailure(error: failure, call: call, decision: lastDecision(in: call))
            }
        }
    }
}
