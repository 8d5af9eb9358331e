import Dispatch
import Synchronization

/// Asynchronous work of a benchmark, whose own thread may block.
final class BackgroundWork<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let isDone = DispatchSemaphore(value: 0)

    /// Begins it.
    init(_ body: @escaping @Sendable () async throws -> Value) {
        Task.detached { [self] in
            let outcome: Result<Value, any Error>
            do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
            result.withLock { $0 = outcome }
            isDone.signal()
        }
    }

    /// Nil while it is under way.
    var outcome: Result<Value, any Error>? { result.withLock { $0 } }

    /// Waits for its end; blocking.
    func value() throws -> Value {
        isDone.wait()
        defer { isDone.signal() }
        guard let outcome else { throw BenchmarkError("the work has ended without a result") }
        return try outcome.get()
    }
}
