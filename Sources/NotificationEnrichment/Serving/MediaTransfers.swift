import Foundation
import ServiceHTTP
import Synchronization

/// The transfers of media to clients that are under way, bounded overall and for each client. A slow reader holds a file and
/// memory, so each has a minimum rate, too.
package final class MediaTransfers: Sendable {
    package struct Settings: Hashable, Sendable {
        /// Transfers at one time; a further one is refused.
        package var most = 1000
        /// Of one address (IPv6: of one network of 64 bits).
        package var mostOfClient = 100
        /// Bytes a second, from the begin of a transfer; a slower one is broken off. 0 for any rate.
        package var minimumRate = 4096

        package init() {}
    }

    /// A transfer was too slow; its connection is broken off.
    struct TooSlow: Error {}

    /// A transfer under way; it ends with its last reference.
    final class Transfer: Sendable {
        private let transfers: MediaTransfers
        private let client: String

        fileprivate init(_ transfers: MediaTransfers, _ client: String) {
            (self.transfers, self.client) = (transfers, client)
        }

        deinit { transfers.end(client) }
    }

    /// A rate is judged after so much time, in seconds: the first bytes of a connection are slow.
    private static let grace = 10.0

    private let settings: Settings
    private let clients = Mutex<(all: Int, each: [String: Int])>((0, [:]))

    package init(_ settings: Settings = Settings()) { self.settings = settings }

    /// Transfers under way.
    package var count: Int { clients.withLock { $0.all } }

    /// - Parameter client: The address; nil counts as one client.
    /// - Throws: 503 when there are too many, of all or of the client.
    func begin(for client: String?) throws(Problem) -> Transfer {
        let client = Self.network(of: client ?? "")
        let mayBegin = clients.withLock { clients in
            let own = clients.each[client] ?? 0
            guard clients.all < settings.most, own < settings.mostOfClient else { return false }
            clients.all += 1
            clients.each[client] = own + 1
            return true
        }
        guard mayBegin else { throw .overloaded }
        return Transfer(self, client)
    }

    private func end(_ client: String) {
        clients.withLock { clients in
            clients.all -= 1
            let left = (clients.each[client] ?? 0) - 1
            clients.each[client] = left > 0 ? left : nil
        }
    }

    /// - Parameters:
    ///   - bytes: Taken by the client so far.
    ///   - time: Since the begin of the transfer.
    /// - Throws: `TooSlow`.
    func check(_ bytes: Int64, in time: Duration) throws(TooSlow) {
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        guard seconds > Self.grace, Double(bytes) < seconds * Double(settings.minimumRate) else { return }
        throw TooSlow()
    }

    /// Of IPv6 the first four groups, which one subscriber has.
    static func network(of address: String) -> String {
        guard address.contains(":") else { return address }
        let halves = address.split(separator: "%")[0].components(separatedBy: "::")
        var groups = halves[0].split(separator: ":").map(String.init)
        if halves.count > 1 {
            let end = halves[1].split(separator: ":").map(String.init)
            groups += Array(repeating: "0", count: max(0, 8 - groups.count - end.count)) + end
        }
        return groups.prefix(4).joined(separator: ":") + "::/64"
    }
}
