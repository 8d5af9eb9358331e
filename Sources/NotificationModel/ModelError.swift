/// What was wrong with a record, an event or one of their parts, and where.
public struct ModelError: Error, Sendable, Hashable {
    /// The code that crosses Kafka and HTTP.
    public let reason: ReasonCode
    /// Dotted path of the offending field (`content.attachments.0.url`, `ce_id`), nil when the whole is meant.
    public let field: String?
    /// For people: what was found and what is expected. Never compare it.
    public let detail: String

    /// An error with all its parts.
    public init(_ reason: ReasonCode, field: String? = nil, _ detail: String) {
        self.reason = reason
        self.field = field
        self.detail = detail
    }

    /// The same error, its field seen from one level further out; an error of the whole text stays one.
    func inside(_ parent: @autoclosure () -> String) -> ModelError {
        guard let field else { return self }
        return ModelError(reason, field: field.isEmpty ? parent() : parent() + "." + field, detail)
    }
}

extension ModelError: CustomStringConvertible {
    /// `reason at field: detail`.
    public var description: String {
        if let field { return "\(reason.rawValue) at \(field): \(detail)" }
        return "\(reason.rawValue): \(detail)"
    }
}
