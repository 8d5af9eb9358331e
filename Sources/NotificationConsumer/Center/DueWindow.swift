import NotificationModel

/// How far ahead of the clock timers are in use: what is due later is in the store alone. The window moves in steps; while it
/// does, timers up to its target are brought in.
struct DueWindow {
    /// How far ahead of the clock it reaches, in milliseconds, and how much of that is left when it moves on.
    private static let ahead: Int64 = 10_000
    private static let refillAhead: Int64 = 5_000
    /// Timers brought in at a time, and at most in use.
    static let loadedAtATime = 256
    static let maximumArmed = 200_000

    /// Everything due at or before it is in use.
    private var end: Timestamp
    private(set) var target: Timestamp
    /// How far the store was read.
    var cursor = DueCursor(before: Timestamp.earliest)

    init(from end: Timestamp) { (self.end, target) = (end, end) }

    /// What is due later may leave memory.
    var reach: Timestamp { max(end, target) }

    var nextRefill: Timestamp { end.adding(milliseconds: -Self.refillAhead) }

    /// Whether timers are to be brought in up to the target, which is set when the time has come.
    mutating func moves(at now: Timestamp) -> Bool {
        if target <= end {
            guard now >= nextRefill else { return false }
            target = now.adding(milliseconds: Self.ahead)
        }
        return true
    }

    mutating func reachTarget() { end = target }
}
