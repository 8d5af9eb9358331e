import Kafka
import Logging
import ServiceSupport

/// What all sessions of one run know of the cluster, asked once: its id, and the guarantee, which is the configured one or the
/// strongest that the cluster supports.
final class GuaranteeChoice {
    private let asked: DeliveryGuarantee?
    private var answer: (clusterID: String, guarantee: DeliveryGuarantee)?

    init(asked: DeliveryGuarantee?) {
        self.asked = asked
    }

    /// Asks until the broker answers, and logs the choice.
    ///
    /// - Returns: Nil when the stop was requested before.
    func choose(
        on client: KafkaClientConfiguration,
        _ wait: BrokerWait,
        _ logger: Logger
    ) throws -> (clusterID: String, guarantee: DeliveryGuarantee)? {
        if let answer { return answer }
        let consumer = try KafkaConsumer(configuration: .init(client: client), logger: logger)
        defer { consumer.close(within: .seconds(1)) }
        guard let id = try wait.until({ try consumer.clusterID() }) else { return nil }
        let (guarantee, why) = DeliveryGuarantee.choose(asked: asked, on: id)
        logger.info("delivery guarantee of ingest: \(guarantee.rawValue)", metadata: [LogMetadata.reason: "\(why)"])
        answer = (id, guarantee)
        return answer
    }
}
