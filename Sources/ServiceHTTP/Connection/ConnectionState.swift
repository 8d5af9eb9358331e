/// The state of a connection: the arriving request, the unanswered requests, and whether it is closing.
///
/// A value without I/O and clock; ``ConnectionGuard`` reports events to it and executes its decisions.
struct ConnectionState {
    /// The part of a request that is arriving.
    enum Reading: Equatable {
        case nothing, head, body
    }

    /// How to handle an incoming or outgoing part.
    enum Passage: Equatable {
        case pass, drop
        /// Pass, as the head of the last response on this connection.
        case passAsLast
    }

    /// How to refuse a request that cannot be served.
    enum Refusal: Equatable {
        /// Answer now, and close the connection.
        case answer
        /// Answer after the earlier requests, or after the current response.
        case wait
    }

    /// The step after a complete response.
    enum AfterAnswer {
        case goOn, drop
        /// Close: it was the last response.
        case end
        /// The waiting refusal is the next and last response.
        case refuse(Problem)
    }

    private(set) var reading = Reading.nothing
    /// Requests that were passed on and not answered completely.
    private(set) var unanswered = 0
    /// The last response is being written or is complete; no more input is read.
    private(set) var isEnding = false
    /// Bytes of input that were discarded.
    private(set) var discarded = 0
    private var isAnswering = false
    /// No request follows the current or last one.
    private var isLast = false
    private var waiting: (problem: Problem, remaining: Int)?

    /// Whether incoming bytes belong to no request that will be served.
    private var isDeaf: Bool { isEnding || waiting != nil || (isLast && reading == .nothing) }

    /// Neither a request nor a response is in progress.
    var isIdle: Bool { reading == .nothing && unanswered == 0 && !isEnding }

    /// The server waits for the client: a request is arriving, and all earlier ones are answered.
    var isWaitingForClient: Bool {
        guard !isDeaf, !isAnswering else { return false }
        return switch reading {
        case .nothing: false
        case .head: unanswered == 0
        case .body: unanswered == 1
        }
    }

    /// The client waits for the server: the next request to answer is complete.
    var isWaitingForAnswer: Bool {
        !isEnding && !isAnswering && unanswered > (reading == .body ? 1 : 0)
    }

    // MARK: Input

    /// Bytes, before they are parsed.
    mutating func bytesArrived(_ count: Int) -> Passage {
        guard !isDeaf else {
            discarded += count
            return .drop
        }
        if reading == .nothing { reading = .head }
        return .pass
    }

    /// A request's head is complete and within its limits.
    ///
    /// - Parameter isLast: The client asked to close the connection, or for another protocol on it.
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

    /// The bytes were a handshake below HTTP, not a request.
    mutating func greetingArrived() {
        if reading == .head { reading = .nothing }
    }

    /// The arriving request cannot be served.
    mutating func refuse(_ problem: Problem) -> Refusal {
        guard !isEnding, waiting == nil else { return .wait }
        isLast = true
        // If the body is invalid, the request's head was passed on already.
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

    /// The next response is overdue.
    ///
    /// - Returns: Whether to write a last response in its place.
    mutating func giveUp() -> Bool {
        guard isWaitingForAnswer else { return false }
        isEnding = true
        return true
    }

    /// Answers the requests in progress, and accepts no more.
    mutating func stop() { isLast = true }

    // MARK: Output

    mutating func answerBegins(isInformational: Bool) -> Passage {
        guard !isEnding else { return .drop }
        if isInformational { return .pass }
        isAnswering = true
        // A response before the end of its request leaves a rest that is not a request.
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
