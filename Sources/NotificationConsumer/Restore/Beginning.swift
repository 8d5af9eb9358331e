import NotificationModel

/// Whether partitions without a marker may be read from their first request on without being asked: nothing was ever done with
/// them, so nothing is lost, left out or done twice.
///
/// Each partition decides for itself, since lanes take their partitions at different times: the first marker of one lane must
/// not make another refuse. What has to hold:
///
/// 1. Its part of the input still begins at offset 0.
/// 2. Its part of `state` begins at offset 0 and holds no committed record.
/// 3. The group has committed no offset for it. Every checkpoint leaves one; with one, `state` was made again.
struct Beginning {
    /// How much of the end of another partition's changelog is read for its last marker, in offsets.
    static let tail: Int64 = 1000

    /// What is known of a partition without a marker.
    struct Partition {
        var input: OffsetBounds
        var stateLow: Int64
        /// Committed records that its part of `state` holds.
        var stateRecords: Int64

        /// Points 1 and 2.
        var isUntouched: Bool { input.low == 0 && stateLow == 0 && stateRecords == 0 }
    }

    let rules: Restore.Rules

    /// - Returns: the partitions, of those given, that may be read from offset 0 on.
    func partitions(
        _ found: [InputPartition: Partition],
        over link: some LaneLink
    ) throws -> Set<InputPartition> {
        let untouched = found.filter { $0.value.isUntouched }.map(\.key).sorted()
        guard !untouched.isEmpty else { return [] }
        let committed = try link.committedOffsets(of: untouched, within: Restore.brokerDeadline)
        return Set(untouched).subtracting(committed.keys)
    }

    /// Checks that a partition without a marker was not added to others that are in use: no other one may have a marker of
    /// another partition count, as far as the end of its changelog shows. An added one is empty at first, and no setting says
    /// that recipients may move.
    ///
    /// - Parameter own: what is being restored; of these the marker is known.
    /// - Throws: `ConsumerRefusal` when partitions were added; what the link throws.
    func checkCount(without own: [Int32], over link: some LaneLink) throws {
        let others = Set(0..<rules.partitions).subtracting(own).sorted()
        guard !others.isEmpty else { return }
        let bounds = try link.stateBounds(of: others, within: Restore.brokerDeadline)
        let ends = bounds.filter { $0.value.low < $0.value.high }.mapValues { low, high in
            max(low, high - Self.tail)..<high
        }
        guard !ends.isEmpty else { return }
        var added: ConsumerRefusal?
        try link.readState(of: ends, stallingAtMost: Restore.brokerDeadline) { number, _, key, value in
            guard added == nil, key == StateMarker.key, let value, let marker = try? StateMarker(json: value),
                marker.partitions != rules.partitions
            else { return }
            added = .partitionCountChanged(number, marker: marker.partitions, now: rules.partitions)
        }
        if let added { throw added }
    }
}
