import HummingbirdCore

/// The bound of connections: at it no more are accepted until one closes. They wait with the system, and beyond its queue
/// their clients try again.
package struct CountedConnections: AvailableConnectionsDelegate {
    private let limit: Int
    private let metrics: ConnectionMetrics
    private var open = 0

    package init(limit: Int, metrics: ConnectionMetrics) {
        self.limit = limit
        self.metrics = metrics
    }

    package mutating func connectionOpened() {
        open += 1
        metrics.setConnections(open)
    }

    package mutating func connectionClosed() {
        open -= 1
        metrics.setConnections(open)
    }

    package func isAcceptingNewConnections() -> Bool {
        if open >= limit { metrics.countFull() }
        return open < limit
    }
}
