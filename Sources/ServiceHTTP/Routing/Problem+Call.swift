import HTTPTypes
import NotificationModel

/// Problems of a call.
extension Problem {
    static let notFound = Problem(.notFound, .notFound, "There is no such resource.")

    static func methodNotAllowed(_ allowed: [HTTPRequest.Method]) -> Problem {
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        return Problem(
            .methodNotAllowed,
            .methodNotAllowed,
            "This resource supports \(names).",
            headers: [.allow: names]
        )
    }

    static func bodyTooLarge(limit: Int) -> Problem {
        Problem(.contentTooLarge, .tooLarge, "The body may have at most \(limit) bytes.")
    }

    package static func unsupportedMediaType(_ allowed: String) -> Problem {
        Problem(.unsupportedMediaType, .unsupportedMediaType, "The body must be \(allowed).")
    }

    static let expectationFailed = Problem(
        .expectationFailed,
        .invalid,
        "The only supported expectation is 100-continue.",
        field: "expect"
    )

    static let foreignHost = Problem(
        .forbidden,
        .forbidden,
        "Without tokens, call the API as localhost, 127.0.0.1 or [::1]; set http.tokens.file to use other names.",
        field: "host"
    )

    /// - Parameter isWrong: The call has a token, but an unknown one.
    static func unauthenticated(isWrong: Bool) -> Problem {
        Problem(
            .unauthorized,
            .unauthenticated,
            isWrong
                ? "The token is unknown." : "Send a token: `Authorization: Bearer …`.",
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

    static let internalError = Problem(
        .internalServerError,
        .internalError,
        "The request failed with an internal error; see the log."
    )
}
