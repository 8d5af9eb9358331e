import Logging
import Synchronization

/// Log lines from info on, as `level: message [metadata]`, so that short-lived states can be checked later.
final class CollectedLog: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in handler } }

    var handler: any LogHandler { Handler(log: self) }

    private struct Handler: LogHandler {
        let log: CollectedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let line = "\(event.level): \(event.message) \(event.metadata ?? [:])"
            log.lines.withLock { $0.append(line) }
        }
    }
}
