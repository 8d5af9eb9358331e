import Kafka
import NotificationModel
import NotificationState
import ServiceSupport

/// Writes null values under the keys of some records of the changelog, on the calling thread.
struct StateRemoval: Sendable {
    var connection: Connection
    var topic: String
    var places: [RecordPlace]
    /// Whether to remove records that the consumer service can read.
    var isForced: Bool

    private enum Answer {
        case remove(key: [UInt8])
        /// The reason why there is nothing to do.
        case done(String)
    }

    /// - Parameter tell: Receives a line for each record.
    /// - Throws: ``CommandFailure``; then nothing was removed, or the broker did not accept all of it.
    func run(until stop: StopSignal, _ tell: (String) -> Void) throws(CommandFailure) {
        var answers: [RecordPlace: Answer] = [:]
        for (partition, places) in Dictionary(grouping: Set(places), by: \.partition).sorted(by: { $0.key < $1.key }) {
            guard let found = try judge(partition, Set(places.map(\.offset)), stop) else { return }
            answers.merge(found) { $1 }
        }
        var removed: [(RecordPlace, [UInt8])] = []
        for (place, answer) in answers.sorted(by: {
            ($0.key.partition, $0.key.offset) < ($1.key.partition, $1.key.offset)
        }) {
            switch answer {
            case .done(let why): tell("\(topic) \(place) \(why)")
            case .remove(let key): removed.append((place, key))
            }
        }
        guard !removed.isEmpty, !stop.isRequested else { return }
        try write(removed, stop, tell)
    }

    // MARK: Reading

    /// Reads the records, and later records with their keys.
    ///
    /// - Returns: Nil when a stop was requested.
    private func judge(
        _ partition: Int32,
        _ offsets: Set<Int64>,
        _ stop: StopSignal
    ) throws(CommandFailure) -> [RecordPlace: Answer]? {
        var found: [Int64: KafkaConsumerRecord] = [:]
        /// The position of the last record of each key.
        var last: [[UInt8]: Int64] = [:]
        let isRead = try read(partition, from: offsets.min() ?? 0, stop) { record in
            let isWanted = offsets.contains(record.offset)
            if isWanted { found[record.offset] = record }
            if let key = record.key, isWanted || last[key] != nil { last[key] = record.offset }
        }
        guard isRead else { return nil }
        var answers: [RecordPlace: Answer] = [:]
        for offset in offsets {
            guard let place = RecordPlace(argument: "\(partition):\(offset)") else { continue }
            guard let record = found[offset] else {
                throw CommandFailure(
                    "\(topic) \(place): there is no record; compaction deletes replaced and removed records",
                    status: ExitStatus.noInput
                )
            }
            answers[place] = try answer(place, record, last: record.key.flatMap { last[$0] })
        }
        return answers
    }

    private func answer(
        _ place: RecordPlace,
        _ record: KafkaConsumerRecord,
        last: Int64?
    ) throws(CommandFailure) -> Answer {
        guard let key = record.key else {
            throw CommandFailure(
                "\(topic) \(place) has no key, so it cannot be removed; the consumer service ignores it",
                status: ExitStatus.badData
            )
        }
        if let last, last > record.offset {
            return .done("was replaced or removed already, at offset \(last)")
        }
        guard let value = record.value else { return .done("is removed already") }
        guard !isForced else { return .remove(key: key) }
        let kind: String
        do throws(ModelError) {
            if case .marker = try StateRecord(key: key, value: value) {
                kind = "is the position where the consumer service continues"
            } else {
                kind = "is the consumer service's entry of \(Self.text(key))"
            }
        } catch {
            guard error.reason == .unsupportedForm else { return .remove(key: key) }
            kind = "is of a newer version (\(error.detail))"
        }
        throw CommandFailure(
            "\(topic) \(place) \(kind); nothing was removed (--force removes it)",
            status: ExitStatus.badData
        )
    }

