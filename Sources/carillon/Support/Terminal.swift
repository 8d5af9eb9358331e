import NotificationModel

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

    /// Writes lines of text at once, so that whoever reads a pipe sees each as it comes. A reader that is gone ends the process
    /// quietly, with status 0. Whatever could steer the terminal is escaped.
    static func write(_ text: String) {
        if !writeIfRead(text) { exit(0) }
    }

    /// The same for JSON.
    static func write(json: [UInt8]) {
        if !writeIfRead(json: json) { exit(0) }
    }

    /// The same for text with colours, of which everything else was escaped before.
    static func write(painted text: String) {
        if !putOnOutput(Array(text.utf8)) { exit(0) }
    }

    /// The same for a command that has more to do than to be read.
    ///
    /// - Returns: False when the reader is gone.
    static func writeIfRead(_ text: String) -> Bool {
        putOnOutput(Array(PrintableText.escaped(text, keepsLines: true).utf8))
    }

    /// The same for JSON.
    static func writeIfRead(json: [UInt8]) -> Bool { putOnOutput(PrintableText.escaped(json: json)) }

    private static func putOnOutput(_ bytes: [UInt8]) -> Bool {
        switch bytes.withUnsafeBytes({ put($0, to: STDOUT_FILENO) }) {
        case 0: return true
        case EPIPE: return false
        case let code:
            writeError("standard output: \(String(cString: strerror(code)))\n")
            exit(ExitStatus.failed)
        }
    }

    /// Writes lines of text to standard error, escaped; that nobody reads it changes nothing.
    static func writeError(_ text: String) { drawOnError(PrintableText.escaped(text, keepsLines: true)) }

    /// The same for what moves the cursor, and holds nothing from outside.
    static func drawOnError(_ text: String) {
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
