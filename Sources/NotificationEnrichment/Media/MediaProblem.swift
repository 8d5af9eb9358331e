/// Why bytes are refused as an attachment.
package struct MediaProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The raw values are reason codes.
    package enum Code: String, CaseIterable, Sendable {
        /// The bytes are of no supported type, or the type hint names none.
        case unsupportedType = "unsupported-type"
        /// The bytes are of another type than the type hint or the `Content-Type` says.
        case typeMismatch = "type-mismatch"
        /// The file ends too early.
        case truncated
        /// The file breaks the rules of its format, or something else follows it.
        case malformed
        /// More bytes than its kind may have.
        case tooLarge = "too-large"
        /// More pixels, frames or scans than a device should decode, or none.
        case dimensions = "dimensions-refused"
    }

    package let code: Code
    /// For operators: it names formats, labels and numbers, never contents.
    package let detail: String

    package init(_ code: Code, _ detail: String) { (self.code, self.detail) = (code, detail) }

    package var description: String { "\(code.rawValue): \(detail)" }

    static func malformed(_ detail: String) -> Self { Self(.malformed, detail) }
}
