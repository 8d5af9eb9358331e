import NotificationModel

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Lines of a file, a pipe or a terminal, with a maximum length and a timeout.
final class LineReader {
    enum Step: Equatable {
        /// A line without its end.
        case line([UInt8])
        /// A line exceeds the maximum; its rest is skipped.
        case tooLong
        /// No line was complete in time.
        case nothingYet
        case end
    }

    /// The file or pipe cannot be read.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private let descriptor: Int32
    private let closes: Bool
    private let maximumBytes: Int
    private var buffer: [UInt8] = []
    /// The start of the next line, and how far it was searched for its end.
    private var start = 0
    private var scanned = 0
    private var isPassingOver = false
    private var isAtEnd = false

    /// - Parameters:
    ///   - path: Nil for standard input.
    ///   - maximumBytes: Maximum length of a line.
    init(path: String?, maximumBytes: Int) throws(Failure) {
        self.maximumBytes = maximumBytes
        closes = path != nil
        guard let path else {
            descriptor = STDIN_FILENO
            return
        }
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(path) }
        var status = stat()
        // A directory can be opened, but not read.
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            close(descriptor)
            throw Failure(description: "\(path): is a directory")
        }
    }

    deinit {
        if closes { close(descriptor) }
    }

    /// The next line. Of an endless line no more than the maximum is kept, and `tooLong` is returned as soon as it is
    /// exceeded.
    ///
    /// - Parameter time: How long to wait for a line.
    func next(within time: Duration) throws(Failure) -> Step {
        let deadline = ContinuousClock.now + time
        while true {
            if let end = buffer[scanned...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = buffer[start..<end]
                (start, scanned) = (end + 1, end + 1)
                if let step = step(line) { return step }
                continue
            }
            scanned = buffer.count
            let isTooLong = !isPassingOver && buffer.count - start > maximumBytes
            if isTooLong || isPassingOver {
                isPassingOver = true
                start = buffer.count
            }
            if isTooLong { return .tooLong }
            if isAtEnd {
                let rest = buffer[start...]
                (start, scanned) = (buffer.count, buffer.count)
                // The last line needs no line end.
                return rest.isEmpty ? .end : .line(Array(rest))
            }
            buffer.removeSubrange(..<start)
            (start, scanned) = (0, buffer.count)
            let left = deadline - .now
            guard try fill(within: max(.zero, left)) else { return .nothingYet }
            // The input may be endless without lines.
            if left <= .zero { return .nothingYet }
        }
    }

    /// Nil for the rest of a line that was reported as too long.
    private func step(_ line: ArraySlice<UInt8>) -> Step? {
        defer { isPassingOver = false }
        if isPassingOver { return nil }
        return line.count > maximumBytes ? .tooLong : .line(Array(line))
    }

    /// False when no input arrived in time.
    private func fill(within time: Duration) throws(Failure) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let ready = poll(&waiting, 1, Int32(clamping: time.milliseconds))
        guard ready != 0, ready > 0 || errno != EINTR else { return false }
        let old = buffer.count
        let size = 1 << 16
        buffer.append(contentsOf: repeatElement(0, count: size))
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { read(descriptor, $0 + old, size) } ?? 0
        }
        buffer.removeLast(size - max(0, count))
        if count < 0 {
            if errno == EINTR || errno == EAGAIN { return false }
            throw Self.failure("the input")
        }
        isAtEnd = count == 0
        return true
    }

    private static func failure(_ what: String) -> Failure {
        Failure(description: "\(what): \(String(cString: strerror(errno)))")
    }
}
