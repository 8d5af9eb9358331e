package import CoreMetrics
import Metrics
package import NotificationModel

/// What one HTTP interface counts of its connections and answers. Made once: making a handle takes a lock.
package struct ConnectionMetrics: Sendable {
    /// Why a connection was closed that its client had not ended.
    enum Cut: String, CaseIterable {
        /// Nothing happened on it for the idle timeout.
        case idle
        /// A request took longer to arrive than it may.
        case receiveTimeout = "receive-timeout"
        /// The client took nothing of its answers for the idle timeout.
        case sendTimeout = "send-timeout"
        /// The client did not end after its last answer.
        case stillSending = "still-sending"
    }

    private let name: String
    private let factory: any MetricsFactory
    private let requests: [Int: Counter]
    private let refused: [ReasonCode: Counter]
    private let connections: Gauge
    private let full: Counter
    private let cut: [Cut: Counter]
    private let acceptFailures: Counter

    /// Makes `carillon_<name>_requests_total` by status, `…_refused_total` by reason, `…_connections`,
    /// `…_connections_full_total`, `…_connections_cut_total` by cause and `…_accept_failures_total`.
    ///
    /// - Parameters:
    ///   - name: `http` or `ops`.
    ///   - statuses: Those that the interface answers; another one is shown when it was answered.
    ///   - reasons: Those of its problems; another one is shown when it was given.
    ///   - factory: Where they are shown; the process-wide system if not given.
    package init(
        name: String,
        statuses: [Int],
        reasons: [ReasonCode],
        factory: any MetricsFactory = MetricsSystem.factory
    ) {
        self.name = name
        self.factory = factory
        func counter(_ metric: String, _ labels: [(String, String)] = []) -> Counter {
            Self.counter(name, metric, labels, factory)
        }
        requests = Dictionary(uniqueKeysWithValues: statuses.map { ($0, counter("requests", [("status", "\($0)")])) })
        refused = Dictionary(
            uniqueKeysWithValues: reasons.map { ($0, counter("refused", [("reason", $0.rawValue)])) }
        )
        cut = Dictionary(
            uniqueKeysWithValues: Cut.allCases.map { ($0, counter("connections_cut", [("cause", $0.rawValue)])) }
        )
        connections = Gauge(label: "carillon_\(name)_connections", factory: factory)
        full = counter("connections_full")
        acceptFailures = counter("accept_failures")
    }

    private static func counter(
        _ name: String,
        _ metric: String,
        _ labels: [(String, String)],
        _ factory: any MetricsFactory
    ) -> Counter {
        Counter(label: "carillon_\(name)_\(metric)_total", dimensions: labels, factory: factory)
    }

    /// What each of them is, by its name.
    package static func descriptions(name: String) -> [(name: String, help: String)] {
        [
            ("requests", "Calls by the status of their answer."),
            ("refused", "Calls that were answered with a problem, by its reason."),
            ("connections", "Connections that are open."),
            ("connections_full", "How often a connection had to wait because as many were open as may be."),
            ("connections_cut", "Connections closed that their client had not ended, by cause."),
            ("accept_failures", "How often a connection could not be accepted, as when file descriptors ran out."),
            ("request_duration_seconds", "From the head of a call to its answer, by route and method."),
        ].map { ("carillon_\(name)_\($0)", $1) }
    }

    /// Makes `carillon_<name>_request_duration_seconds` of a route.
    func duration(route: String, method: String) -> Timer {
        Timer(
            label: "carillon_\(name)_request_duration_seconds",
            dimensions: [("route", route), ("method", method)],
            factory: factory
        )
    }

    func countAnswer(status: Int) {
        let counter = requests[status] ?? Self.counter(name, "requests", [("status", "\(status)")], factory)
        counter.increment()
    }

    /// A call that is answered with a problem.
    func countRefusal(_ reason: ReasonCode, status: Int) {
        let counter = refused[reason] ?? Self.counter(name, "refused", [("reason", reason.rawValue)], factory)
        counter.increment()
        countAnswer(status: status)
    }

    func countCut(_ cause: Cut) {
        cut[cause]?.increment()
    }

    func countFull() {
        full.increment()
    }

    func setConnections(_ count: Int) {
        connections.record(count)
    }

    func countAcceptFailure() {
        acceptFailures.increment()
    }
}
