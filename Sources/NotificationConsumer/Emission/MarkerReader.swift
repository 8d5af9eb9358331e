import Kafka
import Logging
import NotificationModel

/// Finds where a partition goes on: the last marker in `state`, checked against what the inputs still hold.
///
/// Blocking; used on the lane's own thread when a partition is assigned.
struct MarkerReader {
    let configuration: ConsumerServiceConfiguration
    let topics: TopicNames
    let partitions: Int32
    let logger: Logger

    /// How many records at the end of `state` are looked at first: the marker is written again and again.
    private static let tail: Int64 = 1000
    private static let deadline = Duration.seconds(30)

    /// Where a partition goes on.
    struct Position {
        /// The next offset to read.
        var offset: Int64
        /// False when a marker is yet to be written.
        var isMarked: Bool
    }

    /// Where each partition of `requests` goes on.
    ///
    /// - Throws: `ConsumerRefusal` when going on would lose or guess something; `KafkaError` when the broker does not answer.
    func positions(of places: Set<KafkaTopicPartition>) throws -> [KafkaTopicPartition: Position] {
        let consumer = try KafkaConsumer(configuration: configuration.stateConsumer, logger: logger)
        defer { consumer.close(within: .seconds(5)) }
        var positions: [KafkaTopicPartition: Position] = [:]
        for place in places { positions[place] = try position(of: place.partition, with: consumer) }
        return positions
    }

    private func position(of partition: Int32, with consumer: KafkaConsumer) throws -> Position {
        let input = KafkaTopicPartition(topic: topics.requests, partition: partition)
        let held = try consumer.watermarks(of: input, within: Self.deadline)
        guard let marker = try marker(of: partition, with: consumer) else {
            return Position(offset: try startWithoutMarker(of: partition, held: held), isMarked: false)
        }
        guard marker.partitions == partitions else {
            throw ConsumerRefusal.partitionCountChanged(partition, marker: marker.partitions, now: partitions)
        }
        guard let offset = marker.offsets[topics.requests] else {
            return Position(offset: try startWithoutMarker(of: partition, held: held), isMarked: false)
        }
        guard offset >= held.low, offset <= held.high else {
            guard configuration.gap == .continue else {
                throw ConsumerRefusal.gap(input, marker: offset, low: held.low, high: held.high)
            }
            logger.error(
                "requests between the marker and what the topic still holds are lost; going on as configured",
                metadata: [
                    "partition": "\(partition)", "marker": "\(offset)", "low": "\(held.low)", "high": "\(held.high)",
                ]
            )
            return Position(offset: offset < held.low ? held.low : held.high, isMarked: true)
        }
        return Position(offset: offset, isMarked: true)
    }

    private func startWithoutMarker(of partition: Int32, held: (low: Int64, high: Int64)) throws -> Int64 {
        if held.low == held.high { return held.high }
        switch configuration.start {
        case .earliest: return held.low
        case .latest: return held.high
        case .refuse:
            throw ConsumerRefusal.noMarker(topic: topics.requests, partition: partition, records: held.high - held.low)
        }
    }

    private func marker(of partition: Int32, with consumer: KafkaConsumer) throws -> StateMarker? {
        let place = KafkaTopicPartition(topic: topics.state, partition: partition)
        let (low, high) = try consumer.watermarks(of: place, within: Self.deadline)
        guard high > low else { return nil }
        let near = max(low, high - Self.tail)
        if let marker = try lastMarker(in: place, from: near, to: high, with: consumer) { return marker }
        return near > low ? try lastMarker(in: place, from: low, to: near, with: consumer) : nil
    }

    private func lastMarker(
        in place: KafkaTopicPartition,
        from start: Int64,
        to end: Int64,
        with consumer: KafkaConsumer
    ) throws -> StateMarker? {
        try consumer.assign([place: start])
        var found: StateMarker?
        var deadline = ContinuousClock.now.advanced(by: Self.deadline)
        while true {
            guard let message = try consumer.poll(within: .milliseconds(100)) else {
                guard ContinuousClock.now < deadline else {
                    throw ConsumerRefusal.stateUnreadable(place)
                }
                continue
            }
            deadline = ContinuousClock.now.advanced(by: Self.deadline)
            if message.key() == Emission.markerKey, let value = message.value() {
                found = try StateMarker(json: value)
            }
            if message.offset >= end - 1 { return found }
        }
    }
}

/// Why the consumer service does not start, and what to do: going on would lose something or guess.
enum ConsumerRefusal: Error, Equatable, CustomStringConvertible {
    case noMarker(topic: String, partition: Int32, records: Int64)
    case gap(KafkaTopicPartition, marker: Int64, low: Int64, high: Int64)
    case partitionCountChanged(Int32, marker: Int32, now: Int32)
    case partitionCountsDiffer(requests: Int32, state: Int32)
    case stateUnreadable(KafkaTopicPartition)

    var description: String {
        switch self {
        case .noMarker(let topic, let partition, let records):
            "partition \(partition) of \(topic) holds \(records) records and `state` has no marker for it: "
                + "set `consumer.start` to `earliest` to read them all or to `latest` to leave them"
        case .gap(let place, let marker, let low, let high):
            "the marker of \(place.topic) partition \(place.partition) is at \(marker), the topic holds \(low) to \(high): "
                + "requests are missing; set `consumer.gap` to `continue` to go on without them"
        case .partitionCountChanged(let partition, let marker, let now):
            "the marker of partition \(partition) was written with \(marker) partitions, `requests` has \(now): "
                + "recipients would move; copy the topics to new ones with the new count instead"
        case .partitionCountsDiffer(let requests, let state):
            "`requests` has \(requests) partitions and `state` \(state): make them equal"
        case .stateUnreadable(let place):
            "partition \(place.partition) of \(place.topic) could not be read to its end"
        }
    }
}
