import Synchronization

/// Ends the wait of calls that the broker does not answer in time. All wait equally long, and one task looks after them, so that
/// a call costs no timer.
final class CallDeadlines: Sendable {
    private struct Waiting {
        var since: ContinuousClock.Instant
        var task: Task<Void, Never>?
        var fail: @Sendable (any Error) -> Void
    }

    private struct State {
        var nextTicket: UInt64 = 0
        /// The oldest that may still wait.
        var oldest: UInt64 = 0
        var waiting: [UInt64: Waiting] = [:]
    }

    private let deadline: Duration
    private let state = Mutex(State())

    /// - Parameter deadline: How long a call may wait; it may become a tenth more, at most 250 ms.
    init(_ deadline: Duration) {
        self.deadline = deadline
    }

    /// Does something for at most the deadline. What takes longer is cancelled and not waited for.
    ///
    /// - Throws: `CancellationError` at the deadline, or when the caller is cancelled; what the body throws.
    func bound<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        let ticket = state.withLock { state in
            defer { state.nextTicket += 1 }
            return state.nextTicket
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock {
                    $0.waiting[ticket] = Waiting(since: .now) { continuation.resume(throwing: $0) }
                }
                // The handler below may have run before there was anything to end.
                if Task.isCancelled { return end(ticket) }
                let task = Task {
                    do {
                        let result = try await body()
                        if take(ticket) != nil { continuation.resume(returning: result) }
                    } catch {
                        take(ticket)?.fail(error)
                    }
                }
                state.withLock { $0.waiting[ticket]?.task = task }
            }
        } onCancel: {
            end(ticket)
        }
    }

    /// Looks after the calls until it is cancelled.
    func run() async {
        let interval = min(deadline / 10, .milliseconds(250))
        while (try? await Task.sleep(for: interval)) != nil {
            for ticket in due(at: .now) { end(ticket) }
        }
    }

    private func take(_ ticket: UInt64) -> Waiting? {
        state.withLock { $0.waiting.removeValue(forKey: ticket) }
    }

    private func end(_ ticket: UInt64) {
        guard let waiting = take(ticket) else { return }
        waiting.task?.cancel()
        waiting.fail(CancellationError())
    }

    /// Tickets are in the order of beginning, which is that of the deadlines: each is looked at once.
    private func due(at now: ContinuousClock.Instant) -> Range<UInt64> {
        state.withLock { state in
            let first = state.oldest
            while state.oldest < state.nextTicket {
                if let call = state.waiting[state.oldest], call.since + deadline > now { break }
                state.oldest += 1
            }
            return first..<state.oldest
        }
    }
}
