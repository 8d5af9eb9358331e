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

    /// - Returns: Nil when the cluster did not return its id in time.
    func choose(for consumer: KafkaConsumer, _ logger: Logger) throws(KafkaError) -> DeliveryGuarantee? {
        if let chosen { return chosen }
        guard let cluster = try consumer.clusterID(within: .seconds(2)) else { return nil }
        let isMock = KafkaMockCluster.isMock(clusterID: cluster)
        let guarantee: DeliveryGuarantee = isMock ? .atLeastOnce : .exactlyOnce
        let reason = isMock ? "the embedded broker cannot give more" : "the default"
        logger.info("delivery guarantee of ingest: \(guarantee.rawValue)", metadata: ["why": "\(reason)"])
        chosen = guarantee
        return guarantee
    }
}
