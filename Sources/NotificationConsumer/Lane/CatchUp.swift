/// The requests that a partition already held when a lane took it over. No timer fires before they are read:
///
/// - A removal among them may cancel what fell due while nobody ran.
/// - The previous owner may have read them and published what became of them without a checkpoint. Read again they must have the
///   same outcome, although the clock has moved on: what was cancelled or superseded before it was due is not sent now.
///
/// The wait is bounded, and shorter than the lateness that misfire policies tolerate: a long backlog does not stop timers.
struct CatchUp {
    /// How long timers may wait.
    static let bound = Duration.seconds(5)

    /// The offset after the last of these requests.
    let end: Int64
    let deadline: ContinuousClock.Instant

    /// - Parameters:
    ///   - position: the next request to read.
    ///   - lag: requests still to be read, nil when unknown. The end marker of a transaction is never read, so the position
    ///     alone may stay below `end`.
    func isOver(position: Int64, lag: Int64?, at now: ContinuousClock.Instant) -> Bool {
        position >= end || lag == 0 || now >= deadline
    }
}
