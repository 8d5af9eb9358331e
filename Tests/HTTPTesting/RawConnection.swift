import Foundation
import NIOCore
import Synchronization

#if canImport(Glibc)
import Glibc
#endif

/// One TCP connection, byte by byte. Closed when its last reference is released.
package final class RawConnection: Sendable {
    struct Failure: Error {
        var message: String
    }

    private let socket: Int32
    private let received = Mutex<[UInt8]>([])

    private init(socket: Int32) {
        self.socket = socket
    }

    deinit { Glibc.close(socket) }

    package static func open(port: Int) async throws -> RawConnection {
        try await onThread { try openNow(port: port) }
    }

    /// The same without suspending, to open many at once.
    package static func openNow(port: Int) throws -> RawConnection {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { throw Failure(message: "socket: \(errno)") }
        let connection = RawConnection(socket: socket)
        var timeout = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
        let connected = address.withSockAddr { Glibc.connect(socket, $0, socklen_t($1)) }
        guard connected == 0 else { throw Failure(message: "connect: \(errno)") }
        return connection
    }

    // MARK: Sending

    /// - Returns: False when the server accepts no more.
    @discardableResult
    package func send(_ bytes: [UInt8]) async -> Bool {
        await Self.onThread { [self] in
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if count <= 0 { return false }
                sent += count
            }
            return true
        }
    }

    @discardableResult
    package func send(_ text: String) async -> Bool { await send(Array(text.utf8)) }

    /// Sends a byte repeatedly, as a client that wants to hold the connection, until the server has answered or closed.
    package func drip(_ byte: UInt8, every pause: Duration = .milliseconds(20)) async throws {
        while !hasSomething, await send([byte]) { try await Task.sleep(for: pause) }
    }

    /// Closes the sending side; the server may continue.
    package func endSending() { shutdown(socket, Int32(SHUT_WR)) }

    // MARK: Receiving

    /// Whether there is data or the end of the connection.
    package var hasSomething: Bool {
        if received.withLock({ !$0.isEmpty }) { return true }
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) >= 0 || errno != EAGAIN
    }

    /// Reads one answer, also an interim one.
    package func answer(hasBody: Bool = true) async throws -> RawHTTP.Answer {
        try await Self.onThread { [self] in
            while true {
                if let answer = take(hasBody: hasBody) { return answer }
                guard receive() else { break }
            }
            let rest = received.withLock { $0 }
            let text = String(decoding: rest.prefix(200), as: UTF8.self)
            throw Failure(message: "no answer, got \(rest.count) bytes: \(text)")
        }
    }

    /// Reads to the end of the connection.
    ///
    /// - Returns: The bytes after the answers that were read already.
    package func end() async -> [UInt8] {
        await Self.onThread { [self] in
            while receive() {}
            return received.withLock { $0 }
        }
    }

    private func receive() -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket, &chunk, chunk.count, 0)
        guard count > 0 else { return false }
        received.withLock { $0 += chunk[..<count] }
        return true
    }

    private func take(hasBody: Bool) -> RawHTTP.Answer? {
        received.withLock { bytes in
            guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
            let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
            guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
                return nil
            }
            var headers: [String: String] = [:]
            for line in lines.dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1)
                guard parts.count == 2 else { continue }
                headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
            }
            let body = bytes[end.upperBound...]
            let length = !hasBody ? 0 : headers["content-length"].flatMap { Int($0) } ?? 0
            guard body.count >= length else { return nil }
            let answer = RawHTTP.Answer(status: status, headers: headers, body: Array(body.prefix(length)))
            bytes.removeFirst(end.upperBound + length)
            return answer
        }
    }

    private static func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws
        -> Result
    {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
        }
    }

    private static func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}
