import NotificationModel

/// The records that a partition already held when a lane took it over. No timer fires before they are read:
///
/// - A removal among them may cancel what fell due while nobody ran.
/// - The previous owner may have read them and published what became of them without a checkpoint. Read again they must have the
///   same outcome, although the clock has moved on: what was cancelled or superseded before it was due is not sent now.
///
/// The wait is bounded, and shorter than the lateness that misfire policies tolerate: a long backlog does not stop timers.
///
/// A class: an instant in a partition's own storage would make every access to the partition slower, since its size is known only
/// at run time.
final class CatchUp {
    /// How long timers may wait.
    static let bound = Duration.seconds(5)

    /// The offset after the last of these records, of each input.
    let ends: PerInput<Int64>
    let deadline: ContinuousClock.Instant

    init(ends: PerInput<Int64>, deadline: ContinuousClock.Instant) { (self.ends, self.deadline) = (ends, deadline) }

    /// - Parameter lag: Records of an input that are still to be read after a position, nil when unknown. The end marker of a
    ///   transaction is never read, so the position alone may stay below the end.
    func isOver(
        _ inputs: PerInput<InputProgress>,
        at now: ContinuousClock.Instant,
        lag: (InputTopic, _ position: Int64) -> Int64?
    ) -> Bool {
        now >= deadline
            || inputs.allSatisfy { input, progress in
                progress.position >= ends[input] || lag(input, progress.position) == 0
            }
    }
}
