import Foundation
import LocalBroker

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Starts programs as a shell would: no signal is blocked or ignored.
/// Foundation's `Process` passes on the signal mask of the thread that happens to start them, and a worker thread's blocks SIGTERM.
enum Spawn {
    /// - Parameters:
    ///   - input: Descriptor that the program reads.
    ///   - output: Path of the file that its standard output goes to.
    ///   - errors: The same for standard error.
    /// - Returns: The id of the process, to be waited for.
    static func start(
        _ executable: String,
        _ arguments: [String],
        environment: [String: String],
        input: Int32,
        output: String,
        errors: String
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        // Sockets of in-process brokers have no close-on-exec: a child would keep their connections alive.
        try closeOthers(&actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))

        var words: [UnsafeMutablePointer<CChar>?] = ([executable] + arguments).map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var pid = pid_t()
        let code = LocalBroker.whileNoBrokerGoesDown {
            posix_spawn(&pid, executable, &actions, &attributes, &words, &variables)
        }
        guard code == 0 else {
            throw ChildProcess.Failure(
                description: "\(executable) cannot be started: \(String(cString: strerror(code)))"
            )
        }
        return pid
    }

    /// What a cell says when it is code and nothing else.
    /// The text of a cell that contains only code.
    private static func closeOthers(_ actions: inout posix_spawn_file_actions_t) throws {
        typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        if let found = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np"),
            unsafeBitCast(found, to: CloseFrom.self)(&actions, 3) == 0
        {
            return
        }
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(Int32.init)
        for descriptor in open where descriptor > 2 { posix_spawn_file_actions_addclose(&actions, descriptor) }
    }

    /// - Returns: Nil while it runs; then its status, or the negative number of the signal that ended it.
    static func status(of pid: pid_t) -> Int32? {
        var status: Int32 = 0
        guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : -signal
    }
}
