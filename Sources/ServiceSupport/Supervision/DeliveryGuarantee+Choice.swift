package import Kafka

extension DeliveryGuarantee {
    /// The guarantee that was asked for, or else the best that the cluster can give; and why it is that one.
    package static func choose(asked: Self?, on clusterID: String) -> (guarantee: Self, why: String) {
        if let asked { return (asked, "configured") }
        return KafkaMockCluster.isMock(clusterID: clusterID)
            ? (.atLeastOnce, "the embedded broker cannot give more") : (.exactlyOnce, "the default")
    }
}

extension KafkaConsumer {
    /// The id of the cluster.
    ///
    /// Throws `.timedOut`, which is retriable, when the cluster does not say it within two seconds.
    package func clusterID() throws(KafkaError) -> String {
        guard let id = try clusterID(within: .seconds(2)) else {
            throw KafkaError(code: .timedOut, reason: "the cluster does not say its id", isRetriable: true)
        }
        return id
    }
}
