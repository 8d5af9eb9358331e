package import HTTPTypes
package import Hummingbird

/// A method of a path, and its handler.
///
///     Route(.put, "/v1/recipients/{recipient}/notifications/{identifier}", role: .publish) { call, body in … }
package struct Route: Sendable {
    /// Handles an authorized call. It reads the body only if it needs it; a thrown error becomes a ``Problem``.
    package typealias Handler = @Sendable (_ call: Call, _ body: inout CallBody) async throws -> Response

    let method: HTTPRequest.Method
    let path: RoutePath
    let role: TokenRole?
    let scope: Scope
    /// Whether recipient tokens are good for it, for the recipient in its path.
    let allowsRecipients: Bool
    /// Whether everybody may call it, without a token and under every host name.
    let isPublic: Bool
    let handler: Handler

    /// Which application's data a call concerns. It matters to callers whose token is not good for all applications.
    package enum Scope: Sendable {
        /// That of the application that `?application=` names, else of the default one. Another one's is refused.
        case application
        /// The same for a question: another one's data does not exist. The handler answers so
        /// (``Call/isOfOtherApplication``).
        case hiddenApplication
        /// That of several applications: the handler looks at the caller's.
        case handler
    }

    /// Declares a route.
    ///
    /// - Parameters:
    ///   - method: A GET route also answers HEAD.
    ///   - path: Its segments; a segment in braces is a parameter and matches any text, also an empty one.
    ///   - role: The required role of the caller's token; nil for any token.
    ///   - scope: Whose data it concerns; without a role it has no effect.
    ///   - allowsRecipients: Whether recipient tokens are good for it, whatever the role; its path must have a
    ///     `{recipient}`.
    ///   - isPublic: Whether everybody may call it, without a token and under every host name.
    ///   - handler: Handles the call.
    package init(
        _ method: HTTPRequest.Method,
        _ path: String,
        role: TokenRole?,
        scope: Scope = .application,
        allowsRecipients: Bool = false,
        isPublic: Bool = false,
        handler: @escaping Handler
    ) {
        self.method = method
        self.path = RoutePath(path)
        self.role = role
        self.scope = scope
        self.allowsRecipients = allowsRecipients
        self.isPublic = isPublic
        self.handler = handler
    }
}

/// The path of a route, `/v1/recipients/{recipient}/notifications`.
struct RoutePath: Sendable {
    private enum Segment: Sendable {
        case literal([UInt8])
        case parameter(String)
    }

    /// The declared text: the label `route` of metrics.
    let text: String
    private let segments: [Segment]

    init(_ text: String) {
        self.text = text
        segments = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { segment in
            segment.first == "{" && segment.last == "}"
                ? .parameter(String(segment.dropFirst().dropLast())) : .literal(Array(segment.utf8))
        }
    }

    /// Whether the path matches. Literals are compared byte by byte, so a percent-encoded literal does not match.
    func matches(_ path: [Substring]) -> Bool {
        guard path.count == segments.count else { return false }
        for (segment, own) in zip(path, segments) {
            guard case .literal(let text) = own else { continue }
            guard segment.utf8.elementsEqual(text) else { return false }
        }
        return true
    }

    /// The index of a parameter among the segments.
    func index(of parameter: String) -> Int? {
        segments.firstIndex { segment in
            guard case .parameter(let name) = segment else { return false }
            return name == parameter
        }
    }
}
