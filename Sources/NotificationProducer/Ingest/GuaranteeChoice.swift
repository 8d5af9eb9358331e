import Kafka
import Logging
import ServiceSupport

/// The guarantee of all sessions of one run: the configured one, or the strongest that the cluster supports; chosen and
/// logged once.
final class GuaranteeChoice {
    private var chosen: DeliveryGuarantee?

    init(asked: DeliveryGuarantee?) {
        chosen = asked
    }

    /// Throws `.timedOut` when the cluster did not return its id in time.
    func choose(for consumer: KafkaConsumer, _ logger: Logger) throws(KafkaError) -> DeliveryGuarantee {
        if let chosen { return chosen }
        let (guarantee, why) = DeliveryGuarantee.choose(asked: nil, on: try consumer.clusterID())
        logger.info("delivery guarantee of ingest: \(guarantee.rawValue)", metadata: [LogMetadata.reason: "\(why)"])
        chosen = guarantee
        return guarantee
    }
}