    /// Reads every record of a partition from an offset on.
    ///
    /// - Returns: False when a stop was requested.
    private func read(
        _ partition: Int32,
        from offset: Int64,
        _ stop: StopSignal,
        _ take: (KafkaConsumerRecord) -> Void
    ) throws(CommandFailure) -> Bool {
        let place = KafkaTopicPartition(topic: topic, partition: partition)
        var configuration = KafkaConsumerConfiguration(client: connection.client("carillon-state"))
        configuration.client.properties["enable.partition.eof"] = "true"
        let consumer: KafkaConsumer
        do throws(KafkaError) {
            consumer = try KafkaConsumer(configuration: configuration, logger: connection.log.logger("carillon state"))
        } catch {
            throw CommandFailure(error.reason, status: ExitStatus.usage)
        }
        defer { consumer.close(within: .seconds(1)) }
        // On some brokers a request for one topic would create it.
        guard let counts = try connection.asked(until: stop, { try consumer.partitionCounts(within: $0) }) else {
            return false
        }
        guard let count = counts[topic], partition < count else {
            throw CommandFailure(
                "there is no partition \(partition) of \(topic) at \(connection.servers)",
                status: ExitStatus.noInput
            )
        }
        guard let (low, high) = try connection.asked(until: stop, { try consumer.watermarks(of: place, within: $0) })
        else { return false }
        let start = max(low, offset)
        guard start < high else { return true }
        do {
            try consumer.assign([place: start])
            var deadline = ContinuousClock.now + connection.timeout
            while !stop.isRequested {
                if let record = try consumer.poll(within: .milliseconds(100))?.record() {
                    deadline = .now + connection.timeout
                    take(record)
                    if record.offset + 1 >= high { return true }
                } else if let end = consumer.endPosition(of: place), end >= high {
                    return true
                }
                guard ContinuousClock.now < deadline else {
                    throw CommandFailure(
                        "\(topic) \(partition): no record arrived for \(DurationText.write(connection.timeout))",
                        status: ExitStatus.unavailable
                    )
                }
            }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure("\(topic): \(error)", status: ExitStatus.failed)
        }
        return false
    }

    // MARK: Writing

    private func write(
        _ records: [(place: RecordPlace, key: [UInt8])],
        _ stop: StopSignal,
        _ tell: (String) -> Void
    ) throws(CommandFailure) {
        var failure: String?
        do {
            let producer = try KafkaLaneProducer(
                configuration: KafkaProducerConfiguration(
                    client: connection.client("carillon-state"),
                    deliveryTimeout: connection.timeout
                ),
                logger: connection.log.logger("carillon state")
            )
            defer { producer.close(within: .seconds(1)) }
            _ = try connection.asked(until: stop) { try producer.partitionCount(of: topic, within: $0) }
            let handle = try producer.topic(topic)
            for (index, record) in records.enumerated() {
                try producer.enqueue(
                    topic: handle,
                    partition: record.place.partition,
                    key: record.key,
                    value: nil,
                    headers: KafkaHeaderBuffer(),
                    tag: UInt(index)
                )
            }
            let isDone = producer.flush(within: connection.timeout + .seconds(1)) { report in
                let record = records[Int(report.tag)]
                if let error = report.error {
                    failure = failure ?? "\(topic) \(record.place): \(error.reason)"
                } else {
                    tell("\(topic) \(record.place) removed, key \(Self.text(record.key))")
                }
            }
            if !isDone { failure = failure ?? "\(topic): the broker did not acknowledge in time" }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure("\(topic): \(error)", status: ExitStatus.failed)
        }
        if let failure { throw CommandFailure(failure, status: ExitStatus.failed) }
    }

    /// A key as text; percent-encoded if it is not text.
    private static func text(_ key: [UInt8]) -> String {
        if let text = RecordText.readable(key) { return text }
        var out: [UInt8] = []
        PercentEncoding.encode(key, to: &out)
        return String(decoding: out, as: UTF8.self)
    }
}
