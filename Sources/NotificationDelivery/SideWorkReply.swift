import Synchronization

/// Collects the outcomes of side work from other threads until the lane takes them.
///
/// It accepts one outcome for each piece of work in progress, so it never holds more outcomes than the lane has
/// started. A duplicate outcome, or one after the deadline or after the lane gave up the work, is late: it is counted
/// and not stored.
package final class SideWorkMailbox<Outcome: Sendable>: Sendable {
    private let outcomes = Mutex<[(id: SideWorkID, outcome: Outcome)]>([])
    private let wake: @Sendable () -> Void
    private let onLate: @Sendable () -> Void

    /// - Parameters:
    ///   - wake: wakes the lane, from any thread; called for the first outcome since the last `take`.
    ///   - onLate: called on any thread.
    package init(wake: @escaping @Sendable () -> Void, onLate: @escaping @Sendable () -> Void) {
        (self.wake, self.onLate) = (wake, onLate)
    }

    fileprivate func post(_ outcome: Outcome, of id: SideWorkID) {
        let isFirst = outcomes.withLock { outcomes in
            outcomes.append((id, outcome))
            return outcomes.count == 1
        }
        if isFirst { wake() }
    }

    /// The outcomes received since the last call, in order of arrival.
    package func take() -> [(id: SideWorkID, outcome: Outcome)] {
        outcomes.withLock { outcomes in
            // Do not copy or allocate while there are no outcomes.
            guard !outcomes.isEmpty else { return [] }
            defer { outcomes = [] }
            return outcomes
        }
    }

    /// Counts an outcome that nobody needs any more.
    package func noteLate() { onLate() }
}

/// Names a piece of side work in progress.
package struct SideWorkID: Hashable, Sendable {
    /// In the order in which the work began; each is used once.
    package let number: UInt64
    /// Where the lane finds it; used again when it has ended.
    package let slot: Int

    package init(_ number: UInt64, slot: Int) { (self.number, self.slot) = (number, slot) }
}

/// A piece of side work in progress, as its worker knows it: the worker calls it once, from any thread, with the outcome.
package final class SideWorkReply<Outcome: Sendable>: Sendable {
    package let id: SideWorkID
    private let mailbox: SideWorkMailbox<Outcome>
    private let awaits = Atomic(true)
    private let held = Mutex<(any SideWorkTask)?>(nil)

    package init(to mailbox: SideWorkMailbox<Outcome>, _ id: SideWorkID) { (self.mailbox, self.id) = (mailbox, id) }

    package func callAsFunction(_ outcome: Outcome) {
        guard awaits.exchange(false, ordering: .acquiringAndReleasing) else { return mailbox.noteLate() }
        mailbox.post(outcome, of: id)
    }

    /// Whether the lane waits for the outcome.
    package var isAwaited: Bool { awaits.load(ordering: .acquiring) }

    /// The lane no longer waits: an outcome is late.
    package func abandon() { awaits.store(false, ordering: .releasing) }

    /// What performs the work, for a worker that must find it to cancel it; nil as soon as it has ended.
    package var task: (any SideWorkTask)? {
        get { held.withLock { $0 } }
        set { held.withLock { $0 = newValue } }
    }
}

/// What performs side work.
package protocol SideWorkTask: AnyObject, Sendable {
    /// The lane no longer waits for one of its outcomes.
    func cancel()
}

extension SideWorkReply: Hashable {
    package static func == (one: SideWorkReply, other: SideWorkReply) -> Bool { one === other }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
