/// Why and where a record, an event or a part of it is invalid. Its texts may quote the input and are cut at a limit,
/// because they end up in headers, responses and logs.
public struct ModelError: Error, Sendable, Hashable {
    /// The code for Kafka headers and HTTP responses.
    public let reason: ReasonCode
    /// Dotted path of the offending field (`content.attachments.0.url`, `ce_id`); nil when the whole value is invalid.
    /// At most 256 bytes.
    public let field: String?
    /// For people: what was found and what is expected; at most 1,024 bytes. Never compare it.
    public let detail: String

    /// An error with all its parts.
    public init(_ reason: ReasonCode, field: String? = nil, _ detail: String) {
        self.reason = reason
        self.field = field.map { Self.bounded($0, Self.fieldBytes) }
        self.detail = Self.bounded(detail, Self.detailBytes)
    }

    static let fieldBytes = 256
    static let detailBytes = 1_024

    /// The text, cut to the given number of bytes with an ellipsis.
    static func bounded(_ text: String, _ bytes: Int) -> String {
        guard text.utf8.count > bytes else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: bytes - 3)
        while text.utf8[end] & 0xC0 == 0x80 { end = text.utf8.index(before: end) }
        return text[..<end] + "\u{2026}"
    }

    /// The same error with the parent's name prefixed to its field; an error about the whole text is unchanged.
    @usableFromInline
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
