import Synchronization

/// Waits for work at most for a time, and not longer than its own task runs.
///
/// The work is a task of its own and not a child: a child that ignores its cancellation would keep its parent waiting
/// beyond the deadline. Its late result is ignored.
final class TimedWork<Value: Sendable>: Sendable {
    enum Ending: Sendable {
        case finished(Value)
        case timedOut
        /// The waiting task was cancelled.
        case cancelled
    }

    private enum State {
        case running
        case awaited(CheckedContinuation<Ending, Never>)
        case ended(Ending)
    }

    private let state = Mutex(State.running)

    private init() {}

    /// Runs the work, and cancels it when the waiting ends first.
    ///
    /// - Parameters:
    ///   - time: How long to wait.
    ///   - sleep: Returns when that time has passed, or when its task is cancelled.
    ///   - whenEnded: Runs before the work is cancelled: what came in time can be told from what cancellation brings
    ///     about.
    ///   - work: May go on for a while after its cancellation.
    static func run(
        within time: Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        whenEnded: () -> Void = {},
        _ work: @escaping @Sendable () async -> Value
    ) async -> Ending {
        let timed = TimedWork()
        let worker = Task { timed.end(.finished(await work())) }
        let timer = Task {
            // It is cancelled only after the end.
            try? await sleep(time)
            timed.end(.timedOut)
        }
        let ending = await withTaskCancellationHandler {
            await withCheckedContinuation { timed.await($0) }
        } onCancel: {
            timed.end(.cancelled)
        }
        whenEnded()
        worker.cancel()
        timer.cancel()
        return ending
    }

    /// The first ending counts.
    private func end(_ ending: Ending) {
        let waiting: CheckedContinuation<Ending, Never>? = state.withLock { state in
            switch state {
            case .running:
                state = .ended(ending)
                return nil
            case .awaited(let continuation):
                state = .ended(ending)
                return continuation
            case .ended:
                return nil
            }
        }
        waiting?.resume(returning: ending)
    }

    private func await(_ continuation: CheckedContinuation<Ending, Never>) {
        let ending: Ending? = state.withLock { state in
            if case .ended(let ending) = state { return ending }
            state = .awaited(continuation)
            return nil
        }
        if let ending { continuation.resume(returning: ending) }
    }
}
