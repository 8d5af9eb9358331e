import Kafka
import LocalBroker
import NotificationModel
import ServiceSupport

/// Reads the partitions of a topic, without a group, on the calling thread.
struct TopicReader: Sendable {
    enum Start: Hashable, Sendable {
        case beginning
        /// Only new records.
        case end
        /// In each partition from the first record that is not older. Older ones may follow it.
        case since(Timestamp)
        /// Only these records, and those between them: give it a filter.
        case places(Set<RecordPlace>)
    }

    var connection: Connection
    var topic: String
    var start: Start
    /// Waits for more at the end; otherwise ends at the end position of the start.
    var follows: Bool
    /// Only the partition of this recipient; nil for all.
    var recipient: String?

    /// Reads until a stop is requested, or the end.
    ///
    /// - Parameters:
    ///   - isWanted: Whether a record is copied and passed on.
    ///   - take: Receives each of these; false ends reading.
    /// - Throws: ``CommandFailure``.
    func read(
        until stop: StopSignal,
        where isWanted: (borrowing KafkaMessage) -> Bool = { _ in true },
        _ take: (KafkaConsumerRecord) -> Bool
    ) throws(CommandFailure) {
        guard let cursor = try cursor(until: stop) else { return }
        while !stop.isRequested {
            switch try cursor.next(within: .milliseconds(100), where: isWanted) {
            case .record(let record): guard take(record) else { return }
            case .nothingYet: continue
            case .end: return
            }
        }
    }

    /// Begins to read.
    ///
    /// - Returns: Nil when a stop was requested before an answer.
    func cursor(until stop: StopSignal) throws(CommandFailure) -> TopicCursor? {
        let consumer = try consumer()
        do throws(CommandFailure) {
            if let plan = try plan(consumer, stop) {
                return try TopicCursor(self, consumer, from: plan.starts, to: plan.ends)
            }
        } catch {
            consumer.close(within: .seconds(1))
            throw error
        }
        consumer.close(within: .seconds(1))
        return nil
    }

    private func consumer() throws(CommandFailure) -> KafkaConsumer {
        var configuration = KafkaConsumerConfiguration(client: connection.client("carillon-tail"))
        // The embedded broker answers a waiting fetch only after its timeout; a real one answers at once in any case.
        var usual = ["fetch.wait.max.ms": "50"]
        // Whenever librdkafka has read so far ahead it pauses for a second; by default that is every 100,000 records.
        if !follows { usual.merge(["queued.min.messages": "1000000", "queued.max.messages.kbytes": "262144"]) { $1 } }
        configuration.client.properties.merge(usual) { own, _ in own }
        configuration.client.properties["enable.partition.eof"] = "true"
        do throws(KafkaError) {
            return try KafkaConsumer(configuration: configuration, logger: connection.log.logger("carillon tail"))
        } catch {
            // librdkafka accepts all other properties: only an option or the environment can be wrong.
            throw CommandFailure(error.reason, status: ExitStatus.usage)
        }
    }

    // MARK: Start and end positions

    private struct Plan {
        var starts: [KafkaTopicPartition: Int64]
        /// The end positions of the partitions with records to read.
        var ends: [KafkaTopicPartition: Int64]
    }

    /// Nil when a stop was requested before an answer.
    private func plan(_ consumer: KafkaConsumer, _ stop: StopSignal) throws(CommandFailure) -> Plan? {
        guard let places = try partitions(consumer, stop) else { return nil }
        var plan = Plan(starts: [:], ends: [:])
        var lows: [KafkaTopicPartition: Int64] = [:]
        for place in places {
            let asked = try connection.asked(until: stop) { try consumer.watermarks(of: place, within: $0) }
            guard let marks = asked else { return nil }
            // Resolve the end now, so that records published before the first fetch are not skipped.
            (plan.starts[place], plan.ends[place], lows[place]) = (marks.high, marks.high, marks.low)
        }
        switch start {
        case .end, .places: break
        case .beginning:
            for (place, low) in lows { plan.starts[place] = low }
        case .since(let instant):
            guard let found = try offsets(consumer, Set(places), since: instant, lows, stop) else { return nil }
            plan.starts.merge(found) { _, found in found }
        }
        if case .places(let wanted) = start {
            let offsets = Dictionary(grouping: wanted) { KafkaTopicPartition(topic: topic, partition: $0.partition) }
                .mapValues { $0.map(\.offset) }
            plan.starts = plan.starts.filter { offsets[$0.key] != nil }
            for place in plan.starts.keys {
                let (low, high) = (offsets[place]?.min() ?? 0, offsets[place]?.max() ?? 0)
                plan.starts[place] = max(low, lows[place] ?? 0)
                plan.ends[place] = min(plan.ends[place] ?? 0, high == .max ? high : high + 1)
            }
        }
        plan.ends = plan.ends.filter { place, end in plan.starts[place].map { $0 < end } ?? false }
        return plan
    }

    private func partitions(
        _ consumer: KafkaConsumer,
        _ stop: StopSignal
    ) throws(CommandFailure) -> [KafkaTopicPartition]? {
        // On some brokers a request for one topic would create it.
        let asked = try connection.asked(until: stop) { try consumer.partitionCounts(within: $0) }
        guard let counts = asked else { return nil }
        guard let count = counts[topic], count > 0 else {
            throw CommandFailure(
                "there is no topic \(topic) at \(connection.servers), or it may not be read",
                status: ExitStatus.noInput
            )
        }
        guard let recipient else { return (0..<count).map { KafkaTopicPartition(topic: topic, partition: $0) } }
        let own = KafkaPartitioner.partition(forKey: Array(recipient.utf8), count: count)
        return [KafkaTopicPartition(topic: topic, partition: own)]
    }

    private func offsets(
        _ consumer: KafkaConsumer,
        _ places: Set<KafkaTopicPartition>,
        since instant: Timestamp,
        _ lows: [KafkaTopicPartition: Int64],
        _ stop: StopSignal
    ) throws(CommandFailure) -> [KafkaTopicPartition: Int64]? {
        let cluster = try connection.asked(until: stop) { try consumer.clusterID(within: $0) }
        // It cannot look up offsets by time; the output filters older records.
        if let cluster, let id = cluster, LocalBroker.isEmbedded(clusterID: id) { return lows }
        return try connection.asked(until: stop) { within in
            try consumer.offsets(of: places, since: max(0, instant.rawValue), within: within)
        }
    }
}
