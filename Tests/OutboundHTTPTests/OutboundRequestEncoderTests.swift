import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import OutboundHTTP

@Suite("The bytes of a request")
struct OutboundRequestEncoderTests {
    private func bytes(
        _ method: HTTPMethod = .POST,
        _ target: String = "/a?b=%20",
        _ fields: [(String, String)] = [("host", "a"), ("content-length", "2")],
        body: ByteBuffer? = nil
    ) -> String? {
        let head = HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: HTTPHeaders(fields))
        return OutboundRequestEncoder.bytes(of: head, body).map { String(buffer: $0) }
    }

    @Test func `the target, the fields in their order, and the body`() {
        #expect(
            bytes(body: ByteBuffer(string: "{}"))
                == "POST /a?b=%20 HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}"
        )
        #expect(bytes(.GET, "/", [("x", ""), ("x", "ä\t\"\\ ~")]) == "GET / HTTP/1.1\r\nx: \r\nx: ä\t\"\\ ~\r\n\r\n")
        #expect(bytes(.RAW(value: "M-SEARCH"), "*", []) == "M-SEARCH * HTTP/1.1\r\n\r\n")
    }

    /// NIO's encoder with its validator is the model.
    @Test func `each byte is sent or refused as NIO does`() throws {
        for byte in UInt8.min...UInt8.max {
            let text = "a" + String(decoding: [byte], as: UTF8.self) + "b"
            let heads = [
                HTTPRequestHead(version: .http1_1, method: .GET, uri: text),
                HTTPRequestHead(version: .http1_1, method: .RAW(value: text), uri: "/"),
                HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: [text: "a"]),
                HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["a": text]),
            ]
            for head in heads {
                let own = OutboundRequestEncoder.bytes(of: head, nil).map { String(buffer: $0) }
                #expect(own == Self.model(head), "byte \(byte) in \(head)")
            }
        }
        for head in [
            HTTPRequestHead(version: .http1_1, method: .RAW(value: ""), uri: "/"),
            HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["": "a"]),
            HTTPRequestHead(version: .http1_1, method: .GET, uri: ""),
        ] {
            #expect(OutboundRequestEncoder.bytes(of: head, nil) == nil)
        }
    }

    /// - Returns: What NIO writes; nil when it refuses.
    private static func model(_ head: HTTPRequestHead) -> String? {
        let channel = EmbeddedChannel()
        var encoding = HTTPRequestEncoder.Configuration()
        encoding.automaticallySetFramingHeaders = false
        try? channel.pipeline.syncOperations.addHandlers([
            HTTPRequestEncoder(configuration: encoding), NIOHTTPRequestHeadersValidator(),
        ])
        guard (try? channel.writeOutbound(HTTPClientRequestPart.head(head))) != nil else { return nil }
        guard case .byteBuffer(let bytes)? = try? channel.readOutbound(as: IOData.self) else { return nil }
        return String(buffer: bytes)
    }
}
