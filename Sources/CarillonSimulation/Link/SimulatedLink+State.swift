import Kafka
import NotificationConsumer
import NotificationModel
import NotificationState
import ServiceSupport

extension SimulatedLink {
    func inputBounds(
        of partitions: [InputPartition],
        within time: Duration
    ) throws -> [InputPartition: OffsetBounds] {
        try ask(.bounds, within: time) { () throws(KafkaError) in
            Dictionary(
                uniqueKeysWithValues: partitions.map { ($0, bounds(configuration.topics[$0.input], $0.partition)) }
            )
        }
    }

    func committedOffsets(of partitions: [InputPartition], within time: Duration) throws -> InputOffsets {
        try awaitCoordinator(within: time)
        return try ask(.bounds, within: time) { () throws(KafkaError) in
            Dictionary(
                uniqueKeysWithValues: partitions.compactMap { partition in
                    committed(partition).map { (partition, $0) }
                }
            )
        }
    }

    func committed(_ partition: InputPartition) -> Int64? { group.committed(place(partition)) }

    func place(_ partition: InputPartition) -> KafkaTopicPartition {
        KafkaTopicPartition(topic: configuration.topics[partition.input], partition: partition.partition)
    }

    func lag(of partition: InputPartition, after position: Int64) -> Int64? {
        guard !isDead, !isClosed else { return nil }
        let log = log(partition)
        return log.read(from: max(position, log.start), to: log.end, committed: true, atMost: 1).records.isEmpty
            ? 0 : log.end - position
    }

    func countPartitions(within time: Duration) throws -> PartitionCounts {
        try ask(.bounds, within: time) { () throws(KafkaError) in
            PartitionCounts(state: broker.partitionCount(of: configuration.topics.state)) { input in
                broker.partitionCount(of: configuration.topics[input])
            }
        }
    }

    func stateBounds(of partitions: [Int32], within time: Duration) throws -> [Int32: OffsetBounds] {
        let state = configuration.topics.state
        let found = try ask(.bounds, within: time) { () throws(KafkaError) in
            partitions.map { ($0, bounds(state, $0)) }
        }
        return Dictionary(uniqueKeysWithValues: found.map { ($0, rewrite(stateBounds: $1, of: $0)) })
    }

    func bounds(_ topic: String, _ partition: Int32) -> OffsetBounds {
        let log = broker.log(topic, partition)
        return (log.start, log.end)
    }

    func endReadingState() {}

    func readState(
        of ranges: [Int32: Range<Int64>],
        stallingAtMost time: Duration,
        _ apply: (_ partition: Int32, _ offset: Int64, _ key: [UInt8]?, _ value: [UInt8]?) throws -> Void
    ) throws {
        let isCommitted = !configuration.bugs.contains(.readsUncommitted)
        for (partition, range) in ranges.sorted(by: { $0.key < $1.key }) {
            let (start, end) = (range.lowerBound, rewrite(stateEnd: range.upperBound, from: range.lowerBound))
            try read(configuration.topics.state, partition, from: start, to: end, isCommitted, stallingAtMost: time) {
                record in
                guard !leavesOut(stateKey: record.key) else { return }
                try apply(
                    partition,
                    record.offset,
                    record.key,
                    record.value.map { rewrite(stateValue: $0, of: record.key) }
                )
            }
        }
    }

    func readInputs(
        of ranges: [InputPartition: Range<Int64>],
        stallingAtMost time: Duration,
        _ apply: (Intake.Record) throws -> Void
    ) throws {
        for (partition, range) in ranges.sorted(by: { $0.key < $1.key }) {
            let (start, end) = (range.lowerBound, rewrite(replayEnd: range.upperBound, from: range.lowerBound))
            let topic = configuration.topics[partition.input]
            try read(topic, partition.partition, from: start, to: end, true, stallingAtMost: time) {
                record in
                guard !leavesOut(record) else { return }
                try apply(Self.input(rewrite(input: record, of: partition), of: partition))
            }
        }
    }

    private func read(
        _ topic: String,
        _ partition: Int32,
        from offset: Int64,
        to end: Int64,
        _ isCommitted: Bool,
        stallingAtMost time: Duration,
        _ apply: (LogRecord) throws -> Void
    ) throws {
        var position = offset
        while position < end {
            let (records, reached) = try ask(.readState, within: time) { () throws(KafkaError) in
                let log = broker.log(topic, partition)
                guard position >= log.start, position <= log.end else { throw .offsetOutOfRange }
                return log.read(from: position, to: end, committed: isCommitted, atMost: 50)
            }
            for record in records { try apply(record) }
            if reached == position {
                pass(time.microseconds) { broker.log(topic, partition).lastStable > position }
                try checkAlive()
                guard broker.log(topic, partition).lastStable > position else {
                    throw LaneLinkError.stalled(partition: partition, at: position, end: end)
                }
            }
            position = reached
        }
    }

    static func input(_ record: LogRecord, of partition: InputPartition) -> Intake.Record {
        func header(_ name: String) -> [UInt8]? { record.headers.last { $0.name == name }?.value }
        return Intake.Record(
            partition.input,
            partition: partition.partition,
            offset: record.offset,
            timestamp: record.timestamp,
            key: record.key,
            value: record.value,
            trace: CarriedTrace(traceparent: header("traceparent"), tracestate: header("tracestate")),
            signal: partition.input == .signals ? SignalHeaders(record.headers) : .init()
        )
    }
}
