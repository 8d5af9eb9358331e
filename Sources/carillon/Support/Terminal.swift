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
    /// Whether standard output is a terminal.
    static var isOutput: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether standard error is a terminal.
    static var isError: Bool { isatty(STDERR_FILENO) == 1 }

    /// Width of the terminal behind standard error, if known.
    static var columns: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Writes lines of text at once, so that the reader of a pipe gets each line immediately. If the reader is gone,
    /// the process ends quietly with status 0. Characters that could control the terminal are escaped.
    static func write(_ text: String) {
        if !writeIfRead(text) { exit(0) }
    }

    /// The same for JSON.
    static func write(json: [UInt8]) {
        if !writeIfRead(json: json) { exit(0) }
    }

    /// The same for text with colours whose other parts were escaped before.
    static func write(painted text: String) {
        if !putOnOutput(Array(text.utf8)) { exit(0) }
    }

    /// The same for a command that continues without a reader.
    ///
    /// - Returns: False when the reader is gone.
    static func writeIfRead(_ text: String) -> Bool {
        putOnOutput(Array(PrintableText.escaped(text, keepsLines: true).utf8))
    }

    /// The same for JSON.
    static func writeIfRead(json: [UInt8]) -> Bool { putOnOutput(PrintableText.escaped(json: json)) }

    /// The same for a command that must clean up before it ends.
    ///
    /// - Parameter escaped: Text or JSON of which all external parts are escaped.
    /// - Returns: False when the reader is gone.
    /// - Throws: ``CommandFailure`` when the output cannot be written.
    static func writeIfRead(escaped: [UInt8]) throws(CommandFailure) -> Bool {
        switch escaped.withUnsafeBytes({ put($0, to: STDOUT_FILENO) }) {
        case 0: return true
        case EPIPE: return false
        case let code:
            throw CommandFailure("standard output: \(String(cString: strerror(code)))", status: ExitStatus.failed)
        }
    }

    private static func putOnOutput(_ bytes: [UInt8]) -> Bool {
        do throws(CommandFailure) {
            return try writeIfRead(escaped: bytes)
        } catch {
            writeError("\(error)\n")
            exit(error.status)
        }
    }

    /// Writes lines of text to standard error, escaped; ignores a missing reader.
    static func writeError(_ text: String) { drawOnError(PrintableText.escaped(text, keepsLines: true)) }

    /// The same for cursor movements without external text.
    static func drawOnError(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { put($0, to: STDERR_FILENO) }
    }

    /// Ends the process at once: nothing is buffered here, and librdkafka's threads must not run during an orderly
    /// exit.
    static func exit(_ status: Int32) -> Never { _exit(status) }

    /// Makes a closed pipe an error of `write` instead of a signal that ends the process.
    static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
    }

    /// - Returns: 0, or the error number.
    private static func put(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var rest = bytes
        while let start = rest.baseAddress, !rest.isEmpty {
            let written = writeSome(descriptor, start, rest.count)
            if written >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
            } else if errno == EAGAIN {
                // Another process made the terminal or pipe non-blocking.
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
