import Metrics
import NotificationDelivery
import OutboundHTTP
import ServiceSupport

/// What `/metrics` shows about the channel `apns`.
struct APNsMetrics: HTTP2PoolObserver, Sendable {
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

    private let outcomes: [Outcome: Counter]
    private let answers: [APNsReason: Counter]
    private let accepted: Counter
    private let unknown: Counter
    private let changes: [String: Counter]
    private let retired: [HTTP2PoolEvent.Retirement: Counter]
    private let reloads: [Bool: Counter]

    init(_ registry: PrometheusRegistry) {
        registry.describe("apns.pushes", "Attempts at operations on Apple devices, by how they ended.")
        registry.describe(
            "apns.answers",
            "Answers of APNs, by their reason: `Success` or `unknown` where there is none."
        )
        registry.describe("apns.payloads.changed", "Payloads that lack something of what was asked for.")
        registry.describe("apns.connections.retired", "Connections to APNs that get no further push, by the reason.")
        registry.describe("apns.applications.reloads", "Reloads of the file of applications, by outcome.")
        func counter(_ name: String, _ dimension: String, _ value: String) -> Counter {
            Counter(label: name, dimensions: [(dimension, value)], factory: registry)
        }
        outcomes = Dictionary(
            uniqueKeysWithValues: Outcome.allCases.map { ($0, counter("apns.pushes", "outcome", $0.rawValue)) }
        )
        answers = Dictionary(
            uniqueKeysWithValues: APNsReason.allCases.map { ($0, counter("apns.answers", "reason", $0.rawValue)) }
        )
        accepted = counter("apns.answers", "reason", "Success")
        unknown = counter("apns.answers", "reason", "unknown")
        changes = Dictionary(
            uniqueKeysWithValues: ["body-shortened", "media-dropped", "member-left-out"].map {
                ($0, counter("apns.payloads.changed", "change", $0))
            }
        )
        retired = Dictionary(
            uniqueKeysWithValues: HTTP2PoolEvent.Retirement.allCases.map {
                ($0, counter("apns.connections.retired", "reason", $0.rawValue))
            }
        )
        reloads = [
            true: counter("apns.applications.reloads", "outcome", "success"),
            false: counter("apns.applications.reloads", "outcome", "failure"),
        ]
    }

    func count(_ outcome: Outcome) { outcomes[outcome]?.increment() }

    func count(_ answer: APNsAnswer) {
        if let reason = answer.reason {
            answers[reason]?.increment()
        } else if answer.action == .accept {
            accepted.increment()
        } else {
            unknown.increment()
        }
    }

    func count(_ change: APNsPayloadChange) {
        switch change {
        case .bodyShortened: changes["body-shortened"]?.increment()
        case .mediaDropped: changes["media-dropped"]?.increment()
        case .memberLeftOut: changes["member-left-out"]?.increment()
        }
    }

    func countReload(succeeded: Bool) { reloads[succeeded]?.increment() }

    func note(_ event: HTTP2PoolEvent) {
        if case .retired(_, let reason) = event { retired[reason]?.increment() }
    }

    /// - Parameter stopped: applications to which nothing is sent.
    func collect(_ usages: [HTTP2PoolUsage], stopped: Int, _ page: inout MetricsPage) {
        func sum(_ member: KeyPath<HTTP2PoolUsage, Int>) -> Double {
            Double(usages.reduce(0) { $0 + $1[keyPath: member] })
        }
        page.gauge("apns.connections", help: "Connections to APNs that can get pushes.", value: sum(\.ready))
        page.gauge("apns.pushes.waiting", help: "Pushes that wait for a stream.", value: sum(\.waiting))
        page.gauge("apns.pushes.active", help: "Pushes that APNs has not answered yet.", value: sum(\.inFlight))
        page.gauge(
            "apns.streams",
            help: "Pushes that the connections to APNs can have at one time.",
            value: sum(\.streams)
        )
        page.gauge(
            "apns.applications.stopped",
            help: "Applications to which nothing is sent, because APNs refuses their credentials.",
            value: Double(stopped)
        )
    }
}
