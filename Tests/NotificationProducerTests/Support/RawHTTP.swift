import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// A small HTTP/1.1 client over a POSIX socket that sends exactly the bytes it is given: paths and bodies that a proper client
/// would refuse or correct.
struct RawHTTP: Sendable {
    let port: Int

    struct Answer: Sendable {
        var status: Int
        /// Names in lower case.
        var headers: [String: String]
        var body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }

        /// A member of the JSON body as text; numbers as they print.
        subscript(name: String) -> String? {
            guard let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any],
                let value = object[name]
            else { return nil }
            return "\(value)"
        }
    }

    struct Failure: Error {
        var message: String
    }

    func send(
        _ method: String,
        _ target: String,
        headers: [(String, String)] = [],
        body: [UInt8]? = nil
    ) async throws -> Answer {
        var text = "\(method) \(target) HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        if let body { text += "content-length: \(body.count)\r\n" }
        return try await exchange(Array((text + "\r\n").utf8) + (body ?? []), hasBody: method != "HEAD")
    }

    func put(_ target: String, _ json: String, headers: [(String, String)] = []) async throws -> Answer {
        try await send("PUT", target, headers: [("content-type", "application/json")] + headers, body: Array(json.utf8))
    }

    /// Sends bytes as they are and reads one answer.
    func exchange(_ bytes: [UInt8], hasBody: Bool = true) async throws -> Answer {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { [port] in
                continuation.resume(with: Result { try Self.exchangeBlocking(port: port, bytes, hasBody) })
            }
        }
    }

    private static func exchangeBlocking(port: Int, _ bytes: [UInt8], _ hasBody: Bool) throws -> Answer {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { throw Failure(message: "socket: \(errno)") }
        defer { Glibc.close(socket) }
        var timeout = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Failure(message: "connect: \(errno)") }
        // A server that refuses early may close while we still send: its answer counts, not our error.
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { break }
            sent += count
        }
        var received: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let answer = parse(received, hasBody) { return answer }
            let count = recv(socket, &chunk, chunk.count, 0)
            guard count > 0 else { break }
            received += chunk[..<count]
        }
        throw Failure(
            message: "no answer, got \(received.count) bytes: \(String(decoding: received.prefix(200), as: UTF8.self))"
        )
    }

    private static func parse(_ bytes: [UInt8], _ hasBody: Bool) -> Answer? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        let body = bytes[end.upperBound...]
        let length = !hasBody ? 0 : headers["content-length"].flatMap { Int($0) } ?? 0
        guard body.count >= length else { return nil }
        if status == 100 { return parse(Array(body), hasBody) }
        return Answer(status: status, headers: headers, body: Array(body.prefix(length)))
    }
}
