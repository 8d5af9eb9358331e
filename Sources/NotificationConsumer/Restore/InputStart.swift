import Logging
import NotificationModel
import NotificationState
import ServiceSupport

/// Where reading an input of a partition begins.
struct InputStart {
    /// The next record to read.
    var offset: Int64
    /// The life of the topic to which that offset belongs.
    var life: Int64
    /// Whether that life began after the marker: the marker's offsets belong to the previous life.
    var isReborn = false
    /// The offset after the last record that the topic held.
    var end: Int64
    /// Records to replay without effects; empty when there are none.
    var replay: Range<Int64> = 0..<0
}

/// Compares the markers of partitions with the input topics, and determines where reading begins: step 4 of `Restore`.
struct InputStarts {
    /// The facts about a partition.
    struct Partition {
        var number: Int32
        var marker: StateMarker?
        /// The offsets of its part of `state`, and the number of committed records read.
        var state: OffsetBounds
        var records: Int64
    }

    let settings: Restore.Settings
    let logger: Logger

    /// - Throws: `ConsumerRefusal` when continuing would lose or guess something; errors of the link.
    func find(_ partitions: [Partition], over link: some LaneLink) throws -> [Int32: PerInput<InputStart>] {
        let places = InputPartition.all(of: partitions.map(\.number))
        let held = try link.inputBounds(of: places, within: Restore.brokerDeadline)
        for partition in partitions { try checkCount(partition) }
        let untouched = try untouched(partitions, held, over: link)
        var starts: [Int32: PerInput<InputStart>] = [:]
        for partition in partitions {
            starts[partition.number] = try PerInput { input in
                let place = InputPartition(input, partition.number)
                let held = held[place] ?? (0, 0)
                guard untouched.contains(place) || isNew(input, to: partition.marker) else {
                    return try start(at: place, partition.marker, held: held)
                }
                return InputStart(offset: held.low, life: 0, end: held.high)
            }
        }
        return starts
    }

    private func checkCount(_ partition: Partition) throws {
        guard let marker = partition.marker, marker.partitions != settings.partitions else { return }
        throw ConsumerRefusal.partitionCountChanged(
            partition.number,
            marker: marker.partitions,
            now: settings.partitions
        )
    }

    private func start(at place: InputPartition, _ marker: StateMarker?, held: OffsetBounds) throws -> InputStart {
        let topic = settings.topics[place.input]
        guard let marker, let offset = marker.offsets[topic] else {
            return InputStart(offset: try startWithoutMarker(at: place, held: held), life: 0, end: held.high)
        }
        var start = InputStart(offset: offset, life: marker.lives[topic] ?? 0, end: held.high)
        if offset < held.low || offset > held.high {
            guard settings.gap == .continue else {
                throw ConsumerRefusal.gap(
                    topic: topic,
                    partition: place.partition,
                    marker: offset,
                    low: held.low,
                    high: held.high
                )
            }
            start.offset = held.low
            start.isReborn = offset > held.high
            if start.isReborn { start.life += 1 }
            logger.error(
                start.isReborn
                    ? "records before the marker are lost: the topic was recreated and is read from its beginning, as configured"
                    : "records between the marker and the start of the topic are lost; continuing as configured",
                metadata: [
                    LogMetadata.topic: "\(topic)", LogMetadata.partition: "\(place.partition)", "marker": "\(offset)",
                    "low": "\(held.low)", "high": "\(held.high)",
                ]
            )
        }
        start.replay = replay(at: place, after: marker, of: start, from: held.low)
        return start
    }

    // MARK: - Without an offset in the marker

    /// Whether the version that wrote the marker did not read this input. Then nothing of it was processed, and it is read
    /// from its first record: records that came before the first request which waits for them change nothing. `requests` was
    /// always read: a marker without it is of a topic with another name.
    private func isNew(_ input: InputTopic, to marker: StateMarker?) -> Bool {
        guard let marker, input != .requests else { return false }
        return marker.offsets[settings.topics[input]] == nil
    }

    /// The partitions to read from their first record, because they were never processed.
    private func untouched(
        _ partitions: [Partition],
        _ held: [InputPartition: OffsetBounds],
        over link: some LaneLink
    ) throws -> Set<InputPartition> {
        guard settings.start == .refuse else { return [] }
        var candidates: [InputPartition: Beginning.Partition] = [:]
        for partition in partitions {
            for input in InputTopic.allCases where partition.marker?.offsets[settings.topics[input]] == nil {
                let place = InputPartition(input, partition.number)
                guard !isNew(input, to: partition.marker), let held = held[place], held.low < held.high else {
                    continue
                }
                // A marker without this input is of a version that did not read it: its state contains nothing of it.
                let isNew = partition.marker != nil
                candidates[place] = Beginning.Partition(
                    input: held,
                    stateLow: isNew ? 0 : partition.state.low,
                    stateRecords: isNew ? 0 : partition.records
                )
            }
        }
        let untouched = try Beginning(settings: settings).partitions(candidates, over: link)
        if !untouched.isEmpty {
            logger.notice(
                "these partitions were never processed: reading them from their first record",
                metadata: [LogMetadata.partitions: "\(Set(untouched.map(\.partition)).sorted())"]
            )
        }
        return untouched
    }

    private func startWithoutMarker(at place: InputPartition, held: OffsetBounds) throws -> Int64 {
        if held.low == held.high { return held.high }
        switch settings.start {
        case .earliest: return held.low
        // Who has which device is state, not work: it is never passed over.
        case .latest: return place.input == .devices || place.input == .tokens ? held.low : held.high
        case .refuse:
            throw ConsumerRefusal.noMarker(
                topic: settings.topics[place.input],
                partition: place.partition,
                records: held.high - held.low
            )
        }
    }

    // MARK: - Reading again

    /// Records that finished at once and are not in the changelog yet, as far as the topic still has them.
    private func replay(
        at place: InputPartition,
        after marker: StateMarker,
        of start: InputStart,
        from low: Int64
    ) -> Range<Int64> {
        let topic = settings.topics[place.input]
        guard let from = marker.replay[topic], let next = marker.offsets[topic] else { return 0..<0 }
        let unlogged = from..<max(from, min(marker.replayEnd[topic] ?? next, next))
        let first = max(unlogged.lowerBound, low)
        let replay = start.isReborn ? 0..<0 : first..<max(first, min(unlogged.upperBound, start.offset))
        if replay.count < unlogged.count {
            logger.error(
                "the last records before the marker are gone, and their outcomes with them: their repeats are not recognized",
                metadata: [
                    LogMetadata.topic: "\(topic)", LogMetadata.partition: "\(place.partition)",
                    LogMetadata.count: "\(unlogged.count - replay.count)",
                ]
            )
        }
        return replay
    }
}
