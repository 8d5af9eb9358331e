import Metrics
import NotificationModel

/// The counters of the producer service. Made once: making one takes a lock.
struct ProducerMetrics: Sendable {
    /// Business events by what became of them, counted when they were handled.
    enum Outcome: String, CaseIterable {
        case published, skipped
        case deadLettered = "dead-lettered"
    }

    /// Why a connection to the API was closed that its client had not ended.
    enum Cut: String, CaseIterable {
        /// Nothing happened on it for `http.idle.timeout`.
        case idle
        /// A request took longer than `http.receive.timeout` to arrive.
        case receiveTimeout = "receive-timeout"
        /// The client took nothing of its answers for `http.idle.timeout`.
        case sendTimeout = "send-timeout"
        /// The client did not end after its last answer.
        case stillSending = "still-sending"
    }

    /// Records on `requests` that the broker acknowledged, from rules and from HTTP.
    private let requestsPublished = Counter(label: "carillon_requests_published_total")
    /// Committing, producing or polling failed in a way that made the clients be made anew.
    private let ingestRestarts = Counter(label: "carillon_ingest_restarts_total")
    /// Business events that were read and whose records, or those of an event before them, are not all acknowledged.
    private let ingestWaiting = Gauge(label: "carillon_ingest_waiting_events")
    private let events: [Outcome: Counter]
    private let deadLetters: [ReasonCode: Counter]
    /// Calls by the status of their answer.
    private let httpRequests: [Int: Counter]
    /// Calls that were answered with a problem, by its reason.
    private let httpRefusals: [ReasonCode: Counter]
    /// Connections to the API that are open.
    private let httpConnections = Gauge(label: "carillon_http_connections")
    /// How often a connection had to wait because `http.connections` were open.
    private let httpConnectionsFull = Counter(label: "carillon_http_connections_full_total")
    private let httpConnectionsCut: [Cut: Counter]

    init() {
        events = Self.counters("carillon_business_events_total", "outcome", Outcome.allCases) { $0.rawValue }
        deadLetters = Self.counters("carillon_dead_letters_total", "reason", ReasonCode.allCases) { $0.rawValue }
        let statuses = [200, 202, 400, 401, 403, 404, 405, 408, 413, 414, 415, 417, 422, 431, 500, 503]
        httpRequests = Self.counters("carillon_http_requests_total", "status", statuses) { String($0) }
        httpRefusals = Self.counters("carillon_http_refused_total", "reason", ReasonCode.allCases) { $0.rawValue }
        httpConnectionsCut = Self.counters("carillon_http_connections_cut_total", "cause", Cut.allCases) { $0.rawValue }
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

    func countRequest() {
        requestsPublished.increment()
    }

    func record(ingestWaiting count: Int) {
        ingestWaiting.record(count)
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

    /// A call that is answered with a problem.
    func countRefusal(_ reason: ReasonCode, status: Int) {
        httpRefusals[reason]?.increment()
        countHTTP(status: status)
    }

    func countCut(_ cause: Cut) {
        httpConnectionsCut[cause]?.increment()
    }

    func countFull() {
        httpConnectionsFull.increment()
    }

    func setConnections(_ count: Int) {
        httpConnections.record(count)
    }
}
