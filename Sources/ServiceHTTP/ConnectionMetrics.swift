package import CoreMetrics
import Metrics
package import NotificationModel

/// Counters for the connections and responses of one HTTP interface. Created once: creating a handle takes a lock.
package struct ConnectionMetrics: Sendable {
    /// Why the server closed a connection before the client did.
    enum Cut: String, CaseIterable {
        /// No activity for the idle timeout.
        case idle
        /// A request exceeded the receive timeout.
        case receiveTimeout = "receive-timeout"
        /// The client read no response data for the idle timeout.
        case sendTimeout = "send-timeout"
        /// The client kept sending after its last response.
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

    /// Creates `carillon_<name>_requests_total` by status, `…_refused_total` by reason, `…_connections`,
    /// `…_connections_full_total`, `…_connections_cut_total` by cause and `…_accept_failures_total`.
    ///
    /// - Parameters:
    ///   - name: `http` or `ops`.
    ///   - statuses: The statuses of the interface; any other one appears after its first use.
    ///   - reasons: The reasons of its problems; any other one appears after its first use.
    ///   - factory: The metrics system; by default the process-wide one.
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

    /// The help text of each metric, by name.
    package static func descriptions(name: String) -> [(name: String, help: String)] {
        [
            ("requests", "Calls by response status."),
            ("refused", "Calls answered with a problem, by reason."),
            ("connections", "Open connections."),
            ("connections_full", "How often a connection had to wait because the maximum number was open."),
            ("connections_cut", "Connections that the server closed before the client did, by cause."),
            ("accept_failures", "Failures to accept a connection, for example for lack of file descriptors."),
            ("request_duration_seconds", "Time from the head of a call to its response, by route and method."),
        ].map { ("carillon_\(name)_\($0)", $1) }
    }

    /// Creates `carillon_<name>_request_duration_seconds` for a route.
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

    /// Counts a call that is answered with a problem.
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
