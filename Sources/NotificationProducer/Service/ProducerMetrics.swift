import Kafka
import Metrics
import NotificationModel
import ServiceHTTP
import ServiceSupport

/// The metrics of the producer service. Created once: creating a handle takes a lock.
package struct ProducerMetrics: Sendable {
    /// A change of this process's partitions.
    enum Rebalance: String, CaseIterable {
        case assigned, revoked, lost
    }

    private let requestsPublished = Counter(label: "carillon_requests_published_total")
    /// What payloads of APNs in requests say and contents do not.
    let unsaid = UnsaidMembers(Counter(label: UnsaidMembers.metric))
    private let ingestRestarts = Counter(label: "carillon_ingest_restarts_total")
    private let ingestWaiting = Gauge(label: "carillon_ingest_waiting_events")
    private let lastCommit = Gauge(label: "carillon_ingest_commit_success_timestamp_seconds")
    /// Counted when the event was handled.
    private let events: [EventOutcome: Counter]
    private let rebalances: [Rebalance: Counter]
    private let deadLetters: [ReasonCode: Counter]
    /// The API's connections and responses.
    let http = ConnectionMetrics(
        name: "http",
        statuses: [200, 202, 400, 401, 403, 404, 405, 408, 413, 414, 415, 417, 422, 431, 500, 501, 503],
        reasons: [
            .invalid, .unknownField, .unknownTrigger, .tooLarge, .notUTF8, .unsupportedForm, .notFound,
            .methodNotAllowed,
            .unsupportedMediaType, .unauthenticated, .forbidden, .receiveTimeout, .overloaded, .unavailable,
            .internalError, .inFuture,
        ]
    )

    /// The reasons for dead letters. Any other one appears after its first use.
    private static let deadLetterReasons: [ReasonCode] = [
        .invalid, .unknownField, .unknownTrigger, .tooLarge, .notUTF8, .unsupportedForm, .noRule, .missingVariable,
        .tooManyRecipients, .forbidden,
    ]

    package init() {
        events = Self.counters("carillon_business_events_total", "outcome", EventOutcome.allCases) { $0.rawValue }
        rebalances = Self.counters("carillon_consumer_rebalances_total", "event", Rebalance.allCases) { $0.rawValue }
        deadLetters = Self.counters("carillon_dead_letters_total", "reason", Self.deadLetterReasons) { $0.rawValue }
    }

    private static func counters<Value: Hashable>(
        _ label: String,
        _ dimension: String,
        _ values: [Value],
        _ text: (Value) -> String
    ) -> [Value: Counter] {
        Dictionary(
            uniqueKeysWithValues: values.map { ($0, Counter(label: label, dimensions: [(dimension, text($0))])) }
        )
    }

    /// Describes each metric, and shows those counted elsewhere.
    static func describe(_ registry: PrometheusRegistry) {
        for (name, help) in descriptions + ConnectionMetrics.descriptions(name: "http") {
            registry.describe(name, help)
        }
        registry.collect { page in
            for (code, count) in KafkaClientErrors.counts {
                page.counter(
                    "kafka.client.errors",
                    help: "Errors reported by the Kafka client library, by code; it recovers from most.",
                    value: Double(count),
                    labels: [("code", code)]
                )
            }
        }
    }

    private static let descriptions = [
        (
            "requests.published",
            "Records on the topic of requests that the broker acknowledged, from rules and from HTTP."
        ),
        (UnsaidMembers.metric, UnsaidMembers.help),
        ("ingest.restarts", "How often reading business events failed and restarted with new clients."),
        ("ingest.waiting.events", "Business events with records that are not acknowledged yet."),
        (
            "ingest.commit.success.timestamp.seconds",
            "When offsets of business events were last committed, in seconds since 1970; 0 before."
        ),
        ("business.events", "Business events read from their topic, by outcome."),
        ("consumer.rebalances", "How often the group gave partitions to this process or took them, by what happened."),
        ("consumer.lag.records", "Records behind the end of the partition."),
        ("dead.letters", "Records that could not be used, by reason."),
        ("rules.reloads", "Reloads of the rule file, by outcome."),
        ("rules.reload.success.timestamp.seconds", "When the rules in force were read, in seconds since 1970."),
    ]

    func countRequest() {
        requestsPublished.increment()
    }

    func record(ingestWaiting count: Int) {
        ingestWaiting.record(count)
    }

    func record(committedAt time: Timestamp) {
        lastCommit.record(Double(time.rawValue) / 1_000)
    }

    func countIngestRestart() {
        ingestRestarts.increment()
    }

    func count(_ outcome: EventOutcome) {
        events[outcome]?.increment()
    }

    func count(_ rebalance: Rebalance) {
        rebalances[rebalance]?.increment()
    }

    /// Counted when the broker has acknowledged the dead letter.
    func countDeadLetter(_ reason: ReasonCode) {
        let counter =
            deadLetters[reason]
            ?? Counter(label: "carillon_dead_letters_total", dimensions: [("reason", reason.rawValue)])
        counter.increment()
    }
}
