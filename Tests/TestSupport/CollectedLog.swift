package import Logging
import Synchronization

/// A log that nobody reads.
package let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// What was logged, as lines `level: message [metadata]`.
package final class CollectedLog: Sendable {
    private let entries = Mutex<[(level: Logger.Level, text: String)]>([])
    private let lowest: Logger.Level

    /// - Parameter lowest: What is below is not collected.
    package init(from lowest: Logger.Level = .trace) { self.lowest = lowest }

    package var lines: [String] { entries.withLock { $0.map(\.text) } }
    package var text: String { lines.joined(separator: "\n") }

    package func lines(_ level: Logger.Level) -> [String] {
        entries.withLock { $0.filter { $0.level == level }.map(\.text) }
    }

    package var logger: Logger { Logger(label: "test") { _ in handler } }

    package var handler: any LogHandler { Handler(log: self, logLevel: lowest) }

    private struct Handler: LogHandler {
        let log: CollectedLog
        var logLevel: Logger.Level
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.entries.withLock {
                $0.append((event.level, "\(event.level): \(event.message) \(event.metadata ?? [:])"))
            }
        }
    }
}
