import HTTPTypes
import NotificationModel

/// What is wrong with a call.
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

    package static func unsupportedMediaType(_ allowed: String) -> Problem {
        Problem(.unsupportedMediaType, .unsupportedMediaType, "The body must be \(allowed).")
    }

    static let expectationFailed = Problem(
        .expectationFailed,
        .invalid,
        "The only expectation that is known is 100-continue.",
        field: "expect"
    )

    static let foreignHost = Problem(
        .forbidden,
        .forbidden,
        "Without tokens the API is called as localhost, 127.0.0.1 or [::1]; set http.tokens.file for other names.",
        field: "host"
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

    static let internalError = Problem(
        .internalServerError,
        .internalError,
        "The request could not be handled; the log says why."
    )
}
