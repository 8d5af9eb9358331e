/// librdkafka's mock cluster, told from a real one: it ignores isolation levels and stores no transactional offsets, so it
/// cannot give what transactions promise.
public enum KafkaMockCluster {
    /// Whether a cluster that calls itself so is a mock one.
    public static func isMock(clusterID: String) -> Bool { clusterID.hasPrefix("mockCluster") }
}
