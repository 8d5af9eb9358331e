/// What follows the end of a worker: the decision alone, without the thread that carries it out, so that a simulation takes the
/// same one.
package struct Succession {
    /// What comes next.
    package enum Next {
        /// Another worker after the pause; the reason is for an operator.
        case restart(after: Duration, because: any Error)
        /// No other worker: the error is one of the configuration, or going on would lose something.
        case nothing
    }

    private var pause: RestartPause
    /// Why a worker before ended, while another process may have the instance's id.
    package private(set) var fenced: InstanceFencedError?

    package init(firstPause: Duration = .seconds(1)) { pause = RestartPause(first: firstPause) }

    /// The worker did what it is for.
    package mutating func noteWork() {
        pause.noteWork()
        fenced = nil
    }

    /// The worker threw.
    ///
    /// - Parameters:
    ///   - time: For how long it ran.
    ///   - isFinal: Whether no other worker may follow.
    ///   - fencing: What the error says of another process with the same identity; nil when nothing.
    package mutating func next(
        after error: any Error,
        ran time: Duration,
        isFinal: Bool,
        fencing: InstanceFencedError?
    ) -> Next {
        guard !isFinal else { return .nothing }
        fenced = fencing ?? fenced
        return .restart(after: pause.noteFailure(after: time), because: fenced ?? error)
    }
}
