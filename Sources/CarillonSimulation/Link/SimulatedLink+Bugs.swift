import Kafka
import NotificationConsumer
import NotificationModel

/// Where planted bugs change what a lane asks for; without one everything passes as it is.
extension SimulatedLink {
    private var bugs: Set<PlantedBug> { configuration.bugs }

    /// Whether it notices by itself that it stood still. Where the fence is missing it is to be the only one that could.
    var noticesStanding: Bool { !bugs.contains(.dropsFence) }

    // MARK: - Taking over

    /// Where reading the changelog ends.
    func rewrite(stateEnd end: Int64, from start: Int64) -> Int64 {
        bugs.contains(.firesBeforeRestored) ? max(start + 1, end - 4) : end
    }

    /// Where reading the requests again ends.
    func rewrite(replayEnd end: Int64, from start: Int64) -> Int64 {
        bugs.contains(.skipsReplay) ? start : end
    }

    // MARK: - The checkpoint

    /// nil when nothing is sent.
    func rewrite(offsets: [Int32: Int64]) -> [Int32: Int64]? {
        bugs.contains(.dropsFence) ? nil : offsets
    }

    func publish(_ record: LogRecord, to topic: LaneTopic, _ partition: Int32, tag: UInt) throws(KafkaError) {
        var record = record
        let isMarker = topic == .state && record.key == StateMarker.key
        // What is held back is said to be written, as a producer without acknowledgements does.
        let isHeldBack =
            bugs.contains(.offsetsFirst) && topic == .deliveries
            || bugs.contains(.markerBeforeEntries) && topic == .state && !isMarker
        if isHeldBack {
            heldBack.append((record, topic, partition))
            return pretend(tag, partition)
        }
        if bugs.contains(.forgetsFiredThrough), isMarker, let value = record.value,
            var marker = try? StateMarker(json: value)
        {
            marker.firedThrough = marker.wallTime.adding(milliseconds: -600_000)
            record.value = marker.json
        }
        try producer.enqueue(record, to: topicName(topic), partition, tag: tag)
    }

    /// After the marker is written what was held back follows.
    func noteReport(_ report: KafkaDeliveryReport) {
        guard !heldBack.isEmpty, report.error == nil, !isHeldBackReport(report) else { return }
        let records = heldBack
        heldBack = []
        timeline.add(after: 300_000) { [weak self] in
            guard let self, !isDead, !isClosed else { return }
            for (record, topic, partition) in records {
                try? producer.enqueue(record, to: topicName(topic), partition, tag: Self.heldBackTag)
            }
        }
    }

    static var heldBackTag: UInt { .max }

    func isHeldBackReport(_ report: KafkaDeliveryReport) -> Bool { report.tag == Self.heldBackTag }

    private func pretend(_ tag: UInt, _ partition: Int32) {
        pretended.append(KafkaDeliveryReport(tag: tag, error: nil, partition: partition, offset: -1))
    }

    // MARK: - The end of a transaction

    var trustsUnknownCommit: Bool { bugs.contains(.trustsUnknownCommit) }
    var commitsAborts: Bool { bugs.contains(.commitsInsteadOfAborting) }
}
