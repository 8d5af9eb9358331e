import Kafka
import Logging
import ServiceSupport

/// What the service must know of the cluster before it begins.
struct Cluster: Sendable {
    /// As the cluster calls itself: a copy of its state is of use with no other.
    var id: String
    /// What was asked for, or else what the cluster can.
    var guarantee: DeliveryGuarantee

    /// Without transactions nothing keeps a replaced owner from writing.
    static func warning(of guarantee: DeliveryGuarantee, isEmbedded: Bool) -> String? {
        guard guarantee == .atLeastOnce, !isEmbedded else { return nil }
        return """
            delivery.guarantee at-least-once is for brokers without transactions: nothing fences `state`, so an instance that stood \
            still for longer than the session timeout can overwrite what the next owner of its partitions wrote, and a \
            notification that was cancelled meanwhile can come back; exactly-once has no such gap
            """
    }

    /// Asks until there is an answer; blocking.
    ///
    /// - Returns: nil when asked to stop meanwhile.
    static func ask(
        _ configuration: ConsumerServiceConfiguration,
        _ stop: StopSignal,
        _ health: HealthComponent,
        _ logger: Logger
    ) throws -> Cluster? {
        let consumer = try KafkaConsumer(configuration: configuration.stateConsumer(uncommitted: false), logger: logger)
        defer { consumer.close(within: .seconds(2)) }
        let wait = BrokerWait(health: health, stop: stop, logger: logger)
        guard let id = try wait.until({ try consumer.clusterID() }) else { return nil }
        let (guarantee, why) = DeliveryGuarantee.choose(asked: configuration.guarantee, on: id)
        health.ready()
        logger.info("delivery guarantee: \(guarantee.rawValue)", metadata: ["why": "\(why)"])
        if let warning = Self.warning(of: guarantee, isEmbedded: KafkaMockCluster.isMock(clusterID: id)) {
            logger.warning("\(warning)")
        }
        return Cluster(id: id, guarantee: guarantee)
    }
}
