import Logging
import NotificationModel
import NotificationState
import ServiceSupport

/// Restores partitions: brings back pending notifications before any timer fires. Each step handles all partitions
/// together, so many partitions with little to read take hardly longer than one.
///
/// 1. The end offsets of the changelog are read as a `read_uncommitted` client sees them. Transactions that are open
///    before an end will be committed or aborted; the restore waits for them.
/// 2. A local store is the base when it is a copy of this changelog from which the changelog can continue: not ahead of
///    its end, not before its beginning, not older than deletions are kept, of the same lineage. Otherwise the store is
///    emptied and the changelog is read from its beginning, which must still exist.
/// 3. Committed records from there to the end are written to the store; the last marker counts. Unreadable records that
///    no later record of their key replaced or removed cause a refusal.
/// 4. The marker is compared with the input topics: the partition count, and whether the records after it still exist.
///    Without a marker, no other partition may have a marker with another partition count. Then an empty topic starts,
///    a partition that was never processed starts at its first record (`Beginning`), and any other starts as
///    configured. A topic that ends before the marker was recreated: it has a new life, which the next marker names,
///    and all its offsets are new.
/// 5. The center starts. Records from the marker's `replay` up to `replayEnd` or its offset are replayed without
///    publishing: this reproduces what they finished at once and the changelog does not contain.
/// 6. Notifications that may have been sent are in doubt (`firedThrough`); all others wait until they are due.
struct Restore {
    /// The result of restoring a partition.
    struct Result {
        var store: any EntryStore
        /// Where reading each input begins.
        var inputs: PerInput<InputStart>
        /// The offset after the last record of the changelog.
        var stateEnd: Int64
        /// nil when the first marker is not written yet.
        var marker: StateMarker?
        /// From the changelog, or newly created.
        var lineage: String
        /// The number of changelog records read.
        var records: Int64
        /// Of these, the records skipped because they have no key.
        var keyless: Int64
    }

    /// The settings and limits of a restore.
    struct Settings {
        var topics: TopicNames
        /// The addresses of the cluster, for the instructions in refusals.
        var brokers: [String]
        var partitions: Int32
        var start: LaneConfiguration.Start
        var gap: LaneConfiguration.Gap
        /// A store written longer ago may have missed a deletion, in milliseconds.
        var deletionsKept: Int64
        /// The maximum number of changes, over all stores, that are not written to disk yet.
        var unwritten: Int
    }

    static let brokerDeadline = Duration.seconds(30)

    let settings: Settings
    let logger: Logger
    /// Called periodically with the number of offsets passed and the total.
    let progress: (_ read: Int64, _ of: Int64) -> Void

    /// - Throws: `ConsumerRefusal` when continuing would lose or guess something, `KafkaError` and `LaneLinkError` when
    ///   the broker does not answer, and errors that make a store unusable.
    func run(
        _ stores: [Int32: any EntryStore],
        over link: some LaneLink,
        at now: Timestamp,
        newLineage: () -> String
    ) throws -> [Int32: Result] {
        let bounds = try link.stateBounds(of: stores.keys.sorted(), within: Self.brokerDeadline)
        var found = ChangelogReader(
            stores: stores,
            topic: settings.topics.state,
            brokers: settings.brokers,
            unwritten: settings.unwritten,
            progress: progress
        )
        try resume(stores, bounds, at: now, over: link, into: &found)
        try begin(stores, bounds, over: link, into: &found)
        try found.judge()
        // A store counts only written entries.
        for (_, store) in stores.sorted(by: { $0.key < $1.key }) { try store.flush() }
        if stores.keys.contains(where: { found[$0].marker == nil }) {
            try Beginning(settings: settings).checkCount(without: stores.keys.sorted(), over: link)
        }
        let starts = try InputStarts(settings: settings, logger: logger).find(
            stores.keys.sorted().map { number in
                .init(
                    number: number,
                    marker: found[number].marker,
                    state: bounds[number] ?? (0, 0),
                    records: found[number].records
                )
            },
            over: link
        )
        var results: [Int32: Result] = [:]
        for (number, store) in stores.sorted(by: { $0.key < $1.key }) {
            guard let inputs = starts[number] else { continue }
            let marker = found[number].marker
            results[number] = Result(
                store: store,
                inputs: inputs,
                stateEnd: bounds[number]?.high ?? 0,
                marker: marker,
                lineage: marker?.lineage ?? newLineage(),
                records: found[number].records,
                keyless: found[number].keyless
            )
            if found[number].keyless > 0 {
                logger.error(
                    "skipped records without a key in the changelog: another program writes to its topic",
                    metadata: [
                        LogMetadata.topic: "\(settings.topics.state)", LogMetadata.partition: "\(number)",
                        LogMetadata.count: "\(found[number].keyless)",
                    ]
                )
            }
        }
        return results
    }

