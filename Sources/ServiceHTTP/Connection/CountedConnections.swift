import HummingbirdCore

/// The bound of connections: at it no more are accepted until one closes. They wait with the system, and beyond its queue
/// their clients try again.
struct CountedConnections: AvailableConnectionsDelegate {
    private let limit: Int
    private let metrics: ConnectionMetrics
    private var open = 0

    init(limit: Int, metrics: ConnectionMetrics) {
        self.limit = limit
        self.metrics = metrics
    }

    mutating func connectionOpened() {
        open += 1
        metrics.setConnections(open)
    }

    mutating func connectionClosed() {
        open -= 1
        metrics.setConnections(open)
    }

    func isAcceptingNewConnections() -> Bool {
        if open >= limit { metrics.countFull() }
        return open < limit
    }
}
