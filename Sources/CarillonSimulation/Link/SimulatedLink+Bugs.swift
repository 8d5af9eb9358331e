import Kafka
import NotificationConsumer
import NotificationModel

/// Where planted bugs change what a lane asks for; without one everything passes as it is.
extension SimulatedLink {
    private var bugs: Set<PlantedBug> { configuration.bugs }

    func rewrite(start: Int64?, of partition: Int32) -> Int64 {
        if bugs.contains(.resumesFromGroup), let committed = broker.group.committed(partition) { return committed }
        return start ?? 0
    }

    func rewrite(stateBounds partition: Int32) -> (low: Int64, high: Int64) {
        let log = broker.log(configuration.topics.state, partition)
        return (log.start, bugs.contains(.stopsAtLastStable) ? log.lastStable : log.end)
    }

    /// nil when nothing is sent.
    func rewrite(offsets: [Int32: Int64]) -> [Int32: Int64]? {
        bugs.contains(.dropsFence) ? nil : offsets
    }

    func publish(_ record: LogRecord, to topic: LaneTopic, _ partition: Int32, tag: UInt) throws(KafkaError) {
        try producer.enqueue(record, to: topicName(topic), partition, tag: tag)
    }
}
