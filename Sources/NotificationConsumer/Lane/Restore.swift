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
/// 4. The marker is checked against the topic of requests: partition count, and whether what comes after it is still there.
///    Without one, no other partition may have a marker of another partition count; then an empty topic begins, one that
///    nothing was ever done with begins at its first request (`Beginning`), and any other begins only as told.
///    A topic that ends before the marker has begun again: in a new life of it, which the next marker names, all offsets are new.
/// 5. The centre begins. Requests from the marker's `replay` up to `replayEnd` or its offset are read again: what they finished
///    at once and the changelog was not told is made again, and nothing of it is published.
/// 6. What may have been sent is in doubt (`firedThrough`); everything else waits for its time.
struct Restore {
    /// What is found of a partition.
    struct Result {
        var store: any EntryStore
        /// The next request to read.
        var offset: Int64
        /// Which life of the topic of requests that offset is of.
        var life: Int64
        /// The offset after the last request that the topic held.
        var end: Int64
        /// The offset after the last record of the changelog.
        var stateEnd: Int64
        /// Requests to read again in silence; empty when there are none.
        var replay: Range<Int64>
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
        var requests: String
        var state: String
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
            topic: rules.state,
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
        let held = try link.requestBounds(of: stores.keys.sorted(), within: Self.brokerDeadline)
        let untouched = try untouched(bounds, held, found, over: link)
        var results: [Int32: Result] = [:]
        for (number, store) in stores.sorted(by: { $0.key < $1.key }) {
            let (marker, held) = (found[number].marker, held[number] ?? (0, 0))
            let (offset, isReborn) =
                untouched.contains(number) ? (held.low, false) : try start(of: number, marker, held: held)
            let life = (marker?.lives[rules.requests] ?? 0) + (isReborn ? 1 : 0)
            results[number] = Result(
                store: store,
                offset: offset,
                life: life,
                end: held.high,
                stateEnd: bounds[number]?.high ?? 0,
                replay: replay(of: number, after: marker, from: held.low, to: offset, isReborn: isReborn),
                marker: marker,
                lineage: marker?.lineage ?? newLineage(),
                records: found[number].records,
                keyless: found[number].keyless
            )
            if found[number].keyless > 0 {
                logger.error(
                    "records without a key in the changelog are passed over: something else writes to its topic",
                    metadata: [
                        "topic": "\(rules.state)", "partition": "\(number)", "records": "\(found[number].keyless)",
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
                    throw ConsumerRefusal.changelogCut(topic: rules.state, partition: number, low: low)
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

    // MARK: - The marker

    /// - Returns: the next request to read, and whether the topic has begun again since the marker: its offsets count from the
    ///   start, and nothing that is told of the ones before is of these.
    private func start(
        of partition: Int32,
        _ marker: StateMarker?,
        held: (low: Int64, high: Int64)
    ) throws -> (offset: Int64, isReborn: Bool) {
        guard let marker, let offset = marker.offsets[rules.requests] else {
            return (try startWithoutMarker(of: partition, held: held), false)
        }
        guard marker.partitions == rules.partitions else {
            throw ConsumerRefusal.partitionCountChanged(partition, marker: marker.partitions, now: rules.partitions)
        }
        guard offset >= held.low, offset <= held.high else {
            guard rules.gap == .continue else {
                throw ConsumerRefusal.gap(
                    topic: rules.requests,
                    partition: partition,
                    marker: offset,
                    low: held.low,
                    high: held.high
                )
            }
            let isReborn = offset > held.high
            logger.error(
                isReborn
                    ? "requests before the marker are lost: the topic has begun again, and is read from its beginning as configured"
                    : "requests between the marker and what the topic still holds are lost; going on as configured",
                metadata: [
                    "partition": "\(partition)", "marker": "\(offset)", "low": "\(held.low)", "high": "\(held.high)",
                ]
            )
            return (held.low, isReborn)
        }
        return (offset, false)
    }

    /// Partitions without a marker that begin at their first request.
    private func untouched(
        _ bounds: [Int32: (low: Int64, high: Int64)],
        _ held: [Int32: (low: Int64, high: Int64)],
        _ found: ChangelogReplay,
        over link: some LaneLink
    ) throws -> Set<Int32> {
        guard rules.start == .refuse else { return [] }
        var candidates: [Int32: Beginning.Partition] = [:]
        for (number, requests) in held where found[number].marker == nil && requests.low < requests.high {
            guard let state = bounds[number] else { continue }
            candidates[number] = Beginning.Partition(
                requests: requests,
                stateLow: state.low,
                stateRecords: found[number].records
            )
        }
        let untouched = try Beginning(rules: rules).partitions(candidates, over: link)
        if !untouched.isEmpty {
            logger.notice(
                "nothing was ever done with these partitions: they are read from their first request on",
                metadata: ["partitions": "\(untouched.sorted())"]
            )
        }
        return untouched
    }

    private func startWithoutMarker(of partition: Int32, held: (low: Int64, high: Int64)) throws -> Int64 {
        if held.low == held.high { return held.high }
        switch rules.start {
        case .earliest: return held.low
        case .latest: return held.high
        case .refuse:
            throw ConsumerRefusal.noMarker(
                topic: rules.requests,
                partition: partition,
                records: held.high - held.low
            )
        }
    }

    /// Requests that were finished at once and are not in the changelog yet.
    private func untold(_ marker: StateMarker?) -> Range<Int64> {
        guard let marker, let first = marker.replay[rules.requests], let next = marker.offsets[rules.requests] else {
            return 0..<0
        }
        return first..<max(first, min(marker.replayEnd[rules.requests] ?? next, next))
    }

    /// Those of them that are read again: what the topic still has.
    private func replay(
        of number: Int32,
        after marker: StateMarker?,
        from low: Int64,
        to offset: Int64,
        isReborn: Bool
    ) -> Range<Int64> {
        let untold = untold(marker)
        let first = max(untold.lowerBound, low)
        let replay = isReborn ? 0..<0 : first..<max(first, min(untold.upperBound, offset))
        if replay.count < untold.count {
            logger.error(
                "what became of the last requests before the marker is forgotten, since they are gone: repeats of them are not known",
                metadata: ["partition": "\(number)", "requests": "\(untold.count - replay.count)"]
            )
        }
        return replay
    }
}
