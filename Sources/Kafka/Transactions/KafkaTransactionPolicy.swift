/// What a transaction's owner does: the calls of `KafkaLaneProducer`, and publishing.
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

/// A call of a transaction that did not succeed, and what is left to do.
public struct KafkaTransactionFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What the last attempt threw.
    public var error: KafkaError
    /// Where.
    public var call: KafkaTransactionCall
    /// `.abort` or `.recreate`.
    public var decision: KafkaTransactionPolicy.Decision

    /// A failure that leaves a decision to follow.
    public init(error: KafkaError, call: KafkaTransactionCall, decision: KafkaTransactionPolicy.Decision) {
        self.error = error
        self.call = call
        self.decision = decision
    }

    /// The error, and what follows from it.
    public var description: String {
        switch decision {
        case .recreate where call == .commit && !error.isFatal: "\(error); whether it was committed is not known"
        case .recreate: "\(error); the producer has to be made anew"
        case .abort, .repeatCall: "\(error); the transaction has to be aborted"
        }
    }
}

/// What follows from an error in a transaction: librdkafka's rules as values.
///
/// | error | decision |
/// |---|---|
/// | fatal | recreate: fenced, or out of step with the broker |
/// | requires abort | abort; when it is the abort itself that fails so, recreate |
/// | retriable | the same call with identical arguments: it resumes what is under way, `sendOffsets` begins anew |
/// | in `publish`, whatever may be repeated elsewhere | abort; only a full queue is tried again |
/// | any other | abort while records may still be given up: in `publish` and `sendOffsets`; else recreate |
///
/// Time that runs out while a call is repeated is an error of the last kind. For a commit it means that its outcome is
/// unknown: whoever holds the results in memory drops them and reads what is on Kafka.
public enum KafkaTransactionPolicy {
    /// What to do next.
    public enum Decision: Sendable, Hashable {
        /// The same call again, with identical arguments.
        case repeatCall
        /// Abort the transaction; the producer goes on.
        case abort
        /// Close the producer and make another one, without abort: its `initTransactions` ends what was left.
        case recreate
    }

    /// The first pause before a call is repeated; it doubles up to `longestPause`.
    public static let firstPause = Duration.milliseconds(20)
    /// The longest pause before a call is repeated.
    public static let longestPause = Duration.seconds(1)

    /// What follows from an error that a call threw, or that a record was reported with.
    public static func decision(after error: KafkaError, in call: KafkaTransactionCall) -> Decision {
        if error.isFatal { return .recreate }
        if error.requiresAbort { return call == .abort || call == .initialize ? .recreate : .abort }
        if call == .publish {
            // librdkafka repeats what can be repeated by itself: a record that failed is lost, and with it the transaction.
            return error.code == .queueFull ? .repeatCall : .abort
        }
        return error.isRetriable ? .repeatCall : lastDecision(in: call)
    }

    /// What follows when a call may not be repeated any more.
    public static func lastDecision(in call: KafkaTransactionCall) -> Decision {
        switch call {
        case .publish, .sendOffsets: .abort
        case .initialize, .begin, .commit, .abort: .recreate
        }
    }

    /// Makes a call, and again after each retriable error, until it succeeds or time has run out.
    ///
    /// - Parameters:
    ///   - deadline: no attempt begins after it but the first.
    ///   - now: the clock.
    ///   - pause: waits; while it does, reports may be served.
    ///   - attempt: the call, with the time that is left for it. It gets the same arguments each time.
    /// - Throws: `KafkaTransactionFailure`, never to be answered by repeating the call.
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
