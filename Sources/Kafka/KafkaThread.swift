import Foundation

/// A thread of one's own, for what blocks: the cooperative pool must not.
public enum KafkaThread {
    /// Runs the closure on a new thread and returns what it returns, or throws.
    ///
    /// - Parameter name: what debuggers and `top -H` show; at most 15 bytes are.
    public static func run<Result: Sendable>(
        name: String,
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            start(name: name) { continuation.resume(with: Swift.Result { try body() }) }
        }
    }

    static func start(name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread {
            // A name reaches the kernel once Foundation knows the thread, which is after it has started.
            Thread.current.name = name
            body()
        }
        thread.stackSize = 2 << 20
        thread.start()
    }
}
