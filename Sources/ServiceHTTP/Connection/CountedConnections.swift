import HummingbirdCore

/// The limit of connections: once reached, the server accepts no more until one closes. Further connections wait in the
/// system's queue; when it is full, clients retry.
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
