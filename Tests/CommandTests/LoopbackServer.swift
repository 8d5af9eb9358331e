import Foundation
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// An HTTP server on this machine with one answer for each target, and 404 for others. Each connection has one request.
final class LoopbackServer: Sendable {
    private let listener: LoopbackListener
    private let answers: [String: [UInt8]]
    private let taken = Mutex<[String]>([])
    private let received = Mutex<[String]>([])

    /// - Parameter answers: A whole answer for each target.
    init(_ answers: [String: [UInt8]]) throws {
        self.answers = answers
        let listener = try LoopbackListener()
        self.listener = listener
        listener.start { [answers, weak self] connection in
            Self.answer(connection, answers) { target, request in
                self?.taken.withLock { $0.append(target) }
                self?.received.withLock { $0.append(request) }
            }
        }
    }

    var origin: String { "http://127.0.0.1:\(listener.port)" }

    /// The targets of all requests.
    var targets: [String] { taken.withLock { $0 } }

    /// All requests, with head and body.
    var requests: [String] { received.withLock { $0 } }

    private static func answer(_ connection: Int32, _ answers: [String: [UInt8]], _ note: (String, String) -> Void) {
        defer { close(connection) }
        var request: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while !isWhole(request) {
            let count = recv(connection, &chunk, chunk.count, 0)
            guard count > 0 else { return }
            request += chunk[..<count]
        }
        let words = String(decoding: request, as: UTF8.self).split(separator: " ", maxSplits: 2)
        let target = words.count > 1 ? String(words[1]) : ""
        note(target, String(decoding: request, as: UTF8.self))
        let bytes = answers[target] ?? Self.answer(404)
        _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    private static func isWhole(_ request: [UInt8]) -> Bool {
        guard let end = request.firstRange(of: Array("\r\n\r\n".utf8)) else { return false }
        let head = String(decoding: request[..<end.lowerBound], as: UTF8.self).lowercased()
        let length = head.split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }?.split(separator: " ")
            .last
        return request.count - end.upperBound >= length.flatMap { Int($0) } ?? 0
    }

    static func answer(_ status: Int, _ fields: [String] = [], body: [UInt8] = []) -> [UInt8] {
        let head = ["HTTP/1.1 \(status) Text", "content-length: \(body.count)", "connection: close"] + fields
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }

    static func image(_ bytes: [UInt8]) -> [UInt8] { answer(200, ["content-type: image/png"], body: bytes) }

    static func redirect(to location: String) -> [UInt8] { answer(302, ["location: \(location)"]) }

    /// A PNG of 1×1 pixel.
    static let png: [UInt8] = Array(
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
        ) ?? Data()
    )
}
