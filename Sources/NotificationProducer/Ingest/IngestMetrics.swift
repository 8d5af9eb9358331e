import Metrics
import NotificationModel

/// The counters of the producer service. Made once: making one takes a lock.
struct ProducerMetrics: Sendable {
    /// Business events by what became of them, counted when they were handled.
    enum Outcome: String, CaseIterable {
        case published, skipped
        case deadLettered = "dead-lettered"
    }

    /// Records on `requests` that the broker acknowledged, from rules and from HTTP.
    let requestsPublished = Counter(label: "carillon_requests_published_total")
    /// Committing, producing or polling failed in a way that made the clients be made anew.
    let ingestRestarts = Counter(label: "carillon_ingest_restarts_total")
    private let events: [Outcome: Counter]
    private let deadLetters: [ReasonCode: Counter]
    private let httpRequests: [Int: Counter]

    init() {
        events = Dictionary(
            uniqueKeysWithValues: Outcome.allCases.map {
                ($0, Counter(label: "carillon_business_events_total", dimensions: [("outcome", $0.rawValue)]))
            }
        )
        deadLetters = Dictionary(
            uniqueKeysWithValues: ReasonCode.allCases.map {
                ($0, Counter(label: "carillon_dead_letters_total", dimensions: [("reason", $0.rawValue)]))
            }
        )
        let statuses = [200, 202, 400, 404, 405, 413, 415, 422, 500, 503]
        httpRequests = Dictionary(
            uniqueKeysWithValues: statuses.map {
                ($0, Counter(label: "carillon_http_requests_total", dimensions: [("status", String($0))]))
            }
        )
    }

    func count(_ outcome: Outcome) {
        events[outcome]?.increment()
    }

    /// Counted when the broker acknowledged the dead letter.
    func countDeadLetter(_ reason: ReasonCode) {
        deadLetters[reason]?.increment()
    }

    func countHTTP(status: Int) {
        httpRequests[status]?.increment()
    }
}

/// The lag of each assigned partition, for as long as it is assigned.
struct LagGauges {
    private let topic: String
    private var gauges: [Int32: Gauge] = [:]

    init(topic: String) {
        self.topic = topic
    }

    mutating func record(_ lag: Int64, partition: Int32) {
        let gauge =
            gauges[partition]
            ?? Gauge(
                label: "carillon_consumer_lag_records",
                dimensions: [("topic", topic), ("partition", String(partition))]
            )
        gauges[partition] = gauge
        gauge.record(lag)
    }

    mutating func remove(_ partitions: Set<Int32>) {
        for partition in partitions {
            gauges.removeValue(forKey: partition)?.destroy()
        }
    }

    mutating func removeAll() {
        remove(Set(gauges.keys))
    }
}
