import Foundation
import Logging
import Synchronization

/// The Kafka client's errors: while a command connects, only the last one is kept, for the message about the failed
/// connection; once it reads, errors are printed as they occur.
final class ConnectionLog: Sendable {
    private let state = Mutex((isTold: false, last: String?.none))

    /// From now on errors are printed.
    func tell() {
        state.withLock { $0.isTold = true }
    }

    /// The last message, without the client's own prefix.
    var last: String? {
        state.withLock { $0.last }
    }

    func logger(_ command: String) -> Logger {
        Logger(label: command) { label in
            EventHandler { event in self.take("\(event.message)", label, isError: event.level >= .error) }
        }
    }

    private func take(_ message: String, _ label: String, isError: Bool) {
        let text = RecordText.safe(Self.plain(message))
        let isTold = state.withLock { state in
            // It follows the reason, and says less.
            if state.last == nil || !text.hasSuffix("brokers are down") { state.last = text }
            return state.isTold
        }
        if isTold, isError { Terminal.writeError("\(label): \(text)\n") }
    }

    /// Removes the client's prefix: `librdkafka: [thrd:host:1/bootstrap]: host:1/bootstrap: Connect to … failed`.
    private static func plain(_ message: String) -> String {
        guard let mark = message.range(of: "]: ") else { return message }
        return String(message[mark.upperBound...])
    }
}
