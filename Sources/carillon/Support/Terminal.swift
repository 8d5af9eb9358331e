#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Standard output and standard error.
enum Terminal {
    /// Whether a person looks at standard output.
    static var isOutput: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether a person looks at standard error.
    static var isError: Bool { isatty(STDERR_FILENO) == 1 }

    /// Columns of the terminal behind standard error, if it says so.
    static var columns: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Writes at once, so that whoever reads a pipe sees each line as it comes. A reader that is gone ends the process quietly,
    /// with status 0.
    static func write(_ text: String) { write(Array(text.utf8)) }

    /// The same for bytes.
    static func write(_ bytes: [UInt8]) {
        if !writeIfRead(bytes) { exit(0) }
    }

    /// The same for a command that has more to do than to be read.
    ///
    /// - Returns: False when the reader is gone.
    static func writeIfRead(_ bytes: [UInt8]) -> Bool {
        switch bytes.withUnsafeBytes({ put($0, to: STDOUT_FILENO) }) {
        case 0: return true
        case EPIPE: return false
        case let code:
            writeError("standard output: \(String(cString: strerror(code)))\n")
            exit(ExitStatus.failed)
        }
    }

    /// Writes to standard error; that nobody reads it changes nothing.
    static func writeError(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { put($0, to: STDERR_FILENO) }
    }

    /// Ends the process at once: nothing is buffered here, and threads of librdkafka must not meet a process that is being taken
    /// apart.
    static func exit(_ status: Int32) -> Never { _exit(status) }

    /// A pipe whose reader is gone is an error of `write` from now on, not the end of the process by a signal.
    static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
    }

    /// - Returns: 0, or why not all was written.
    private static func put(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var rest = bytes
        while let start = rest.baseAddress, !rest.isEmpty {
            let written = writeSome(descriptor, start, rest.count)
            if written >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
            } else if errno == EAGAIN {
                // Somebody made the other end of a terminal or pipe non-blocking.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, 100)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}

private func writeSome(_ descriptor: Int32, _ start: UnsafeRawPointer, _ count: Int) -> Int {
    write(descriptor, start, count)
}
