/// Recognizes librdkafka's mock cluster. It ignores isolation levels and stores no transactional offsets, so it cannot
/// provide transactional guarantees.
public enum KafkaMockCluster {
    /// Whether a cluster with this id is a mock cluster.
    public static func isMock(clusterID: String) -> Bool { clusterID.hasPrefix("mockCluster") }
}
