import NotificationModel

/// The time range for which timers are kept in memory; later timers exist only in the store. The window advances in
/// steps: each step loads the timers up to `target`.
struct DueWindow {
    /// How far the window reaches ahead of the clock, and the remainder at which it advances, in milliseconds.
    static let ahead: Int64 = 10_000
    static let refillAhead: Int64 = 5_000
    /// How much earlier than others urgent entries are loaded, in milliseconds: so they are in memory before a mass that is due
    /// with them.
    static let urgentLead: Int64 = 60_000
    /// Timers loaded at a time, and the maximum number of timers in memory.
    static let loadedAtATime = 256
    static let maximumArmed = 200_000

    /// All timers due at or before this instant are in memory.
    private var end: Timestamp
    private(set) var target: Timestamp
    /// The read position in the store.
    var cursor = DueCursor(before: Timestamp.earliest)

    init(from end: Timestamp) { (self.end, target) = (end, end) }

    /// Entries due later may be evicted.
    var reach: Timestamp { max(end, target) }

    var nextRefill: Timestamp { end.adding(milliseconds: -Self.refillAhead) }

    /// Whether to load timers up to the target. Sets a new target when it is time for the next step.
    mutating func moves(at now: Timestamp) -> Bool {
        if target <= end {
            guard now >= nextRefill else { return false }
            target = now.adding(milliseconds: Self.ahead)
        }
        return true
    }

    mutating func reachTarget() { end = target }
}