    /// Continues from the position of each store that can be a base; finds nothing for the others.
    private func resume(
        _ stores: [Int32: any EntryStore],
        _ bounds: [Int32: (low: Int64, high: Int64)],
        at now: Timestamp,
        over link: some LaneLink,
        into found: inout ChangelogReader
    ) throws {
        var bases: [Int32: StorePosition] = [:]
        var ranges: [Int32: Range<Int64>] = [:]
        for (number, (low, high)) in bounds {
            guard let position = stores[number]?.position else { continue }
            if let reason = Self.refusal(
                of: position,
                low: low,
                high: high,
                at: now,
                deletionsKept: settings.deletionsKept
            ) {
                noteUnused(number, because: reason)
            } else {
                // The record before the position is the marker with which the store was written, or a newer marker
                // follows.
                ranges[number] = position.offset - 1..<high
                bases[number] = position
            }
        }
        try found.read(ranges, over: link)
        for (number, base) in bases where found[number].marker?.lineage != base.lineage {
            noteUnused(
                number,
                because: found[number].marker == nil
                    ? "the changelog has no marker after its position" : "it is a copy of another changelog"
            )
            found.forget(number)
        }
    }

    private func noteUnused(_ number: Int32, because reason: String) {
        logger.notice(
            "the local store cannot be used; the changelog is read from its beginning",
            metadata: [LogMetadata.partition: "\(number)", LogMetadata.reason: "\(reason)"]
        )
    }

    /// Reads the changelog from its beginning where nothing was found yet.
    private func begin(
        _ stores: [Int32: any EntryStore],
        _ bounds: [Int32: (low: Int64, high: Int64)],
        over link: some LaneLink,
        into found: inout ChangelogReader
    ) throws {
        var ranges: [Int32: Range<Int64>] = [:]
        for (number, store) in stores.sorted(by: { $0.key < $1.key }) where found[number].marker == nil {
            try store.discard()
            guard let (low, high) = bounds[number] else { continue }
            if low > 0 {
                guard settings.gap == .continue else {
                    throw ConsumerRefusal.changelogCut(topic: settings.topics.state, partition: number, low: low)
                }
                logger.error(
                    "part of the changelog is lost, and pending notifications with it; continuing as configured",
                    metadata: [LogMetadata.partition: "\(number)", "low": "\(low)"]
                )
            }
            ranges[number] = low..<max(low, high)
        }
        try found.read(ranges, over: link)
    }

    /// Why a store cannot be the base; nil when it can.
    static func refusal(
        of position: StorePosition,
        low: Int64,
        high: Int64,
        at now: Timestamp,
        deletionsKept: Int64
    ) -> String? {
        if position.lineage.isEmpty { return "it was not filled to the end" }
        if position.offset > high { return "it is ahead of the changelog, which was recreated" }
        if position.offset - 1 < low { return "the changelog no longer holds the records after its position" }
        if position.writtenAt < now.adding(milliseconds: -deletionsKept) {
            return "it is older than the deletions that the changelog keeps"
        }
        return nil
    }
}
