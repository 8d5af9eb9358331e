/// How many sends of a channel ended lately, for good: a gateway that refuses quickly is not brisk.
struct SendPace {
    static let window = Duration.milliseconds(100)

    /// In the last whole window; 0 when it is long past.
    private(set) var lately = 0
    private var ended = 0
    private var began: ContinuousClock.Instant?

    /// Counts sends that have ended since the last call; 0 is a count, too.
    mutating func note(_ count: Int, at now: ContinuousClock.Instant) {
        if let began, now < began.advanced(by: Self.window) {
            ended += count
            return
        }
        let isRecent = began.map { now < $0.advanced(by: Self.window * 2) } ?? false
        (lately, ended, began) = (isRecent ? ended : 0, count, now)
    }
}
