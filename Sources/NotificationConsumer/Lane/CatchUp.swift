import NotificationModel
import NotificationState

/// The backlog of a partition when a lane took it over. No timer fires before it is read:
///
/// - A removal in it may cancel a notification that became due while no owner was running.
/// - The previous owner may have read these records and published outcomes without a checkpoint. Reading them again
///   must produce the same outcomes although the clock has moved on: a notification that was cancelled or superseded
///   before it was due is not sent now.
///
/// The registrations in it are read before its requests and signals: a notification must not miss a device that was
/// registered before it was sent.
///
/// The wait is bounded, and shorter than the lateness that misfire policies tolerate: a long backlog does not stop
/// timers.
///
/// A class, because an instant stored in a partition itself would make every access to it slower: its size is known
/// only at run time.
final class CatchUp {
    /// How long timers may wait.
    static let bound = Duration.seconds(5)

    /// The offset after the last record of the backlog, for each input.
    let ends: PerInput<Int64>
    let deadline: ContinuousClock.Instant

    init(ends: PerInput<Int64>, deadline: ContinuousClock.Instant) { (self.ends, self.deadline) = (ends, deadline) }

    /// - Parameter lag: The records of an input still to be read after a position; nil when unknown. Transaction end
    ///   markers are never delivered, so the position alone may stay below the end.
    func isOver(
        _ inputs: PerInput<InputProgress>,
        at now: ContinuousClock.Instant,
        lag: (InputTopic, _ position: Int64) -> Int64?
    ) -> Bool {
        now >= deadline
            || inputs.allSatisfy { input, progress in isRead(input, progress.position, lag) }
    }

    /// Whether the registrations of the backlog are read, or have taken too long; parameters as of `isOver`.
    func hasDevices(
        _ inputs: PerInput<InputProgress>,
        at now: ContinuousClock.Instant,
        lag: (InputTopic, _ position: Int64) -> Int64?
    ) -> Bool {
        now >= deadline || isRead(.devices, inputs[.devices].position, lag)
    }

    private func isRead(_ input: InputTopic, _ position: Int64, _ lag: (InputTopic, Int64) -> Int64?) -> Bool {
        position >= ends[input] || lag(input, position) == 0
    }
}

extension InputPartition {
    /// The partitions of the inputs that are read after the registrations.
    static func afterDevices(_ number: Int32) -> [InputPartition] {
        [.init(.requests, number), .init(.signals, number)]
    }
}
