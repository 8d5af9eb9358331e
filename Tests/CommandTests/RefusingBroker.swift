import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// A Kafka broker on this machine that takes connections, and lets nobody in: it speaks just enough of the protocol to refuse.
final class RefusingBroker: Sendable {
    private static let saslHandshake: Int16 = 17
    private static let apiVersions: Int16 = 18
    private static let saslAuthenticate: Int16 = 36
    private static let unsupportedVersion: Int16 = 35
    private static let authenticationFailed: Int16 = 58

    let port: UInt16
    private let socket: Int32

    /// - Parameters:
    ///   - mechanisms: of SASL that it offers.
    ///   - message: its words when it refuses.
    init(mechanisms: [String], message: String) throws {
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
        Thread { [socket] in
            while case let connection = accept(socket, nil, nil), connection >= 0 {
                Thread { Self.serve(connection, mechanisms, message) }.start()
            }
        }
        .start()
    }

    deinit {
        // `close` alone does not end `accept`.
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }

    var server: String { "127.0.0.1:\(port)" }

    private static func serve(_ connection: Int32, _ mechanisms: [String], _ message: String) {
        defer { close(connection) }
        while let size = read(4, from: connection), let request = read(Int(integer(size)), from: connection),
            request.count >= 8
        {
            let (key, version) = (Int16(truncatingIfNeeded: integer(request[0..<2])), integer(request[2..<4]))
            var answer = Array(request[4..<8])
            switch key {
            case apiVersions:
                // A newer client repeats its question in the oldest form.
                append(version == 0 ? 0 : unsupportedVersion, to: &answer)
                answer += [0, 0, 0, 3]
                for (key, newest) in [(apiVersions, 0), (saslHandshake, 1), (saslAuthenticate, 0)] as [(Int16, Int16)] {
                    for number in [key, 0, newest] { append(number, to: &answer) }
                }
            case saslHandshake:
                append(0, to: &answer)
                answer += [0, 0, 0, UInt8(mechanisms.count)]
                for mechanism in mechanisms { append(mechanism, to: &answer) }
            case saslAuthenticate:
                append(authenticationFailed, to: &answer)
                append(message, to: &answer)
                answer += [0, 0, 0, 0]
            default: return
            }
            let count = answer.count
            answer.insert(
                contentsOf: [
                    UInt8(count >> 24), UInt8(count >> 16 & 0xFF), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF),
                ],
                at: 0
            )
            guard
                answer.withUnsafeBytes({
                    Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL.rawValue))
                }) > 0
            else { return }
        }
    }

    private static func read(_ count: Int, from connection: Int32) -> [UInt8]? {
        guard (1...65_536).contains(count) else { return nil }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: count)
        while bytes.count < count {
            let read = recv(connection, &chunk, count - bytes.count, 0)
            guard read > 0 else { return nil }
            bytes += chunk.prefix(read)
        }
        return bytes
    }

    private static func integer(_ bytes: some Sequence<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    private static func append(_ number: Int16, to bytes: inout [UInt8]) {
        bytes += [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        append(Int16(text.utf8.count), to: &bytes)
        bytes += Array(text.utf8)
    }
}
