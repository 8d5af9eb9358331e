import DequeModule
import NotificationDelivery
import NotificationModel

/// When the messages of a project may be sent: its quota as a token bucket, those that wait for their turn, and the pause after FCM
/// has refused one for the quota. A value.
struct ProjectPace<Message>: Sendable where Message: Sendable {
    /// What happens to a message.
    enum Turn: Sendable {
        case now
        /// It is kept until ``next(at:)`` gives it; with true the owner asks for it after ``wait(at:)``.
        case later(begins: Bool)
        /// It is not kept: there is no room, or the quota is exceeded. It may come again after so many milliseconds.
        case refused(Int64)
    }

    /// The longest pause after an exceeded quota, in milliseconds, when FCM does not say.
    static var longestPause: Int64 { 600_000 }

    private var rate: WorkRate
    private let interval: Double
    /// The most messages that wait.
    let room: Int
    private var queues: [WorkPriority: Deque<Message>] = [:]
    private(set) var count = 0
    private var isAsked = false
    private var pausedUntil: Timestamp?
    private var pauses = 0

    /// - Parameters:
    ///   - perSecond: the quota, at least 1. Messages of a second may be sent at once.
    ///   - room: the most messages that wait; fewer when their turn would come after `patience`.
    ///   - patience: how long a message may wait, in milliseconds.
    init(perSecond: Int, room: Int, patience: Int64) {
        rate = WorkRate(perSecond: Double(perSecond), burst: perSecond)
        interval = 1000 / Double(perSecond)
        self.room = max(1, min(room, Int(Double(patience) / interval)))
    }

    /// - Parameter wall: the wall clock, for the pause of the quota.
    mutating func turn(
        of message: Message,
        _ priority: WorkPriority,
        at now: ContinuousClock.Instant,
        wall: Timestamp
    ) -> Turn {
        if let pausedUntil, wall < pausedUntil { return .refused(pausedUntil.rawValue - wall.rawValue) }
        if count == 0, rate.take(at: now) { return .now }
        guard count < room else { return .refused(max(1, Int64(Double(count) * interval))) }
        queues[priority, default: []].append(message)
        count += 1
        defer { isAsked = true }
        return .later(begins: !isAsked)
    }

    /// How long until the first one that waits has its turn.
    func wait(at now: ContinuousClock.Instant) -> Duration { rate.next(at: now) - now }

    /// Takes the next message whose turn it is, time-sensitive ones first.
    ///
    /// - Parameter isWanted: of those that wait for nobody any more none uses the quota.
    /// - Returns: nil when none is left, or it is not its turn yet: then the owner asks again after ``wait(at:)``, unless
    ///   ``count`` is 0.
    mutating func next(at now: ContinuousClock.Instant, isWanted: (Message) -> Bool) -> Message? {
        for priority in WorkPriority.allCases {
            while let first = queues[priority]?.first {
                if isWanted(first), !rate.take(at: now) { return nil }
                queues[priority]?.removeFirst()
                count -= 1
                if isWanted(first) { return first }
            }
        }
        isAsked = false
        return nil
    }

    /// Takes all that wait: their turn does not come soon.
    mutating func removeAll() -> [Message] {
        defer { (queues, count, isAsked) = ([:], 0, false) }
        return WorkPriority.allCases.flatMap { queues[$0] ?? [] }
    }

    /// FCM refused a message for the quota.
    ///
    /// - Parameter retryAfter: what it asks for, in milliseconds; else a minute, and twice as long after each further refusal.
    /// - Returns: the pause, in milliseconds.
    mutating func exceeded(retryAfter: Int64?, wall: Timestamp) -> Int64 {
        // Those that were on their way when the first was refused are no further refusals.
        if let pausedUntil, wall < pausedUntil {
            return max(retryAfter ?? 0, pausedUntil.rawValue - wall.rawValue)
        }
        let pause = retryAfter ?? min(Self.longestPause, FCMAction.pauseOfQuota << min(pauses, 4))
        pauses += 1
        pausedUntil = wall.adding(milliseconds: pause)
        return pause
    }

    /// FCM accepted a message.
    mutating func accepted(wall: Timestamp) {
        guard let pausedUntil, wall >= pausedUntil else { return }
        (self.pausedUntil, pauses) = (nil, 0)
    }

    /// Whether the quota is exceeded now.
    func isPaused(wall: Timestamp) -> Bool { pausedUntil.map { wall < $0 } ?? false }
}
