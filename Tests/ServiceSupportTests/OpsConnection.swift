import Foundation
import NIOCore

#if canImport(Glibc)
import Glibc
#endif

/// One TCP connection to the ops endpoint, byte by byte. Closed when nobody holds it any more.
final class OpsConnection: Sendable {
    private let socket: Int32

    init(port: Int) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var timeout = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
        let connected = address.withSockAddr { Glibc.connect(socket, $0, socklen_t($1)) }
        guard connected == 0 else { throw IOError(errnoCode: errno, reason: "connect") }
    }

    deinit { Glibc.close(socket) }

    /// - Returns: False when the other side does not take it any more.
    @discardableResult
    func send(_ text: String) async -> Bool {
        await Self.onThread { [socket] in
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                if count <= 0 { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    /// Something came, or the end.
    var hasSomething: Bool {
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) >= 0 || errno != EAGAIN
    }

    /// Reads until the text came, or to the end when none is given.
    func read(to text: String? = nil) async -> String {
        await Self.onThread { [socket] in
            var all: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                let said = String(decoding: all, as: UTF8.self)
                if let text, said.contains(text) { return said }
                let count = recv(socket, &chunk, chunk.count, 0)
                guard count > 0 else { return said }
                all += chunk[..<count]
            }
        }
    }

    private static func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}
