import Kafka
import Logging
import NotificationModel
import ServiceSupport

extension IngestSession {
    /// Asks until the broker names the partitions.
    ///
    /// - Returns: Nil when it was told to stop before that.
    static func waitForTopics(
        _ topics: TopicNames,
        _ lane: KafkaLaneProducer,
        _ health: HealthComponent,
        _ stop: StopSignal,
        _ logger: Logger
    ) -> (requests: Int32, deadLetters: Int32)? {
        var said = ""
        while !stop.isRequested {
            do {
                _ = try lane.partitionCount(of: topics.businessEvents, within: .seconds(2))
                return (
                    try lane.partitionCount(of: topics.requests, within: .seconds(2)),
                    try lane.partitionCount(of: topics.deadLetters, within: .seconds(2))
                )
            } catch {
                let reason = "\(error)"
                health.notReady("waiting for the broker: \(reason)")
                if reason != said {
                    logger.warning("waiting for the broker", metadata: [LogMetadata.error: "\(reason)"])
                    said = reason
                }
                stop.wait(.milliseconds(500))
            }
        }
        return nil
    }
}
