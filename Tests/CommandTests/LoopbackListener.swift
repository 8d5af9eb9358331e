import Foundation
import Glibc
import Testing

/// A port of this machine. Each connection is handed to a function, on a thread that waits for connections.
final class LoopbackListener: Sendable {
    let port: UInt16
    private let socket: Int32

    init() throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { [socket] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                (bind(socket, pointer, size), listen(socket, 64), getsockname(socket, pointer, &size))
            }
        }
        try #require(result == (0, 0, 0))
        port = UInt16(bigEndian: address.sin_port)
    }

    /// - Parameter serve: closes the connection.
    func start(_ serve: @escaping @Sendable (_ connection: Int32) -> Void) {
        Thread { [socket] in
            while case let connection = accept(socket, nil, nil), connection >= 0 { serve(connection) }
        }
        .start()
    }

    deinit {
        // `close` alone does not end `accept`.
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }
}
