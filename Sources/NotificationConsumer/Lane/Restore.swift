import Logging
import NotificationModel

/// Takes over a partition: what is pending comes back, and nothing fires before all of it is known.
///
/// 1. The end of the changelog is taken as a `read_uncommitted` client sees it: a transaction that is open before it will be
///    committed or aborted, and is waited for.
/// 2. The local store is the base when it is a copy of this changelog at a place that the changelog still tells from: not
///    ahead of its end, not before its beginning, not older than deletions are kept, of the same lineage. Otherwise it is
///    emptied and the changelog is read from its beginning, which must not have been thrown away.
/// 3. Committed records from there to the end go into the store; the last marker counts.
/// 4. The marker is checked against the topic of requests: partition count, and whether what comes after it is still there.
///    Without one, an empty topic begins, and any other begins only as told.
/// 5. The centre begins. Requests from the marker's `replay` up to its offset are read again: what they finished at once and the
///    changelog was not told is made again, and nothing of it is published.
/// 6. What may have been sent is in doubt (`firedThrough`); everything else waits for its time.
struct Restore {
    /// What is found.
    struct Result {
        var store: any EntryStore
        /// The next request to read.
        var offset: Int64
        /// nil when a first one is yet to be written.
        var marker: StateMarker?
        /// As of the changelog, or made now.
        var lineage: String
        /// Records of the changelog that were read.
        var records: Int64
    }

    /// What it asks before it goes on.
    struct Rules {
        var requests: String
        var state: String
        var partitions: Int32
        var start: ConsumerServiceConfiguration.Start
        var gap: ConsumerServiceConfiguration.Gap
        /// A store that was written longer ago may have missed a deletion, in milliseconds.
        var deletionsKept: Int64
    }

    static let brokerDeadline = Duration.seconds(30)
    /// Changes given to the store at a time.
    private static let batch = 10_000

    let rules: Rules
    let logger: Logger
    /// Called now and then with how much of how much was read.
    let progress: (_ read: Int64, _ of: Int64) -> Void

    /// - Throws: `ConsumerRefusal` when going on would lose or guess something, `KafkaError` and `LaneLinkError` when the broker
    ///   does not answer, and what makes the store unusable.
    func run(
        _ partition: Int32,
        into store: any EntryStore,
        over link: some LaneLink,
        at now: Timestamp,
        newLineage: () -> String
    ) throws -> Result {
        let (low, high) = try link.stateBounds(of: partition, within: Self.brokerDeadline)
        var (marker, records) = try resume(partition, store, low: low, high: high, over: link, at: now)
        if marker == nil {
            try store.discard()
            if low > 0 {
                guard rules.gap == .continue else {
                    throw ConsumerRefusal.changelogCut(topic: rules.state, partition: partition, low: low)
                }
                logger.error(
                    "part of the changelog is lost, and with it pending notifications; going on as configured",
                    metadata: ["partition": "\(partition)", "low": "\(low)"]
                )
            }
            (marker, records) = try replay(partition, into: store, from: low, to: high, over: link)
        }
        // What the store counts is what it has written.
        do {
            try store.flush()
        } catch EntryStoreError.unwritten(let reason) {
            logger.error("the store cannot be written", metadata: ["partition": "\(partition)", "error": "\(reason)"])
        }
        return Result(
            store: store,
            offset: try startingOffset(of: partition, marker, over: link),
            marker: marker,
            lineage: marker?.lineage ?? newLineage(),
            records: records
        )
    }

    /// Reads on from where the store is.
    ///
    /// - Returns: no marker when the store is no base.
    private func resume(
        _ partition: Int32,
        _ store: any EntryStore,
        low: Int64,
        high: Int64,
        over link: some LaneLink,
        at now: Timestamp
    ) throws -> (StateMarker?, Int64) {
        guard let position = store.position else { return (nil, 0) }
        var reason = Self.refusal(of: position, low: low, high: high, at: now, deletionsKept: rules.deletionsKept)
        if reason == nil {
            // The record before the position is the marker that the store was written with, or a newer one follows.
            let (marker, records) = try replay(partition, into: store, from: position.offset - 1, to: high, over: link)
            if let marker, marker.lineage == position.lineage { return (marker, records) }
            reason = marker == nil ? "the changelog has no marker after it" : "it is a copy of another changelog"
        }
        logger.notice(
            "the local store is not used; the changelog is read from its beginning",
            metadata: ["partition": "\(partition)", "reason": "\(reason ?? "")"]
        )
        return (nil, 0)
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

    // MARK: - Reading the changelog

    private func replay(
        _ partition: Int32,
        into store: any EntryStore,
        from start: Int64,
        to end: Int64,
        over link: some LaneLink
    ) throws -> (StateMarker?, Int64) {
        guard start < end else { return (nil, 0) }
        var marker: StateMarker?
        var position = StorePosition(lineage: "", offset: 0, writtenAt: Timestamp(rawValue: 0))
        var batch: [[UInt8]: StoreChange] = [:]
        var records: Int64 = 0
        func hand() throws {
            try store.write(Array(batch.values), position: position)
            batch.removeAll(keepingCapacity: true)
            // The changelog is read faster than a disk writes.
            if store.unwritten > 4 * Self.batch { try store.flush() }
            progress(records, end - start)
        }
        try link.readState(of: partition, from: start, to: end, stallingAtMost: Self.brokerDeadline) {
            offset,
            key,
            value in
            records += 1
            if key == StateMarker.key {
                guard let value else { return }
                let read = try checked(partition, offset) { () throws(ModelError) in try StateMarker(json: value) }
                marker = read
                position = StorePosition(
                    lineage: read.lineage ?? "",
                    offset: offset + 1,
                    writtenAt: read.wallTime
                )
            } else {
                batch[key] = try checked(partition, offset) { () throws(ModelError) in try change(key, value) }
                if batch.count >= Self.batch { try hand() }
            }
        }
        if marker != nil || !batch.isEmpty { try hand() }
        return (marker, records)
    }

    private func change(_ key: [UInt8], _ value: [UInt8]?) throws(ModelError) -> StoreChange {
        _ = try NotificationKey(encoded: key)
        guard let value else {
            return StoreChange(key: key, value: nil, due: nil, touched: Timestamp(rawValue: 0))
        }
        let head = try StateEntry.head(of: value)
        return StoreChange(key: key, value: value, due: head.due, touched: head.touched)
    }

    private func checked<Value>(
        _ partition: Int32,
        _ offset: Int64,
        _ read: () throws(ModelError) -> Value
    ) throws -> Value {
        do throws(ModelError) {
            return try read()
        } catch {
            guard error.reason == .unsupportedForm else {
                throw ConsumerRefusal.stateUnreadable(
                    topic: rules.state,
                    partition: partition,
                    offset: offset,
                    error.detail
                )
            }
            throw ConsumerRefusal.stateOfNewerForm(
                topic: rules.state,
                partition: partition,
                offset: offset,
                error.detail
            )
        }
    }

    // MARK: - The marker

    private func startingOffset(of partition: Int32, _ marker: StateMarker?, over link: some LaneLink) throws -> Int64 {
        let held = try link.requestBounds(of: partition, within: Self.brokerDeadline)
        guard let marker, let offset = marker.offsets[rules.requests] else {
            return try startWithoutMarker(of: partition, held: held)
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
            logger.error(
                "requests between the marker and what the topic still holds are lost; going on as configured",
                metadata: [
                    "partition": "\(partition)", "marker": "\(offset)", "low": "\(held.low)", "high": "\(held.high)",
                ]
            )
            return offset < held.low ? held.low : held.high
        }
        return offset
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
}
