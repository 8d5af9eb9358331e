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

    static let unknownName = Problem(
        .forbidden,
        .forbidden,
        "Call this port by an address, as localhost, or by a name of the setting ops.hosts.",
        field: "host"
    )

    /// - Parameters:
    ///   - isWrong: The call has a token, but none that is accepted.
    ///   - refusal: Why; told only of what a known key has signed.
    static func unauthenticated(isWrong: Bool, _ refusal: RecipientToken.Refusal = .unknown) -> Problem {
        let why = refusal == .algorithm || refusal == .signature ? RecipientToken.Refusal.unknown : refusal
        return Problem(
            .unauthorized,
            .unauthenticated,
            isWrong ? why.rawValue : "Send a token: `Authorization: Bearer …`.",
            field: "authorization",
            headers: [.wwwAuthenticate: isWrong ? "Bearer error=\"invalid_token\"" : "Bearer"]
        )
    }

    static func forbidden(_ role: TokenRole) -> Problem {
        forbidden("The token does not have the role \(role.rawValue).", "authorization", scope: role)
    }

    static let notForRecipients = forbidden("A recipient token is not good for this call.", "authorization")

    static let otherRecipient = forbidden("The token is for another recipient.", "recipient")

    /// The data of an application that the token is not good for.
    package static let otherApplication = forbidden("The token is not good for this application.", "application")

    private static func forbidden(_ detail: String, _ field: String, scope: TokenRole? = nil) -> Problem {
        let scope = scope.map { ", scope=\"\($0.rawValue)\"" } ?? ""
        return Problem(
            .forbidden,
            .forbidden,
            detail,
            field: field,
            headers: [.wwwAuthenticate: "Bearer error=\"insufficient_scope\"\(scope)"]
        )
    }

    static let internalError = Problem(
        .internalServerError,
        .internalError,
        "The request failed with an internal error; see the log."
    )
}
