package import NotificationModel
import Synchronization

/// What a channel has to tell of itself, until a lane has published it. The channel notes it before it answers the send by which it
/// found out.
package final class ChannelChanges: Sendable {
    /// The most that wait; beyond it the oldest are forgotten.
    package static let bound = 1000

    private let events = Mutex<[ChannelEvent]>([])

    package init() {}

    package func add(_ event: ChannelEvent) {
        events.withLock { $0 = Array(($0 + [event]).suffix(Self.bound)) }
    }

    /// What waits, in order; the caller publishes it, or puts it back.
    package func take() -> [ChannelEvent] {
        events.withLock { events in
            guard !events.isEmpty else { return [] }
            defer { events = [] }
            return events
        }
    }

    /// Whoever took these has not published them.
    package func putBack(_ taken: [ChannelEvent]) {
        events.withLock { $0 = Array((taken + $0).suffix(Self.bound)) }
    }
}
