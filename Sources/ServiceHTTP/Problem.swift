package import HTTPTypes
import Hummingbird
import NIOCore
package import NotificationModel

/// An error response: `application/problem+json` (RFC 9457) with extension members: `reason` (a code to compare), `field`
/// (the part of the input that caused the error) and `partition` (the one that another instance owns).
package struct Problem: Error {
    static let mediaType = "application/problem+json"

    var status: HTTPResponse.Status
    var reason: ReasonCode
    var detail: String
    var field: String?
    var partition: Int32?
    var headers: HTTPFields = [:]

    /// The response to invalid input.
    init(_ error: ModelError) {
        status =
            switch error.reason {
            case .tooLarge: .contentTooLarge
            case .unsupportedForm: .unprocessableContent
            case .internalError: .internalServerError
            default: .badRequest
            }
        reason = error.reason
        detail = error.detail
        field = error.field
    }

    /// A problem with all its members.
    package init(
        _ status: HTTPResponse.Status,
        _ reason: ReasonCode,
        _ detail: String,
        field: String? = nil,
        partition: Int32? = nil,
        headers: HTTPFields = [:]
    ) {
        self.status = status
        self.reason = reason
        self.detail = detail
        self.field = field
        self.partition = partition
        self.headers = headers
    }

    /// The response body.
    var json: [UInt8] {
        JSONObjectWriter.object { object, out in
            object.member("type", "urn:carillon:problem:\(reason.rawValue)", &out)
            object.member("title", status.reasonPhrase, &out)
            object.member("status", Int64(status.code), &out)
            object.member("detail", detail, &out)
            object.member("reason", reason.rawValue, &out)
            object.member("field", field, &out)
            object.member("partition", partition.map { Int64($0) }, &out)
        }
    }

    var response: Response {
        var headers = headers
        headers[.contentType] = Self.mediaType
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: json)))
    }
}

// MARK: - Problems of the connection

extension Problem {
    static func malformed(_ detail: String, field: String? = nil) -> Problem {
        Problem(.badRequest, .invalid, detail, field: field)
    }

    static func targetTooLong(limit: Int) -> Problem {
        Problem(.uriTooLong, .tooLarge, "The request's target may have at most \(limit) bytes.", field: "target")
    }

    static func headersTooLarge(bytes: Int, count: Int) -> Problem {
        Problem(
            .requestHeaderFieldsTooLarge,
            .tooLarge,
            "A request may have at most \(count) header fields with \(bytes) bytes in total.",
            field: "headers"
        )
    }

    static let unknownTransferEncoding = Problem(
        .notImplemented,
        .unsupportedForm,
        "The only supported transfer encoding is chunked.",
        field: "transfer-encoding"
    )

    static let receiveTimeout = Problem(
        .requestTimeout,
        .receiveTimeout,
        "The request did not arrive completely in time."
    )

    /// The memory limit for calls is reached.
    package static let overloaded = Problem(
        .serviceUnavailable,
        .overloaded,
        "Too many calls are in progress. Repeat the call.",
        headers: [.retryAfter: "1"]
    )
}
