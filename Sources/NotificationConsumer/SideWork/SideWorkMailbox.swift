import Synchronization

/// Where other threads put the outcomes of work that goes on beside a lane, until the lane takes them.
///
/// It takes one outcome of each work that is awaited, so it never has more than the lane has begun. What comes twice, after its
/// deadline or after the lane gave it up is late: it is counted and takes no room.
package final class SideWorkMailbox<Outcome: Sendable>: Sendable {
    private struct Contents {
        var awaited: Set<UInt64> = []
        var outcomes: [(number: UInt64, outcome: Outcome)] = []
    }

    private let contents = Mutex(Contents())
    private let wake: @Sendable () -> Void
    private let onLate: @Sendable () -> Void

    /// - Parameters:
    ///   - wake: ends the wait of the lane, from any thread; called for the first outcome since the last `take`.
    ///   - onLate: called on any thread.
    package init(wake: @escaping @Sendable () -> Void, onLate: @escaping @Sendable () -> Void) {
        (self.wake, self.onLate) = (wake, onLate)
    }

    func await(_ number: UInt64) {
        contents.withLock { _ = $0.awaited.insert(number) }
    }

    func forget(_ number: UInt64) {
        contents.withLock { _ = $0.awaited.remove(number) }
    }

    fileprivate func post(_ outcome: Outcome, of number: UInt64) {
        let isFirst: Bool? = contents.withLock { contents in
            guard contents.awaited.remove(number) != nil else { return nil }
            contents.outcomes.append((number, outcome))
            return contents.outcomes.count == 1
        }
        guard let isFirst else { return onLate() }
        if isFirst { wake() }
    }

    /// What came since the last call, in the order in which it came.
    func take() -> [(number: UInt64, outcome: Outcome)] {
        contents.withLock { contents in
            // Nothing is copied or allocated while nothing came.
            guard !contents.outcomes.isEmpty else { return [] }
            defer { contents.outcomes = [] }
            return contents.outcomes
        }
    }

    /// An outcome was taken that is not wanted any more.
    func noteLate() { onLate() }
}

/// How whoever does a work says what became of it; from any thread, once.
package struct SideWorkReply<Outcome: Sendable>: Sendable, Hashable {
    private let mailbox: SideWorkMailbox<Outcome>
    let number: UInt64

    init(to mailbox: SideWorkMailbox<Outcome>, _ number: UInt64) {
        (self.mailbox, self.number) = (mailbox, number)
    }

    package func callAsFunction(_ outcome: Outcome) { mailbox.post(outcome, of: number) }

    package static func == (a: Self, b: Self) -> Bool { a.mailbox === b.mailbox && a.number == b.number }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(mailbox))
        hasher.combine(number)
    }
}
