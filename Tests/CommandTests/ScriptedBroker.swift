import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// A Kafka broker on this machine that answers each request as a test says: for what the embedded broker does not have.
final class ScriptedBroker: Sendable {
    /// The protocol's API keys.
    enum Request: Int16, Sendable {
        case metadata = 3
        case saslHandshake = 17
        case createTopics = 19
        case describeConfigs = 32
        case saslAuthenticate = 36
    }

    /// The bytes of an answer, or of a part of it.
    struct Answer: Sendable {
        private(set) var bytes: [UInt8] = []

        static func + (one: Answer, other: Answer) -> Answer { Answer(bytes: one.bytes + other.bytes) }

        static func int8(_ number: Int8) -> Answer { Answer(bytes: [UInt8(bitPattern: number)]) }
        static func int16(_ number: Int16) -> Answer {
            Answer(bytes: withUnsafeBytes(of: number.bigEndian) { Array($0) })
        }
        static func int32(_ number: Int32) -> Answer {
            Answer(bytes: withUnsafeBytes(of: number.bigEndian) { Array($0) })
        }
        static func string(_ text: String?) -> Answer {
            guard let text else { return int16(-1) }
            return int16(Int16(text.utf8.count)) + Answer(bytes: Array(text.utf8))
        }
        static func array(_ items: [Answer]) -> Answer { items.reduce(int32(Int32(items.count)), +) }
    }

    private static let apiVersions: Int16 = 18
    private static let unsupportedVersion: Int16 = 35

    private let listener: LoopbackListener

    /// - Parameters:
    ///   - versions: The newest version of each request that it has.
    ///   - answer: Nil ends the connection. It gets the port, which the answer to `metadata` needs.
    init(_ versions: [Request: Int16], answer: @escaping @Sendable (Request, _ port: UInt16) -> Answer?) throws {
        let listener = try LoopbackListener()
        self.listener = listener
        listener.start { [port = listener.port] connection in
            Thread { Self.serve(connection, versions) { answer($0, port) } }.start()
        }
    }

    var server: String { "127.0.0.1:\(listener.port)" }

    /// One that offers mechanisms of SASL to a client that asks for PLAIN, and lets nobody in.
    static func refusing(mechanisms: [String], message: String) throws -> ScriptedBroker {
        try ScriptedBroker([.saslHandshake: 1, .saslAuthenticate: 0]) { request, _ in
            switch request {
            // UNSUPPORTED_SASL_MECHANISM
            case .saslHandshake:
                .int16(mechanisms.contains("PLAIN") ? 0 : 33) + .array(mechanisms.map { .string($0) })
            // SASL_AUTHENTICATION_FAILED
            case .saslAuthenticate: .int16(58) + .string(message) + .int32(0)
            default: nil
            }
        }
    }

    private static func serve(
        _ connection: Int32,
        _ versions: [Request: Int16],
        _ answer: (Request) -> Answer?
    ) {
        defer { close(connection) }
        while let size = read(4, from: connection), let request = read(integer(size), from: connection),
            request.count >= 8
        {
            let (key, version) = (Int16(truncatingIfNeeded: integer(request[0..<2])), integer(request[2..<4]))
            let body: Answer?
            if key == apiVersions {
                // A newer client repeats its question in the oldest form.
                let known = versions.map { Answer.int16($0.key.rawValue) + .int16(0) + .int16($0.value) }
                body =
                    .int16(version == 0 ? 0 : unsupportedVersion)
                    + .array([.int16(apiVersions) + .int16(0) + .int16(0)] + known)
            } else {
                body = Request(rawValue: key).flatMap(answer)
            }
            guard let body else { return }
            let bytes = (Answer.int32(Int32(4 + body.bytes.count)) + Answer(bytes: Array(request[4..<8])) + body).bytes
            guard bytes.withUnsafeBytes({ send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }) > 0
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
}
