import Kafka
import ServiceSupport
import Synchronization
import UnixSignals

/// SIGINT and SIGTERM for commands that must finish their work.
enum Interruption {
    /// Runs blocking work on a separate thread. The first signal requests a stop; a second one ends the process.
    ///
    /// - Returns: The work's result, and the number of the signal that stopped it, if any.
    static func watched<Result: Sendable>(
        thread name: String,
        _ body: @escaping @Sendable (StopSignal) throws -> Result
    ) async throws -> (result: Result, signal: Int32?) {
        let stop = StopSignal()
        let (first, watcher) = await watch { stop.request() }
        defer { watcher.cancel() }
        let result = try await KafkaThread.run(name: name) { try body(stop) }
        return (result, first.number)
    }

    /// Runs work that ends early when its task is cancelled. The first signal cancels it; a second one ends the process.
    ///
    /// - Returns: The work's result, and the number of the signal that stopped it, if any.
    static func watched<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> (result: Result, signal: Int32?) {
        let work = Task(operation: body)
        let (first, watcher) = await watch { work.cancel() }
        defer { watcher.cancel() }
        return (try await work.value, first.number)
    }

    private static func watch(stop: @escaping @Sendable () -> Void) async -> (FirstSignal, watcher: Task<Void, Never>) {
        let first = FirstSignal()
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let watcher = Task {
            for await signal in signals {
                guard first.note(signal.rawValue) else { Terminal.exit(ExitStatus.ended(by: signal.rawValue)) }
                stop()
            }
        }
        return (first, watcher)
    }

    private final class FirstSignal: Sendable {
        private let value = Atomic<Int32>(0)

        var number: Int32? {
            let number = value.load(ordering: .acquiring)
            return number == 0 ? nil : number
        }

        /// False if there was one before.
        func note(_ number: Int32) -> Bool {
            value.compareExchange(expected: 0, desired: number, ordering: .acquiringAndReleasing).exchanged
        }
    }
}
