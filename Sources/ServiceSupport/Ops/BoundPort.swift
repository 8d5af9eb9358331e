import Synchronization

/// The port of a server, for callers that must wait for it: a test or a launcher that asked for port 0.
public final class BoundPort: Sendable {
    private enum State {
        case waiting([Int: CheckedContinuation<Int, any Error>], next: Int)
        case done(Result<Int, any Error>)
    }

    private let state = Mutex(State.waiting([:], next: 0))

    /// Not bound yet.
    public init() {}

    /// Waits until the server listens.
    ///
    /// - Returns: The port.
    /// - Throws: The error that kept the server from listening, or `CancellationError`.
    public func wait() async throws -> Int {
        let ticket = state.withLock { state -> Int in
            guard case .waiting(let waiters, let next) = state else { return -1 }
            state = .waiting(waiters, next: next + 1)
            return next
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLock { state -> Result<Int, any Error>? in
                    switch state {
                    case .done(let result): return result
                    case .waiting(var waiters, let next):
                        // The cancellation handler below may have run before there was a continuation to resume.
                        if Task.isCancelled { return .failure(CancellationError()) }
                        waiters[ticket] = continuation
                        state = .waiting(waiters, next: next)
                        return nil
                    }
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> CheckedContinuation<Int, any Error>? in
                guard case .waiting(var waiters, let next) = state else { return nil }
                let waiter = waiters.removeValue(forKey: ticket)
                state = .waiting(waiters, next: next)
                return waiter
            }
            waiter?.resume(throwing: CancellationError())
        }
    }

    /// Resumes the waiting callers. Only the first call counts.
    ///
    /// - Parameter result: The port, or the error that kept the server from listening.
    public func resolve(_ result: Result<Int, any Error>) {
        let waiters = state.withLock { state -> [CheckedContinuation<Int, any Error>] in
            guard case .waiting(let waiters, _) = state else { return [] }
            state = .done(result)
            return Array(waiters.values)
        }
        for waiter in waiters {
            waiter.resume(with: result)
        }
    }
}
