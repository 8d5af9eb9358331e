import Logging
import NotificationModel
import ServiceSupport

/// Takes over partitions: what is pending comes back, and nothing fires before all of it is known. Each step is done for all
/// partitions together: many that have little to read take hardly longer than one.
///
/// 1. The ends of the changelog are taken as a `read_uncommitted` client sees them: a transaction that is open before one will
///    be committed or aborted, and is waited for.
/// 2. A local store is the base when it is a copy of this changelog at a place that the changelog still tells from: not
///    ahead of its end, not before its beginning, not older than deletions are kept, of the same lineage. Otherwise it is
///    emptied and the changelog is read from its beginning, which must not have been thrown away.
/// 3. Committed records from there to the end go into the store; the last marker counts. What is left at the end that cannot
///    be read, not replaced and not removed by a later record of its key, refuses.
/// 4. The marker is checked against the input topics: partition count, and whether what comes after it is still there.
///    Without one, no other partition may have a marker of another partition count; then an empty topic begins, one that
///    nothing was ever done with begins at its first record (`Beginning`), and any other begins only as told.
///    A topic that ends before the marker has begun again: in a new life of it, which the next marker names, all offsets are new.
/// 5. The centre begins. Records from the marker's `replay` up to `replayEnd` or its offset are read again: what they finished
///    at once and the changelog was not told is made again, and nothing of it is published.
/// 6. What may have been sent is in doubt (`firedThrough`); everything else waits for its time.
struct Restore {
    /// What is found of a partition.
    struct Result {
        var store: any EntryStore
        /// Where reading each input begins.
        var inputs: PerInput<InputStart>
        /// The offset after the last record of the changelog.
        var stateEnd: Int64
        /// nil when a first one is yet to be written.
        var marker: StateMarker?
        /// As of the changelog, or made now.
        var lineage: String
        /// Records of the changelog that were read.
        var records: Int64
        /// Those of them that were passed over, having no key.
        var keyless: Int64
    }

    /// What it asks before it goes on.
    struct Rules {
        var topics: TopicNames
        /// Of the cluster, for who is told what to do.
        var brokers: [String]
        var partitions: Int32
        var start: ConsumerServiceConfiguration.Start
        var gap: ConsumerServiceConfiguration.Gap
        /// A store that was written longer ago may have missed a deletion, in milliseconds.
        var deletionsKept: Int64
        /// Changes that the stores may be behind, all together.
        var unwritten: Int
    }

    static let brokerDeadline = Duration.seconds(30)

    let rules: Rules
    let logger: Logger
    /// Called now and then with how many offsets of how many were passed.
    let progress: (_ read: Int64, _ of: Int64) -> Void

    /// - Throws: `ConsumerRefusal` when going on would lose or guess something, `KafkaError` and `LaneLinkError` when the broker
    ///   does not answer, and what makes a store unusable.
    func run(
        _ stores: [Int32: any EntryStore],
        over link: some LaneLink,
        at now: Timestamp,
        newLineage: () -> String
    ) throws -> [Int32: Result] {
        let bounds = try link.stateBounds(of: stores.keys.sorted(), within: Self.brokerDeadline)
        var found = ChangelogReplay(
            stores: stores,
            topic: rules.topics.state,
            brokers: rules.brokers,
            unwritten: rules.unwritten,
            progress: progress
        )
        try resume(stores, bounds, at: now, over: link, into: &found)
        try begin(stores, bounds, over: link, into: &found)
        try found.judge()
        // What a store counts is what it has written.
        for (_, store) in stores.sorted(by: { $0.key < $1.key }) { try store.flush() }
        if stores.keys.contains(where: { found[$0].marker == nil }) {
            try Beginning(rules: rules).checkCount(without: stores.keys.sorted(), over: link)
        }
        let starts = try InputStarts(rules: rules, logger: logger).find(
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
                    "records without a key in the changelog are passed over: something else writes to its topic",
                    metadata: [
                        "topic": "\(rules.topics.state)", "partition": "\(number)",
                        "records": "\(found[number].keyless)",
                    ]
                )
            }
        }
        return results
    }

    /// Reads on from where the stores are that are a base; of the others nothing is found.
    private func resume(
        _ stores: [Int32: any EntryStore],
        _ bounds: [Int32: (low: Int64, high: Int64)],
        at now: Timestamp,
        over link: some LaneLink,
        into found: inout ChangelogReplay
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
                deletionsKept: rules.deletionsKept
            ) {
                noteUnused(number, because: reason)
            } else {
                // The record before the position is the marker that the store was written with, or a newer one follows.
                ranges[number] = position.offset - 1..<high
                bases[number] = position
            }
        }
        try found.read(ranges, over: link)
        for (number, base) in bases where found[number].marker?.lineage != base.lineage {
            noteUnused(
                number,
                because: found[number].marker == nil
                    ? "the changelog has no marker after it" : "it is a copy of another changelog"
            )
            found.forget(number)
        }
    }

    private func noteUnused(_ number: Int32, because reason: String) {
        logger.notice(
            "the local store is not used; the changelog is read from its beginning",
            metadata: ["partition": "\(number)", "reason": "\(reason)"]
        )
    }

    /// Reads the changelog from its beginning where nothing was found yet.
    private func begin(
        _ stores: [Int32: any EntryStore],
        _ bounds: [Int32: (low: Int64, high: Int64)],
        over link: some LaneLink,
        into found: inout ChangelogReplay
    ) throws {
        var ranges: [Int32: Range<Int64>] = [:]
        for (number, store) in stores.sorted(by: { $0.key < $1.key }) where found[number].marker == nil {
            try store.discard()
            guard let (low, high) = bounds[number] else { continue }
            if low > 0 {
                guard rules.gap == .continue else {
                    throw ConsumerRefusal.changelogCut(topic: rules.topics.state, partition: number, low: low)
                }
                logger.error(
                    "part of the changelog is lost, and with it pending notifications; going on as configured",
                    metadata: ["partition": "\(number)", "low": "\(low)"]
                )
            }
            ranges[number] = low..<max(low, high)
        }
        try found.read(ranges, over: link)
    }

    /// Why a store is no base; nil when it is one.
    static func refusal(
        of position: StorePosition,
        low: Int64,
        high: Int64,
        at now: Timestamp,
        deletionsKept: Int64
    ) -> String? {
        if position.lineage.isEmpty { return "it was not filled to the end" }
        if position.offset > high { return "it is ahead of the changelog, which was made anew" }
        if position.offset - 1 < low { return "the changelog no longer holds what comes after it" }
        if position.writtenAt < now.adding(milliseconds: -deletionsKept) {
            return "it is older than the changelog keeps deletions"
        }
        return nil
    }
}
