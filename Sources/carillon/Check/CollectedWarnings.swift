import Logging
import Synchronization

/// What the parts of a service warn of while they are created: a start would log it.
final class CollectedWarnings: Sendable {
    private let lines = Mutex<[String]>([])

    var logger: Logger { Logger(label: "carillon check") { _ in EventHandler { self.add($0) } } }

    /// What was collected since the last call.
    func take() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    private func add(_ event: LogEvent) {
        let details = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let text = ["\(event.message)"] + details
        lines.withLock { $0.append(text.joined(separator: ", ")) }
    }
}
