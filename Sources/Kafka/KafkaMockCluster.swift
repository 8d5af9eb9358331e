/// Recognizes librdkafka's mock cluster. It ignores isolation levels and stores no transactional offsets, so it cannot
/// provide transactional guarantees.
public enum KafkaMockCluster {
    /// Whether a cluster with this id is a mock cluster.
    public static func isMock(clusterID: String) -> Bool { clusterID.hasPrefix("mockCluster") }

    /// Properties that make a consumer fast on a mock cluster: it does not wake a waiting fetch, and a member that joins a
    /// group again waits until the session of its former self ends.
    public static let consumerProperties = [
        "fetch.wait.max.ms": "10",
        "session.timeout.ms": "6000",
        "heartbeat.interval.ms": "500",
    ]
}
