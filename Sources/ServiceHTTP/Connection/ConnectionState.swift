/// What a connection is doing: which request arrives, which are still to be answered, and whether it is about to end.
///
/// A value without I/O and without a clock; ``ConnectionGuard`` tells it what happened and does what it says.
struct ConnectionState {
    /// The part of a request that has begun to arrive and has not ended.
    enum Reading: Equatable {
        case nothing, head, body
    }

    /// What to do with something that arrived or is to be written.
    enum Passage: Equatable {
        case pass, drop
        /// Passed, as the head of the last answer of this connection.
        case passAsLast
    }

    /// What to do with a request that cannot be served.
    enum Refusal: Equatable {
        /// It is answered at once, and the connection ends.
        case answer
        /// It is answered when those before it are, or its answer is under way.
        case wait
    }

    /// What follows the end of an answer.
    enum AfterAnswer {
        case goOn, drop
        /// It was the last answer.
        case end
        /// The refusal that waited is the next answer, and the last.
        case refuse(Problem)
    }

    private(set) var reading = Reading.nothing
    /// Requests that were passed on and are not answered to their end.
    private(set) var unanswered = 0
    /// The last answer is under way or written; nothing that arrives is read any more.
    private(set) var isEnding = false
    /// What was thrown away of what arrived, in bytes.
    private(set) var discarded = 0
    private var isAnswering = false
    /// No request after the one that is being read, or was read last.
    private var isLast = false
    private var waiting: (problem: Problem, remaining: Int)?

    /// Nothing that arrives belongs to a request that will be served.
    private var isDeaf: Bool { isEnding || waiting != nil || (isLast && reading == .nothing) }

    /// Neither a request nor an answer is under way.
    var isIdle: Bool { reading == .nothing && unanswered == 0 && !isEnding }

    /// Only the client can go on: a request has begun to arrive, and those before it are answered.
    var isWaitingForClient: Bool {
        guard !isDeaf, !isAnswering else { return false }
        return switch reading {
        case .nothing: false
        case .head: unanswered == 0
        case .body: unanswered == 1
        }
    }

    /// Only we can go on: the request that is next to be answered is whole.
    var isWaitingForAnswer: Bool {
        !isEnding && !isAnswering && unanswered > (reading == .body ? 1 : 0)
    }

    // MARK: What arrives

    /// Bytes, before anything looks into them.
    mutating func bytesArrived(_ count: Int) -> Passage {
        guard !isDeaf else {
            discarded += count
            return .drop
        }
        if reading == .nothing { reading = .head }
        return .pass
    }

    /// A request's head is whole and within its bounds.
    ///
    /// - Parameter isLast: The client asked for the end of the connection, or for another protocol on it.
    mutating func headArrived(isLast: Bool) -> Passage {
        guard !isDeaf else { return .drop }
        reading = .body
        unanswered += 1
        if isLast { self.isLast = true }
        return .pass
    }

    func bodyArrived() -> Passage { isDeaf ? .drop : .pass }

    mutating func endArrived() -> Passage {
        guard !isDeaf else { return .drop }
        reading = .nothing
        return .pass
    }

    /// What arrived was no request but a greeting below HTTP.
    mutating func greetingArrived() {
        if reading == .head { reading = .nothing }
    }

    /// The request that is arriving cannot be served.
    mutating func refuse(_ problem: Problem) -> Refusal {
        guard !isEnding, waiting == nil else { return .wait }
        isLast = true
        // The request's head was passed on when its body is what is wrong.
        let own = reading == .body ? 1 : 0
        if unanswered > own {
            waiting = (problem, own)
            return .wait
        }
        guard !isAnswering else {
            reading = .nothing
            return .wait
        }
        isEnding = true
        return .answer
    }

    /// The answer that is due does not come.
    ///
    /// - Returns: Whether another one is to be written in its place, the last.
    mutating func giveUp() -> Bool {
        guard isWaitingForAnswer else { return false }
        isEnding = true
        return true
    }

    /// Requests that are under way are answered, and no other.
    mutating func stop() { isLast = true }

    // MARK: What is answered

    mutating func answerBegins(isInformational: Bool) -> Passage {
        guard !isEnding else { return .drop }
        if isInformational { return .pass }
        isAnswering = true
        // What is answered before it was whole leaves a rest that is no request.
        if unanswered == 1, reading == .body { isLast = true }
        return isLast && unanswered == 1 && waiting == nil ? .passAsLast : .pass
    }

    func answerGoesOn() -> Passage { isEnding ? .drop : .pass }

    mutating func answerEnds() -> AfterAnswer {
        guard !isEnding else { return .drop }
        isAnswering = false
        unanswered = max(0, unanswered - 1)
        if let waiting, unanswered <= waiting.remaining {
            isEnding = true
            return .refuse(waiting.problem)
        }
        guard isLast, unanswered == 0, reading != .head else { return .goOn }
        isEnding = true
        return .end
    }
}
