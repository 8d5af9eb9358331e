import Kafka

/// A call that a lane makes, for faults and the trace.
enum LinkCall: String, CaseIterable {
    case subscribe, poll, bounds, readState, enqueue, produce, serveReports, wait
    case commitOffsets, initTransactions, beginTransaction, sendOffsets, commitTransaction, abortTransaction, close
}

/// A fault of a call.
enum LinkFault: Equatable {
    /// The process ends before the call has an effect.
    case crashBefore
    /// The process ends after the call has had its effect.
    case crashAfter
    /// The call has its effect, but its answer is lost.
    case loseReply
    /// The call has no effect and returns this error.
    case fail(KafkaError)
    /// The call takes this many microseconds longer.
    case delay(Int64)
    /// The request arrives twice.
    case repeated
}

/// The faults of a link: at fixed calls, or at random.
struct FaultPlan {
    /// Faults by the number of the call, from 1; these do not depend on the rates.
    var script: [Int: LinkFault] = [:]
    /// The number of faults in a thousand calls to the broker.
    var rate = 0
    /// The number of calls of any kind until the process ends; nil for never.
    var callsToCrash: Int?
    private var random: SeededGenerator

    init(random: SeededGenerator) {
        self.random = random
    }

    /// No more faults.
    mutating func calm() {
        script = [:]
        rate = 0
        callsToCrash = nil
    }

    mutating func fault(at step: Int, _ call: LinkCall) -> LinkFault? {
        if let fault = script[step] { return fault }
        if let left = callsToCrash {
            callsToCrash = left - 1
            if left <= 1 { return random.chance(500) ? .crashBefore : .crashAfter }
        }
        guard rate > 0, random.chance(rate) else { return nil }
        return fault(of: call)
    }

    private mutating func fault(of call: LinkCall) -> LinkFault? {
        let transport: [LinkFault] = [
            .fail(.connectionBroke), .fail(.coordinatorLoading), .loseReply, .repeated,
            .delay(random.number(1_000...500_000)),
            .delay(random.number(1_000_000...15_000_000)),
        ]
        switch call {
        case .bounds, .readState:
            return random.pick([.fail(.connectionBroke), .delay(random.number(1_000...3_000_000))])
        case .commitOffsets:
            return random.pick(transport)
        case .initTransactions, .abortTransaction:
            return random.pick(transport + [.fail(.fatalOfClient)])
        case .sendOffsets, .commitTransaction:
            return random.pick(
                transport + [.fail(.fatalOfClient), .fail(.transactionMustAbort), .crashBefore, .crashAfter]
            )
        case .produce:
            return random.pick([
                .loseReply, .repeated, .delay(random.number(1_000...2_000_000)), .fail(.transactionMustAbort),
            ])
        case .subscribe, .poll, .enqueue, .serveReports, .wait, .beginTransaction, .close:
            return nil
        }
    }
}
