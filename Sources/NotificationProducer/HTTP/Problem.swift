import HTTPTypes
import Hummingbird
import NIOCore
import NotificationModel

/// An answer that is not a success: `application/problem+json` (RFC 9457) with two members more, `reason` (a code to compare)
/// and `field` (the part of the input it is about).
struct Problem: Error {
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

    private init(_ status: HTTPResponse.Status, _ reason: ReasonCode, _ detail: String, headers: HTTPFields = [:]) {
        self.status = status
        self.reason = reason
        self.detail = detail
        self.headers = headers
    }

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

    /// Nothing is known to be on the broker; the same call is safe to repeat.
    static func unavailable(_ detail: String, retryAfter seconds: Int) -> Problem {
        Problem(.serviceUnavailable, .unavailable, detail, headers: [.retryAfter: String(seconds)])
    }

    static let internalError = Problem(
        .internalServerError,
        .internalError,
        "The request could not be handled; the log says why."
    )

    func response(instance: String?) -> Response {
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
        if let instance { member("instance", instance) }
        json.append(UInt8(ascii: "}"))
        var headers = headers
        headers[.contentType] = "application/problem+json"
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: json)))
    }
}
