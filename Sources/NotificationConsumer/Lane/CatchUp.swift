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
/// timers. Where a channel sends, it is longer, until `Sends` is reached: what the backlog replaces must not be sent again,
/// since nothing takes back what a device has shown.
///
/// A class, because an instant stored in a partition itself would make every access to it slower: its size is known
/// only at run time.
final class CatchUp {
    /// How long timers may wait.
    static let bound = Duration.seconds(5)

    /// How long sends wait beyond that.
    enum Sends {
        /// For so many records of the backlog,
        static let records: Int64 = 100_000
        /// or so long, if reading is slower.
        static let bound = Duration.seconds(60)
    }

    /// The positions after the last record of the backlog, for each input.
    let ends: PerInput<Int64>
    private let starts: PerInput<Int64>
    private let begun: ContinuousClock.Instant
    private let hasSends: Bool

    /// - Parameters:
    ///   - starts: the positions at which reading begins.
    ///   - hasSends: whether a channel sends.
    init(
        from starts: PerInput<Int64>,
        to ends: PerInput<Int64>,
        hasSends: Bool,
        at begun: ContinuousClock.Instant
    ) {
        (self.starts, self.ends, self.hasSends, self.begun) = (starts, ends, hasSends, begun)
    }

    /// - Parameters:
    ///   - isReadingHeld: whether nothing is read until side work has ended.
    ///   - lag: The records of an input still to be read after a position; nil when unknown. Transaction end
    ///     markers are never delivered, so the position alone may stay below the end.
    func isOver(
        _ inputs: PerInput<InputProgress>,
        isReadingHeld: Bool,
        at now: ContinuousClock.Instant,
        lag: (InputTopic, _ position: Int64) -> Int64?
    ) -> Bool {
        if inputs.allSatisfy({ input, progress in isRead(input, progress.position, lag) }) { return true }
        guard hasSends else { return isReadingHeld || now >= begun.advanced(by: Self.bound) }
        if now >= begun.advanced(by: Sends.bound) { return true }
        return now >= begun.advanced(by: Self.bound) && read(inputs) >= Sends.records
    }

    private func read(_ inputs: PerInput<InputProgress>) -> Int64 {
        InputTopic.allCases.reduce(0) { $0 + max(0, inputs[$1].position - starts[$1]) }
    }

    /// Whether the registrations of the backlog are read, or have taken too long; parameters as of `isOver`.
    func hasDevices(
        _ inputs: PerInput<InputProgress>,
        at now: ContinuousClock.Instant,
        lag: (InputTopic, _ position: Int64) -> Int64?
    ) -> Bool {
        now >= begun.advanced(by: Self.bound) || isRead(.devices, inputs[.devices].position, lag)
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
