import Kafka
import Logging
import ServiceSupport

/// Which guarantee the sessions of one run give: the one that was asked for, or else what the cluster can; chosen and said once.
final class GuaranteeChoice {
    private var chosen: DeliveryGuarantee?

    init(asked: DeliveryGuarantee?) {
        chosen = asked
    }

    /// Throws `.timedOut` when the cluster did not say in time what it is.
    func choose(for consumer: KafkaConsumer, _ logger: Logger) throws(KafkaError) -> DeliveryGuarantee {
        if let chosen { return chosen }
        let (guarantee, why) = DeliveryGuarantee.choose(asked: nil, on: try consumer.clusterID())
        logger.info("delivery guarantee of ingest: \(guarantee.rawValue)", metadata: ["why": "\(why)"])
        chosen = guarantee
        return guarantee
    }
}
