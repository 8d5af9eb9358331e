import Synchronization

/// Collects the outcomes of side work from other threads until the lane takes them.
///
/// It accepts one outcome for each piece of work in progress, so it never holds more outcomes than the lane has
/// started. A duplicate outcome, or one after the deadline or after the lane gave up the work, is late: it is counted
/// and not stored.
package final class SideWorkMailbox<Outcome: Sendable>: Sendable {
    private struct Contents {
        var awaited: Set<UInt64> = []
        var outcomes: [(number: UInt64, outcome: Outcome)] = []
    }

    private let contents = Mutex(Contents())
    private let wake: @Sendable () -> Void
    private let onLate: @Sendable () -> Void

    /// - Parameters:
    ///   - wake: wakes the lane, from any thread; called for the first outcome since the last `take`.
    ///   - onLate: called on any thread.
    package init(wake: @escaping @Sendable () -> Void, onLate: @escaping @Sendable () -> Void) {
        (self.wake, self.onLate) = (wake, onLate)
    }

    package func await(_ number: UInt64) {
        contents.withLock { _ = $0.awaited.insert(number) }
    }

    package func forget(_ number: UInt64) {
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

    /// The outcomes received since the last call, in order of arrival.
    package func take() -> [(number: UInt64, outcome: Outcome)] {
        contents.withLock { contents in
            // Do not copy or allocate while there are no outcomes.
            guard !contents.outcomes.isEmpty else { return [] }
            defer { contents.outcomes = [] }
            return contents.outcomes
        }
    }

    /// Counts an outcome that was taken but is no longer needed.
    package func noteLate() { onLate() }
}

/// The worker calls it once, from any thread, with the outcome.
package struct SideWorkReply<Outcome: Sendable>: Sendable, Hashable {
    private let mailbox: SideWorkMailbox<Outcome>
    package let number: UInt64

    package init(to mailbox: SideWorkMailbox<Outcome>, _ number: UInt64) {
        (self.mailbox, self.number) = (mailbox, number)
    }

    package func callAsFunction(_ outcome: Outcome) { mailbox.post(outcome, of: number) }

    package static func == (a: Self, b: Self) -> Bool { a.mailbox === b.mailbox && a.number == b.number }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(mailbox))
        hasher.combine(number)
    }
}
