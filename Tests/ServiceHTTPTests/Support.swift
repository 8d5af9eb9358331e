import CoreMetrics

@testable import ServiceHTTP

extension ConnectionMetrics {
    /// Counts nothing.
    static var none: ConnectionMetrics {
        ConnectionMetrics(name: "test", statuses: [], reasons: [], factory: NOOPMetricsHandler.instance)
    }
}
