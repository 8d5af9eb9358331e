import DequeModule
import Synchronization

/// The queries that wait for a lane's next turn.
final class QueryInbox: Sendable {
    /// How many queries may wait.
    static let bound = 256

    struct Waiting: Sendable {
        let query: NotificationQuery
        /// Called once, from the lane's thread or from that of a caller.
        let reply: @Sendable (NotificationQuery.Answer) -> Void
    }

    private struct Contents {
        var waiting: Deque<Waiting> = []
        var isClosed = false
    }

    private let contents = Mutex(Contents())
    private let wake: @Sendable () -> Void

    /// - Parameter wake: wakes the lane, from any thread.
    init(wake: @escaping @Sendable () -> Void) {
        self.wake = wake
    }

    /// Passes a query to the lane, or replies at once when it cannot.
    func post(_ waiting: Waiting) {
        let refusal: NotificationQuery.Answer? = contents.withLock { contents in
            guard !contents.isClosed else { return .unavailable }
            guard contents.waiting.count < Self.bound else { return .overloaded }
            contents.waiting.append(waiting)
            return nil
        }
        if let refusal { waiting.reply(refusal) } else { wake() }
    }

    /// The next query to answer.
    func next() -> Waiting? {
        contents.withLock { $0.waiting.popFirst() }
    }

    /// The lane ends: no query waits for it any more.
    func close() {
        let waiting = contents.withLock { contents in
            defer { contents.waiting = [] }
            contents.isClosed = true
            return contents.waiting
        }
        for one in waiting { one.reply(.unavailable) }
    }
}
