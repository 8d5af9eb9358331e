#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Standard output.
enum Terminal {
    /// Whether a person looks at it: only then there are colours.
    static var isTerminal: Bool {
        isatty(STDOUT_FILENO) == 1 && getenv("NO_COLOR") == nil
    }

    /// Writes at once, so that whoever reads a pipe sees each line as it comes. A reader that is gone ends the process quietly.
    static func write(_ text: String) {
        var text = text
        text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    }

    /// The same for bytes.
    static func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { write($0) }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while let start = rest.baseAddress, !rest.isEmpty {
            let written = put(start, rest.count)
            if written < 0 {
                if errno == EINTR { continue }
                exit(errno == EPIPE ? 0 : 1)
            }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
        }
    }
}

private func put(_ start: UnsafeRawPointer, _ count: Int) -> Int {
    write(STDOUT_FILENO, start, count)
}
