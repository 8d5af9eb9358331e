import Metrics
import NotificationDelivery
import NotificationModel
import OutboundHTTP
import ServiceSupport

/// What `/metrics` shows about a channel to devices.
struct PushMetrics: HTTP2PoolObserver, Sendable {
    /// How an attempt ended.
    enum Outcome: String, CaseIterable, Sendable {
        case accepted, rejected, gone, failed, unanswered, stopped

        init(_ result: ChannelResult) {
            switch result {
            case .accepted, .reduced, .removed: self = .accepted
            case .rejected: self = .rejected
            case .gone: self = .gone
            case .failed: self = .failed
            case .unanswered: self = .unanswered
            case .deferred: self = .stopped
            }
        }
    }

    private let name: String
    private let service: String
    private let outcomes: [Outcome: Counter]
    private let answers: [String: Counter]
    private let accepted: Counter
    private let unknown: Counter
    private let changes: [String: Counter]
    private let retired: [HTTP2PoolEvent.Retirement: Counter]
    private let reloads: [Bool: Counter]

    /// - Parameters:
    ///   - channel: whose name the metrics begin with.
    ///   - service: its push service, for people.
    ///   - devices: whose devices it reaches, for people.
    ///   - reasons: that answers of the service may have.
    ///   - isPooled: whether it has connections of HTTP/2.
    init(
        _ channel: ChannelName,
        of service: String,
        devices: String,
        reasons: [String],
        isPooled: Bool = true,
        _ registry: PrometheusRegistry
    ) {
        let name = channel.rawValue
        (self.name, self.service) = (name, service)
        registry.describe("\(name).pushes", "Attempts at operations on \(devices) devices, by how they ended.")
        registry.describe(
            "\(name).answers",
            "Answers of \(service), by their reason: `Success` or `unknown` where there is none."
        )
        registry.describe("\(name).payloads.changed", "Payloads that lack something of what was asked for.")
        if isPooled {
            registry.describe(
                "\(name).connections.retired",
                "Connections to \(service) that get no further push, by the reason."
            )
        }
        registry.describe("\(name).applications.reloads", "Reloads of the file of applications, by outcome.")
        func counters<Key: Hashable>(
            _ member: String,
            _ dimension: String,
            _ values: [(Key, String)]
        ) -> [Key: Counter] {
            Dictionary(
                values.map { key, value in
                    (key, Counter(label: "\(name).\(member)", dimensions: [(dimension, value)], factory: registry))
                }
            ) { first, _ in first }
        }
        outcomes = counters("pushes", "outcome", Outcome.allCases.map { ($0, $0.rawValue) })
        answers = counters("answers", "reason", reasons.map { ($0, $0) })
        accepted = Counter(label: "\(name).answers", dimensions: [("reason", "Success")], factory: registry)
        unknown = Counter(label: "\(name).answers", dimensions: [("reason", "unknown")], factory: registry)
        changes = counters("payloads.changed", "change", PayloadChange.kinds.map { ($0, $0) })
        retired = counters(
            "connections.retired",
            "reason",
            isPooled ? HTTP2PoolEvent.Retirement.allCases.map { ($0, $0.rawValue) } : []
        )
        reloads = counters("applications.reloads", "outcome", [(true, "success"), (false, "failure")])
    }

    func count(_ outcome: Outcome) { outcomes[outcome]?.increment() }

    /// - Parameter reason: of the answer; nil when there is none, or an unknown one.
    func count(answer reason: String?, isAccepted: Bool) {
        if let counter = reason.flatMap({ answers[$0] }) {
            counter.increment()
        } else {
            (isAccepted ? accepted : unknown).increment()
        }
    }

    func count(_ change: PayloadChange) { changes[change.kind]?.increment() }

    func countReload(succeeded: Bool) { reloads[succeeded]?.increment() }

    func note(_ event: HTTP2PoolEvent) {
        if case .retired(_, let reason) = event { retired[reason]?.increment() }
    }

    /// - Parameter stopped: applications to which nothing is sent.
    func collect(_ usages: [HTTP2PoolUsage], stopped: Int, _ page: inout MetricsPage) {
        func sum(_ member: KeyPath<HTTP2PoolUsage, Int>) -> Double {
            Double(usages.reduce(0) { $0 + $1[keyPath: member] })
        }
        page.gauge("\(name).connections", help: "Connections to \(service) that can get pushes.", value: sum(\.ready))
        page.gauge("\(name).pushes.waiting", help: "Pushes that wait for a stream.", value: sum(\.waiting))
        page.gauge(
            "\(name).pushes.active",
            help: "Pushes that \(service) has not answered yet.",
            value: sum(\.inFlight)
        )
        page.gauge(
            "\(name).streams",
            help: "Pushes that the connections to \(service) can have at one time.",
            value: sum(\.streams)
        )
        page.gauge(
            "\(name).applications.stopped",
            help: "Applications to which nothing is sent, because \(service) refuses their credentials.",
            value: Double(stopped)
        )
    }
}
