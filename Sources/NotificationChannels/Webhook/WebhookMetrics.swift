import Metrics
import ServiceSupport

/// What `/metrics` shows about the channel `webhook`.
struct WebhookMetrics: Sendable {
    private let requests: [WebhookAnswer.Kind: Counter]
    private let refused: Counter
    private let opened: Counter
    private let duration: Timer
    private let reloads: [Bool: Counter]

    init(_ registry: PrometheusRegistry) {
        registry.describe("webhook.requests", "Requests to the webhook's endpoint, by how they ended.")
        registry.describe(
            "webhook.request.duration",
            "Time from the begin of a request to the status of its answer, or to its failure."
        )
        registry.describe("webhook.refused", "Sends that the open circuit breaker held back.")
        registry.describe("webhook.breaker.opened", "How often the circuit breaker of the endpoint opened.")
        registry.describe("webhook.keys.reloads", "Reloads of the webhook's file of keys, by outcome.")
        requests = Dictionary(
            uniqueKeysWithValues: WebhookAnswer.Kind.allCases.map {
                ($0, Counter(label: "webhook.requests", dimensions: [("outcome", $0.rawValue)], factory: registry))
            }
        )
        refused = Counter(label: "webhook.refused", factory: registry)
        opened = Counter(label: "webhook.breaker.opened", factory: registry)
        duration = Timer(label: "webhook.request.duration", factory: registry)
        func reloads(_ outcome: String) -> Counter {
            Counter(label: "webhook.keys.reloads", dimensions: [("outcome", outcome)], factory: registry)
        }
        self.reloads = [true: reloads("success"), false: reloads("failure")]
    }

    func count(_ kind: WebhookAnswer.Kind) { requests[kind]?.increment() }

    func record(duration nanoseconds: Int64) { duration.recordNanoseconds(max(0, nanoseconds)) }

    func countRefused() { refused.increment() }

    func countReload(succeeded: Bool) { reloads[succeeded]?.increment() }

    func countOpened() { opened.increment() }
}
