import Kafka

/// A call that a lane makes, for faults and the trace.
enum LinkCall: String, CaseIterable {
    case subscribe, poll, bounds, readState, enqueue, produce, serveReports, wait
    case commitOffsets, initTransactions, beginTransaction, sendOffsets, commitTransaction, abortTransaction, close
}

/// What goes wrong at a call.
enum LinkFault: Equatable {
    /// The process ends before the call has an effect.
    case crashBefore
    /// The process ends once the call had its effect.
    case crashAfter
    /// The effect is there, the answer is not.
    case loseReply
    /// Nothing was done, and this is the answer.
    case fail(KafkaError)
    /// It takes so many microseconds longer.
    case delay(Int64)
    /// The request arrives twice.
    case repeated
}

/// Which faults a link meets: by the number of the call, or by chance.
struct FaultPlan {
    /// Faults by the number of the call, from 1, whatever the rates say.
    var script: [Int: LinkFault] = [:]
    /// How often, in a thousand calls that talk to the broker.
    var rate = 0
    /// How many calls of all kinds until the process ends; nil for never.
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
