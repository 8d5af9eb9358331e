import HTTPTypes
import Hummingbird
import NIOCore
import NotificationModel

/// An answer that is not a success: `application/problem+json` (RFC 9457) with two members more, `reason` (a code to compare)
/// and `field` (the part of the input it is about).
struct Problem: Error {
    static let mediaType = "application/problem+json"

    var status: HTTPResponse.Status
    var reason: ReasonCode
    var detail: String
    var field: String?
    var headers: HTTPFields = [:]

    /// Input that was refused.
    init(_ error: ModelError) {
        status =
            switch error.reason {
            case .tooLarge: .contentTooLarge
            case .unsupportedForm: .unprocessableContent
            default: .badRequest
            }
        reason = error.reason
        detail = error.detail
        field = error.field
    }

    private init(
        _ status: HTTPResponse.Status,
        _ reason: ReasonCode,
        _ detail: String,
        field: String? = nil,
        headers: HTTPFields = [:]
    ) {
        self.status = status
        self.reason = reason
        self.detail = detail
        self.field = field
        self.headers = headers
    }

    /// The body of the answer.
    var json: [UInt8] {
        var json: [UInt8] = []
        func member(_ name: String, _ value: String) {
            json.append(json.isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
            JSONWriter.append(string: name, to: &json)
            json.append(UInt8(ascii: ":"))
            JSONWriter.append(string: value, to: &json)
        }
        member("type", "urn:carillon:problem:\(reason.rawValue)")
        member("title", status.reasonPhrase)
        json += Array(",\"status\":\(status.code)".utf8)
        member("detail", detail)
        member("reason", reason.rawValue)
        if let field { member("field", field) }
        json.append(UInt8(ascii: "}"))
        return json
    }

    var response: Response {
        var headers = headers
        headers[.contentType] = Self.mediaType
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: json)))
    }
}

// MARK: - What is wrong with the call

extension Problem {
    static let notFound = Problem(.notFound, .notFound, "There is no such resource here.")

    static func methodNotAllowed(_ allowed: [HTTPRequest.Method]) -> Problem {
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        return Problem(
            .methodNotAllowed,
            .methodNotAllowed,
            "This resource takes \(names).",
            headers: [.allow: names]
        )
    }

    static func bodyTooLarge(limit: Int) -> Problem {
        Problem(.contentTooLarge, .tooLarge, "The body may have \(limit) bytes.")
    }

    static func unsupportedMediaType(_ allowed: String) -> Problem {
        Problem(.unsupportedMediaType, .unsupportedMediaType, "The body must be \(allowed).")
    }

    static let expectationFailed = Problem(
        .expectationFailed,
        .invalid,
        "The only expectation that is known is 100-continue.",
        field: "expect"
    )

    /// - Parameter isWrong: There is a token, and it is not one of ours.
    static func unauthenticated(isWrong: Bool) -> Problem {
        Problem(
            .unauthorized,
            .unauthenticated,
            isWrong
                ? "The token is not known here." : "Send a token: `Authorization: Bearer …`.",
            field: "authorization",
            headers: [.wwwAuthenticate: isWrong ? "Bearer error=\"invalid_token\"" : "Bearer"]
        )
    }

    static func forbidden(_ role: TokenRole) -> Problem {
        Problem(
            .forbidden,
            .forbidden,
            "The token does not have the role \(role.rawValue).",
            field: "authorization",
            headers: [.wwwAuthenticate: "Bearer error=\"insufficient_scope\", scope=\"\(role.rawValue)\""]
        )
    }
}

// MARK: - What is wrong with the connection

extension Problem {
    static func malformed(_ detail: String, field: String? = nil) -> Problem {
        Problem(.badRequest, .invalid, detail, field: field)
    }

    static func targetTooLong(limit: Int) -> Problem {
        Problem(.uriTooLong, .tooLarge, "The request's target may have \(limit) bytes.", field: "target")
    }

    static func headersTooLarge(bytes: Int, count: Int) -> Problem {
        Problem(
            .requestHeaderFieldsTooLarge,
            .tooLarge,
            "A request may have \(count) header fields with \(bytes) bytes in all.",
            field: "headers"
        )
    }

    static let receiveTimeout = Problem(
        .requestTimeout,
        .receiveTimeout,
        "The request did not arrive whole in time."
    )
}

// MARK: - What is wrong with us

extension Problem {
    /// More bytes are in memory than the bound allows.
    static let overloaded = Problem(
        .serviceUnavailable,
        .overloaded,
        "Too much is under way. Repeat the call.",
        headers: [.retryAfter: "1"]
    )

    /// Nothing is known to be on the broker; the same call is safe to repeat.
    static let unavailable = Problem(
        .serviceUnavailable,
        .unavailable,
        "The broker did not acknowledge in time. Repeat the call: a notification replaces the one of its identifier, and an "
            + "event is recognised by its source and id.",
        headers: [.retryAfter: "5"]
    )

    static let internalError = Problem(
        .internalServerError,
        .internalError,
        "The request could not be handled; the log says why."
    )
}
