import CoreMetrics

@testable import ServiceHTTP

extension ConnectionMetrics {
    /// Metrics that go nowhere.
    static var none: ConnectionMetrics {
        ConnectionMetrics(name: "test", statuses: [], reasons: [], factory: NOOPMetricsHandler.instance)
    }
}
