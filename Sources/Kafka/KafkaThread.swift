import COpenSSL
import Foundation

/// A dedicated thread for blocking calls, which must not block the cooperative pool.
public enum KafkaThread {
    /// Runs the closure on a new thread and returns its result, or throws its error.
    ///
    /// - Parameters:
    ///   - name: the thread's name in debuggers and `top -H`; at most 15 bytes are shown.
    ///   - body: may block.
    public static func run<Result: Sendable>(
        name: String,
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            start(name: name) {
                let result = Swift.Result { try body() }
                // Not when the thread ends: the caller may end the process meanwhile, which frees what OpenSSL needs for that.
                OPENSSL_thread_stop()
                continuation.resume(with: result)
            }
        }
    }

    static func start(name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread {
            // Foundation passes the name to the kernel only once the thread has started.
            Thread.current.name = name
            body()
        }
        thread.stackSize = 2 << 20
        thread.start()
    }
}
