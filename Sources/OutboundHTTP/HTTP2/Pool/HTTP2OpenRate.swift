import NIOCore
import Synchronization

/// How often connections may begin over several pools, on their event loops.
package final class HTTP2OpenRate: Sendable {
    private let rate: Mutex<ConnectionRate>

    /// - Parameters:
    ///   - perSecond: On average; more than 0.
    ///   - atOnce: At least 1.
    package init(perSecond: Double, atOnce: Int) {
        rate = Mutex(ConnectionRate(perSecond: perSecond, atOnce: atOnce))
    }

    /// When the next one may begin, if no other pool is before; in the past: now.
    var next: NIODeadline { rate.withLock { $0.next } }

    /// Takes a token if there is one.
    func take(at now: NIODeadline) -> Bool { rate.withLock { $0.take(at: now) } }
}
