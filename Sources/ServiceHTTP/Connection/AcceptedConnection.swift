import HummingbirdCore
import NIOCore
import Synchronization

/// A connection for a server that may end before it takes it: it is closed then.
///
/// The framework lets go of what it accepts while it ends, and NIO's connection traps when it is let go of unused (swift-nio 2813).
final class AcceptedConnection: ServerChildChannelValue {
    private let http: HTTP1Channel.Value
    private let isTaken = Atomic(false)

    init(_ http: HTTP1Channel.Value) { self.http = http }

    var channel: any Channel { http.channel }

    /// The connection, for its only user, who closes it.
    func take() -> HTTP1Channel.Value {
        isTaken.store(true, ordering: .relaxed)
        return http
    }

    deinit {
        guard !isTaken.load(ordering: .relaxed) else { return }
        Task { [http] in try? await http.executeThenClose { _, _ in } }
    }
}
