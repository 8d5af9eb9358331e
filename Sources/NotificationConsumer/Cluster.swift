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
        while !stop.isRequested {
            guard let id = try consumer.clusterID(within: .seconds(1)) else {
                health.notReady("waiting for the broker: it did not say what cluster it is of")
                continue
            }
            let isMock = KafkaMockCluster.isMock(clusterID: id)
            let guarantee = configuration.guarantee ?? (isMock ? .atLeastOnce : .exactlyOnce)
            let why =
                configuration.guarantee != nil
                ? "configured" : isMock ? "the embedded broker cannot give more" : "the default"
            health.ready()
            logger.info("delivery guarantee: \(guarantee.rawValue)", metadata: ["why": "\(why)"])
            if let warning = Self.warning(of: guarantee, isEmbedded: isMock) { logger.warning("\(warning)") }
            return Cluster(id: id, guarantee: guarantee)
        }
        return nil
    }
}
