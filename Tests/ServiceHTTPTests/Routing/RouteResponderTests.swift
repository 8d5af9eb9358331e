import HTTPTesting
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOEmbedded
import NotificationModel
import Testing
import TestSupport

@testable import ServiceHTTP

@Suite("Routes of an HTTP interface")
struct RouteResponderTests {
    private struct Answer {
        var status: Int
        var headers: HTTPFields
        var body: String

        func member(_ name: String) throws -> String? {
            try JSONValue.parse(Array(body.utf8))[name]?.stringValue
        }
    }

    private struct Collected: ResponseBodyWriter {
        final class Text {
            var text = ""
        }

        let all = Text()

        mutating func write(_ buffer: ByteBuffer) async throws { all.text += String(buffer: buffer) }
        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    private struct Failure: Error {}

    private static func text(_ text: String) -> Response {
        Response(status: .ok, headers: [.contentType: "text/plain"], body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    private static let routes = [
        Route(.get, "/v1/things", role: .query) { _, _ in text("all") },
        Route(.post, "/v1/things", role: .publish) { _, body in
            text(String(decoding: try await body.read(upTo: 10), as: UTF8.self))
        },
        Route(.get, "/v1/things/first", role: .query) { _, _ in text("the first") },
        Route(.get, "/v1/things/{thing}", role: .query) { call, _ in text(try call.parameter("thing")) },
        Route(.put, "/v1/things/{thing}/parts/{part}", role: nil) { call, _ in
            text("\(try call.parameter("part")) of \(try call.parameter("thing"))")
        },
        Route(.get, "/v1/fails", role: nil) { _, _ in throw Failure() },
        Route(.get, "/v1/refuses", role: nil) { _, _ in throw ModelError(.tooLarge, field: "it", "is too much") },
        Route(.get, "/v1/hidden", role: .query, scope: .hiddenApplication) { call, _ in
            text(call.isOfOtherApplication ? "nothing" : call.application)
        },
        Route(.get, "/v1/several", role: .query, scope: .handler) { call, _ in
            text(call.caller.applications.text ?? "all")
        },
        Route(.post, "/v1/{recipient}/tells", role: .signal, allowsRecipients: true) { call, _ in
            text("\(try call.parameter("recipient")) of \(call.application) by \(call.caller.identity.prefix(18))")
        },
        Route(.get, "/v1/misdeclared/{a}", role: nil) { call, _ in text(try call.parameter("b")) },
    ]

    private func call(
        _ method: HTTPRequest.Method,
        _ target: String,
        headers: HTTPFields = [:],
        body: String = "",
        authority: String? = "localhost",
        access: Access = .everybody
    ) async throws -> Answer {
        let logger = quiet
        let responder = RouteResponder(
            Self.routes,
            access: AccessControl(access, defaultApplication: "shop", now: { Timestamp(rawValue: 1_795_000_060_000) }),
            memory: CallMemory(limit: 1_000),
            metrics: .none,
            logger: logger
        )
        var fields = headers
        if !body.isEmpty { fields[.contentLength] = "\(body.utf8.count)" }
        let head = HTTPRequest(
            method: method,
            scheme: "http",
            authority: authority,
            path: target,
            headerFields: fields
        )
        let response = try await responder.respond(
            to: Request(head: head, body: .init(buffer: ByteBuffer(string: body))),
            context: CallContext(source: .init(channel: NIOAsyncTestingChannel(), logger: logger))
        )
        let collected = Collected()
        try await response.body.write(collected)
        return Answer(status: response.status.code, headers: response.headers, body: collected.all.text)
    }

    private func expect(
        _ answer: Answer,
        _ status: Int,
        _ reason: ReasonCode,
        _ field: String? = nil,
        _ comment: Comment? = nil,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(answer.status == status, comment, sourceLocation: location)
        #expect(answer.headers[.contentType] == "application/problem+json", comment, sourceLocation: location)
        #expect(try answer.member("reason") == reason.rawValue, comment, sourceLocation: location)
        #expect(try answer.member("field") == field, comment, sourceLocation: location)
    }

    @Test(
        "A handler gets the path parameters by name, percent-decoded once",
        arguments: [
            ("/v1/things/a/parts/b", "b of a"), ("/v1/things/a%2Fb/parts/%2541", "%41 of a/b"),
            ("/v1/things//parts/", " of "), ("/v1/things/../parts/.", ". of .."),
            ("/v1/things/a+b/parts/%E4%BD%A0?x=/y", "你 of a+b"), ("/v1/things/things/parts/parts", "parts of things"),
        ]
    )
    func parameters(target: String, text: String) async throws {
        let answer = try await call(.put, target)
        #expect(answer.status == 200)
        #expect(answer.body == text)
    }

    @Test("An error names the parameter that cannot be decoded")
    func undecodable() async throws {
        try expect(try await call(.put, "/v1/things/%zz/parts/b"), 400, .invalid, "thing")
        try expect(try await call(.put, "/v1/things/a/parts/%ff"), 400, .notUTF8, "part")
    }

    @Test(
        "A path without a route is not found, whatever the method",
        arguments: [
            "/", "", "*", "/v1", "/v1/", "//v1/things", "/v1//things", "/v1/things/a/", "/v1/things/a/parts",
            "/v1/things/a/parts/b/", "/v1/things%2Fa", "/V1/things", "/v1/%74hings", "/v1/things/a/parts%2Fb",
            "/v1/things#a",
        ],
        [HTTPRequest.Method.get, .put, .options]
    )
    func notFound(target: String, method: HTTPRequest.Method) async throws {
        try expect(try await call(method, target), 404, .notFound)
    }

    @Test("An unsupported method is answered with the supported ones")
    func methods() async throws {
        for (method, target, allow) in [
            (HTTPRequest.Method.delete, "/v1/things", "GET, HEAD, POST"), (.options, "/v1/things", "GET, HEAD, POST"),
            (.post, "/v1/things/a", "GET, HEAD"), (.get, "/v1/things/a/parts/b", "PUT"),
            (.head, "/v1/things/a/parts/b", "PUT"),
        ] {
            let answer = try await call(method, target)
            #expect(answer.status == 405, "\(method) \(target)")
            #expect(answer.headers[.allow] == allow, "\(method) \(target)")
            if method != .head { try expect(answer, 405, .methodNotAllowed) }
        }
    }

    @Test("The first matching route answers")
    func order() async throws {
        #expect(try await call(.get, "/v1/things/first").body == "the first")
        #expect(try await call(.get, "/v1/things/second").body == "second")
    }

    @Test("HEAD has the headers of GET, and no body")
    func head() async throws {
        let got = try await call(.get, "/v1/things")
        let answer = try await call(.head, "/v1/things")
        #expect(got.body == "all")
        #expect(answer.status == 200)
        #expect(answer.body == "")
        #expect(answer.headers == got.headers)
        #expect(answer.headers[.contentLength] == "3")
    }

    @Test("An error of a handler becomes a problem, and an internal error shows no details")
    func failures() async throws {
        try expect(try await call(.get, "/v1/refuses"), 413, .tooLarge, "it")
        for target in ["/v1/fails", "/v1/misdeclared/a"] {
            let answer = try await call(.get, target)
            try expect(answer, 500, .internalError)
            #expect(!answer.body.contains("Failure") && !answer.body.contains("misdeclared"))
        }
    }

    @Test("A body is read on demand, up to its limit")
    func body() async throws {
        #expect(try await call(.post, "/v1/things", body: "0123456789").body == "0123456789")
        try expect(try await call(.post, "/v1/things", body: "0123456789a"), 413, .tooLarge)
    }

    @Test("An error names the header that is not UTF-8, an attribute of an event by its own name")
    func headers() async throws {
        let name = try #require(HTTPField.Name("x-name"))
        let attribute = try #require(HTTPField.Name("ce-id"))
        try expect(try await call(.get, "/v1/things", headers: [name: "a\u{FFFD}"]), 400, .notUTF8, "x-name")
        try expect(try await call(.get, "/v1/things", headers: [attribute: "\u{FFFD}"]), 400, .notUTF8, "id")
        #expect(try await call(.get, "/v1/things", headers: [name: "ï\u{FFFC}"]).status == 200)
    }

    @Test("An unauthenticated caller learns nothing of the routes; others need the role of the route")
    func roles() async throws {
        let access = Access.tokens(
            AccessTokens(bearers: try TokenFile.parse("query * a-token-of-a-reader", file: "tokens"))
        )
        let reader: HTTPFields = [.authorization: "Bearer a-token-of-a-reader"]
        for target in ["/v1/things", "/nowhere"] {
            for method in [HTTPRequest.Method.get, .delete] {
                let answer = try await call(method, target, access: access)
                try expect(answer, 401, .unauthenticated, "authorization")
                #expect(answer.headers[.wwwAuthenticate] == "Bearer")
            }
        }
        func status(_ method: HTTPRequest.Method, _ target: String) async throws -> Int {
            try await call(method, target, headers: reader, access: access).status
        }
        #expect(try await status(.get, "/v1/things") == 200)
        #expect(try await status(.head, "/v1/things") == 200)
        #expect(try await status(.put, "/v1/things/a/parts/b") == 200, "every token will do")
        #expect(try await status(.get, "/nowhere") == 404)
        #expect(try await status(.delete, "/v1/things") == 405)
        let weak = try await call(.post, "/v1/things", headers: reader, body: "x", access: access)
        try expect(weak, 403, .forbidden, "authorization")
        #expect(weak.headers[.wwwAuthenticate]?.contains("scope=\"publish\"") == true)
    }

    @Test("A token is good for its applications only: another one is refused, or does not exist")
    func applications() async throws {
        let file = "query,publish bank,caf%C3%A9 a-token-of-the-bank\nquery shop a-token-of-the-shop"
        let access = Access.tokens(AccessTokens(bearers: try TokenFile.parse(file, file: "tokens")))
        func ask(_ target: String, _ name: String = "bank") async throws -> Answer {
            try await call(.get, target, headers: [.authorization: "Bearer a-token-of-the-\(name)"], access: access)
        }
        for own in ["bank", "caf%C3%A9", "caf%c3%a9", "ban%6B"] {
            #expect(try await ask("/v1/things?application=\(own)").body == "all")
        }
        // The default application is the shop.
        for other in ["", "?application=shop", "?application=", "?application=cafe%CC%81", "?x=bank&application=shop"] {
            let answer = try await ask("/v1/things\(other)")
            try expect(answer, 403, .forbidden, "application", "\(other)")
            #expect(answer.headers[.wwwAuthenticate] == "Bearer error=\"insufficient_scope\"")
            #expect(try await ask("/v1/hidden\(other)").body == "nothing")
        }
        #expect(try await ask("/v1/things", "shop").body == "all")
        #expect(try await ask("/v1/hidden", "shop").body == "shop")
        #expect(try await ask("/v1/hidden?application=bank").body == "bank")
        #expect(try await ask("/v1/several").body == "bank,caf%C3%A9")
        #expect(try await call(.get, "/v1/several").body == "all")
        try expect(try await ask("/v1/things?application=%zz"), 400, .invalid, "application")
    }

    @Test("A recipient token is good for the calls that allow it, for its own recipient and application")
    func recipients() async throws {
        let signer = TestToken(id: "k")
        let keys = try RecipientKeyFile.parse("shop k HS256 \(signer.key)", file: "keys")
        let access = Access.tokens(AccessTokens(recipients: keys))
        let token = signer.signed(for: "a/b", at: 1_795_000_000)
        func tell(_ method: HTTPRequest.Method, _ target: String, token: String = token) async throws -> Answer {
            try await call(method, target, headers: [.authorization: "Bearer \(token)"], access: access)
        }
        #expect(try await tell(.post, "/v1/a%2Fb/tells").body == "a/b of shop by recipient shop/a%2")
        #expect(try await tell(.post, "/v1/a%2fb/tells?application=shop").status == 200)
        try expect(try await tell(.post, "/v1/a%252Fb/tells"), 403, .forbidden, "recipient")
        try expect(try await tell(.post, "/v1/bob/tells"), 403, .forbidden, "recipient")
        try expect(try await tell(.post, "/v1/a%2Fb/tells?application=bank"), 403, .forbidden, "application")
        try expect(try await tell(.get, "/v1/hidden"), 403, .forbidden, "authorization")
        try expect(try await tell(.put, "/v1/things/a/parts/b"), 403, .forbidden, "authorization")
        try expect(try await tell(.post, "/v1/a%2Fb/tells", token: token + "A"), 401, .unauthenticated, "authorization")
    }

    @Test("Without tokens, calls must use a loopback name or the listener's address")
    func names() async throws {
        let access = Access.thisMachine(host: "localhost.localdomain")
        for own in ["localhost:80", "127.8.8.8", "[::1]:1", "LOCALHOST.localdomain:9", nil] {
            #expect(try await call(.get, "/v1/things", authority: own, access: access).status == 200)
        }
        for foreign in ["example.com", "localhost.example.com", "10.0.0.1", "", "[::2]", "a b"] {
            let answer = try await call(.get, "/nowhere", authority: foreign, access: access)
            try expect(answer, 403, .forbidden, "host", "\(foreign)")
            #expect(try await call(.get, "/v1/things", authority: foreign).status == 200)
        }
    }
}
