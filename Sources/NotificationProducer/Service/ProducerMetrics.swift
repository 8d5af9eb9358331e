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
    private let requestsPublished = Counter(label: "carillon_requests_published_total")
    /// Committing, producing or polling failed in a way that made the clients be made anew.
    private let ingestRestarts = Counter(label: "carillon_ingest_restarts_total")
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

    func countRequest() {
        requestsPublished.increment()
    }

    func countIngestRestart() {
        ingestRestarts.increment()
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
