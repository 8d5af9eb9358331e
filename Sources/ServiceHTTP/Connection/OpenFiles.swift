#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The process's limit of open files and sockets. Connections must leave some for the brokers.
package enum OpenFiles {
    /// Reserved for brokers, the ops endpoint, files and event loops.
    static let reserve = 256
    /// Left by the listeners in any case: more than all of them accept in one turn, which is four each.
    static let spare: rlim_t = 16

    /// Raises the process's own limit if it is too low, as far as allowed.
    ///
    /// - Parameters:
    ///   - connections: The wanted number of connections.
    ///   - files: Files that are open for calls at one time at most.
    /// - Returns: The possible number of connections, at least 1.
    package static func makeRoom(forConnections connections: Int, and files: Int = 0) -> Int {
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return connections }
        let wanted = rlim_t(connections + min(files, connections) + reserve)
        if limit.rlim_cur < wanted {
            var raised = limit
            raised.rlim_cur = min(wanted, limit.rlim_max)
            if setrlimit(kind, &raised) == 0 { limit = raised }
        }
        guard limit.rlim_cur < wanted else { return connections }
        return possible(connections, files, within: Int(limit.rlim_cur))
    }

    /// A call has at most one file open, so files take no more than connections do.
    static func possible(_ connections: Int, _ files: Int, within limit: Int) -> Int {
        let left = limit - reserve
        let most = left >= 2 * files ? left - files : left / 2
        return max(1, min(connections, most))
    }

    /// Whether so few descriptors are left that a listener should accept no more.
    ///
    /// libdispatch, which runs all tasks, ends the process if it cannot open a file of `/proc` while tasks wait.
    static func areScarce() -> Bool {
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return false }
        // The system gives the lowest free number.
        let next = open("/dev/null", O_RDONLY | O_CLOEXEC)
        if next >= 0 { close(next) }
        return isLast(next, within: limit.rlim_cur)
    }

    /// Whether a descriptor is among the last ``spare`` of the limit; a negative one was not to be had.
    static func isLast(_ descriptor: Int32, within limit: rlim_t) -> Bool {
        descriptor < 0 || rlim_t(descriptor) + spare >= limit
    }

    #if canImport(Glibc)
    private static let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    private static let kind = RLIMIT_NOFILE
    #endif
}
