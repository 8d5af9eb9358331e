#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// How many files and sockets the process may have open. Connections that took them all would leave none for the brokers.
package enum OpenFiles {
    /// For brokers, the ops endpoint, files and event loops.
    static let reserve = 256

    /// Raises the process's own limit as far as it may, when it is too low.
    ///
    /// - Parameter connections: How many are wanted.
    /// - Returns: How many there can be, at least 1.
    package static func makeRoom(forConnections connections: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return connections }
        let wanted = rlim_t(connections + reserve)
        if limit.rlim_cur < wanted {
            var raised = limit
            raised.rlim_cur = min(wanted, limit.rlim_max)
            if setrlimit(kind, &raised) == 0 { limit = raised }
        }
        guard limit.rlim_cur < wanted else { return connections }
        return max(1, Int(limit.rlim_cur) - reserve)
    }

    #if canImport(Glibc)
    private static let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    private static let kind = RLIMIT_NOFILE
    #endif
}
