import NotificationModel
import NotificationState

/// Whether partitions without a marker may be read from their first request without an operator's decision. This is
/// safe for a partition that was never processed: nothing is lost, omitted or repeated.
///
/// Each partition is checked separately, because lanes take their partitions at different times: the first marker of
/// one lane must not make another lane refuse. The conditions are:
///
/// 1. Its part of the input still begins at offset 0.
/// 2. Its part of `state` begins at offset 0 and holds no committed record.
/// 3. The group has committed no offset for it. Every checkpoint commits one, so an offset means that `state` was
///    recreated.
struct Beginning {
    /// How many offsets at the end of another partition's changelog are searched for its last marker.
    static let tail: Int64 = 1000

    /// The facts about a partition without a marker.
    struct Partition {
        var input: OffsetBounds
        var stateLow: Int64
        /// The number of committed records in its part of `state`.
        var stateRecords: Int64

        /// Points 1 and 2.
        var isUntouched: Bool { input.low == 0 && stateLow == 0 && stateRecords == 0 }
    }

    let settings: Restore.Settings

    /// - Returns: the given partitions that may be read from offset 0.
    func partitions(
        _ found: [InputPartition: Partition],
        over link: some LaneLink
    ) throws -> Set<InputPartition> {
        let untouched = found.filter { $0.value.isUntouched }.map(\.key).sorted()
        guard !untouched.isEmpty else { return [] }
        let committed = try link.committedOffsets(of: untouched, within: Restore.brokerDeadline)
        return Set(untouched).subtracting(committed.keys)
    }

    /// Checks that a partition without a marker was not added to partitions in use: no other partition may have a
    /// marker with another partition count, as far as the end of its changelog shows. An added partition is empty at
    /// first, and no setting allows recipients to move.
    ///
    /// - Parameter own: the partitions being restored, whose markers are known.
    /// - Throws: `ConsumerRefusal` when partitions were added; errors of the link.
    func checkCount(without own: [Int32], over link: some LaneLink) throws {
        let others = Set(0..<settings.partitions).subtracting(own).sorted()
        guard !others.isEmpty else { return }
        let bounds = try link.stateBounds(of: others, within: Restore.brokerDeadline)
        let ends = bounds.filter { $0.value.low < $0.value.high }.mapValues { low, high in
            max(low, high - Self.tail)..<high
        }
        guard !ends.isEmpty else { return }
        var added: ConsumerRefusal?
        try link.readState(of: ends, stallingAtMost: Restore.brokerDeadline) { number, _, key, value in
            guard added == nil, key == StateMarker.key, let value, let marker = try? StateMarker(json: value),
                marker.partitions != settings.partitions
            else { return }
            added = .partitionCountChanged(number, marker: marker.partitions, now: settings.partitions)
        }
        if let added { throw added }
    }
}
