import Foundation

/// A small HTTP/1.1 client over a POSIX socket that sends exactly the given bytes: paths and bodies that a proper
/// client would refuse or correct. One connection per call; use ``RawConnection`` for more.
package struct RawHTTP: Sendable {
    package let port: Int

    package init(port: Int) {
        self.port = port
    }

    package struct Answer: Sendable {
        package var status: Int
        /// Names in lower case.
        package var headers: [String: String]
        package var body: [UInt8]

        package var text: String { String(decoding: body, as: UTF8.self) }

        /// The JSON body.
        package var json: [String: Any]? { (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] }

        /// A member of the JSON body as text; numbers in their printed form.
        package subscript(name: String) -> String? { json?[name].map { "\($0)" } }
    }

    package func send(
        _ method: String,
        _ target: String,
        headers: [(String, String)] = [],
        body: [UInt8]? = nil
    ) async throws -> Answer {
        let bytes = Self.request(method, target, headers: [("connection", "close")] + headers, body: body)
        return try await exchange(bytes, hasBody: method != "HEAD")
    }

    package func put(_ target: String, _ json: String, headers: [(String, String)] = []) async throws -> Answer {
        try await send("PUT", target, headers: [("content-type", "application/json")] + headers, body: Array(json.utf8))
    }

    /// Sends bytes unchanged and reads one answer.
    package func exchange(_ bytes: [UInt8], hasBody: Bool = true) async throws -> Answer {
        let connection = try await RawConnection.open(port: port)
        // A server that refuses early may close while the client still sends: its answer counts, not the send error.
        _ = await connection.send(bytes)
        return try await connection.answer(hasBody: hasBody)
    }

    package static func request(
        _ method: String,
        _ target: String,
        headers: [(String, String)] = [],
        body: [UInt8]? = nil
    ) -> [UInt8] {
        var text = "\(method) \(target) HTTP/1.1\r\nhost: localhost\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        if let body { text += "content-length: \(body.count)\r\n" }
        return Array((text + "\r\n").utf8) + (body ?? [])
    }
}
