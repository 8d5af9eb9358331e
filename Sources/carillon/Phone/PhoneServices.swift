import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NotificationModel
import PushSimulation
import ServiceHTTP

/// What the page reaches of the services. An app's calls go on with the app's own token; what only a back end may do, with the
/// operator's.
struct PhoneServices: Sendable {
    /// Bytes of a body.
    private static let bodyBytes = 256 << 10

    /// A service, once it is known where it listens; nil when it is not enabled.
    typealias Place = @Sendable () async throws -> ServiceClient?

    /// The producer service.
    let producer: Place
    /// The queries of the consumer service.
    let queries: Place
    let application: String
    /// Signs recipient tokens; nil where the services ask for none.
    let signer: RecipientTokenSigner?
    let now: @Sendable () -> Timestamp

    // MARK: - Calls of apps

    /// The calls of the HTTP API that a recipient token is good for, and those of a back end.
    var routes: [Route] {
        let recipient = "/v1/recipients/{recipient}"
        let device = "\(recipient)/devices/{device}"
        let notification = "\(recipient)/notifications/{identifier}"
        let ofApps =
            ["responses", "receipts", "locations", "app-states"].map { pass(.post, "\(recipient)/\($0)") }
            + [pass(.put, device), pass(.delete, device)]
        let questions = [device, "\(recipient)/devices", notification, "\(recipient)/notifications"].map { path in
            PhoneGuard.route(.get, path) { call, _ in
                try await pass(call, to: queries, body: nil, isOperator: false)
            }
        }
        let ofBackEnds = [
            pass(.put, notification, isOperator: true), pass(.delete, notification, isOperator: true),
            pass(.post, "\(recipient)/notifications", isOperator: true), pass(.put, "/v1/categories", isOperator: true),
            pass(.get, "/v1/categories", isOperator: true),
        ]
        return ofApps + questions + ofBackEnds + [tokens]
    }

    /// What an app asks its own back end for.
    private var tokens: Route {
        PhoneGuard.route(.post, "/v1/tokens") { call, body in
            let fields = try await call.fields(&body, ["recipient"])
            let recipient = try fields.required(try fields.text("recipient"), "recipient")
            let token = signer.map { JSONValue.string($0.token(for: recipient, at: now())) } ?? .null
            return .json(.object([.init("token", token), .init("seconds", .number("\(RecipientTokenSigner.life)"))]))
        }
    }

    private func pass(_ method: HTTPRequest.Method, _ path: String, isOperator: Bool = false) -> Route {
        PhoneGuard.route(method, path) { call, body in
            let bytes = try await body.read(upTo: Self.bodyBytes)
            return try await pass(call, to: producer, body: bytes.isEmpty ? nil : bytes, isOperator: isOperator)
        }
    }

    /// Calls the service as the page was called.
    private func pass(
        _ call: Call,
        to place: Place,
        body: [UInt8]?,
        isOperator: Bool
    ) async throws -> Response {
        let target = call.request.head.path ?? "/"
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let answer: ServiceClient.Answer
        do {
            guard let service = try await place() else {
                throw CommandFailure("the queries of the consumer service are not enabled", status: ExitStatus.failed)
            }
            answer = try await service.exchange(
                call.request.method.rawValue,
                parts[0],
                query: parts.count > 1 ? parts[1] : nil,
                body: body,
                authorization: isOperator ? service.token.map { "Bearer \($0)" } : call.request.headers[.authorization]
            )
        } catch {
            throw Problem(.badGateway, .unavailable, "The service does not answer: \(error)")
        }
        var response = Response(
            status: .init(code: answer.status),
            body: .init(byteBuffer: ByteBuffer(bytes: answer.body))
        )
        response.headers[.contentType] = answer.contentType
        response.headers[.retryAfter] = answer.retryAfter
        return response
    }
}

/// Keeps other pages of this machine away: a browser says whose page calls.
enum PhoneGuard {
    /// A route that only the page itself may call.
    static func route(_ method: HTTPRequest.Method, _ path: String, _ handler: @escaping Route.Handler) -> Route {
        Route(method, path, role: nil) { call, body in
            try check(call.request.headers, method: call.request.method, host: call.request.head.authority)
            return try await handler(call, &body)
        }
    }

    /// A page of another origin cannot send JSON without being asked for CORS, which is not given; and it cannot leave out or
    /// forge these headers.
    ///
    /// - Throws: ``Problem`` 403, or 415 for a body that is no JSON.
    static func check(_ headers: HTTPFields, method: HTTPRequest.Method, host: String?) throws(Problem) {
        let site = HTTPField.Name("sec-fetch-site").flatMap { headers[$0] }
        guard site.map({ ["same-origin", "none"].contains($0) }) ?? true else { throw .otherPage }
        if let origin = headers[.origin] {
            guard let host, origin == "http://\(host)" else { throw .otherPage }
        }
        guard method == .post || method == .put else { return }
        let type = (headers[.contentType] ?? "").prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        guard type == "application/json" else { throw .unsupportedMediaType("application/json") }
    }
}

extension Problem {
    fileprivate static let otherPage = Problem(.forbidden, .forbidden, "Only the page itself may call this.")
}
