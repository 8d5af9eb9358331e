import Kafka
import Logging
import ServiceSupport

/// What the service must know about the cluster before it starts.
struct Cluster: Sendable {
    /// The cluster's own id: a copy of its state is only valid for this cluster.
    var id: String
    /// The configured guarantee, or else the strongest that the cluster supports.
    var guarantee: DeliveryGuarantee

    /// Without transactions nothing prevents a replaced owner from writing.
    static func warning(of guarantee: DeliveryGuarantee, isEmbedded: Bool) -> String? {
        guard guarantee == .atLeastOnce, !isEmbedded else { return nil }
        return """
            delivery.guarantee at-least-once is for brokers without transactions: nothing fences `state`, so an instance that was \
            suspended for longer than the session timeout can overwrite changes of the next owner of its partitions, and a \
            notification that was cancelled meanwhile can come back; use exactly-once to prevent this
            """
    }

    /// Asks the cluster until it answers; blocking.
    ///
    /// - Returns: nil when a stop is requested meanwhile.
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
        logger.info("delivery guarantee: \(guarantee.rawValue)", metadata: [LogMetadata.reason: "\(why)"])
        if let warning = Self.warning(of: guarantee, isEmbedded: KafkaMockCluster.isMock(clusterID: id)) {
            logger.warning("\(warning)")
        }
        return Cluster(id: id, guarantee: guarantee)
    }
}
