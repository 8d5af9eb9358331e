/// The keys that only one of the services reads.
///
/// One settings file, or one set of variables, serves both: each passes over what belongs to the other, and an unknown key is one
/// that neither knows. The services do not link each other, so their keys stand here; a test compares them with those that
/// the services declare.
public enum SettingsCatalogue {
    /// Read by the producer service alone.
    public static let producer = [
        "application.default", "http.buffer.records", "http.calls.bytes", "http.connections", "http.deadline",
        "http.events.bytes", "http.headers.bytes", "http.headers.count", "http.host", "http.idle.timeout",
        "http.notification.bytes", "http.port", "http.receive.timeout", "http.removal.identifiers", "http.target.bytes",
        "http.tls.certificate", "http.tls.key", "http.tokens.file", "ingest.buffer.records", "ingest.commit.interval",
        "ingest.group", "rules.file", "topics.businessEvents",
    ]

    /// Read by the consumer service alone.
    public static let consumer = [
        "center.entries", "center.resident.entries", "center.retention", "consumer.checkpoint.entries",
        "consumer.checkpoint.interval", "consumer.group", "consumer.lanes", "consumer.on-gap",
        "consumer.outstanding.records", "consumer.start", "store.deletions.kept", "store.directory", "store.unwritten",
        "topics.deliveries", "topics.state",
    ]
}
