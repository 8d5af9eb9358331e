import NotificationModel
import OutboundHTTP

/// A medium to fetch: an argument, or a line of the input.
struct MediaItem: Sendable, Hashable {
    struct Target: Sendable, Hashable {
        var url: String
        /// The uniform type identifier of the line; nil for that of the command.
        var typeHint: String?
    }

    /// The number of the line, from 1; nil for an argument.
    var line: Int?
    /// What to fetch, or what is wrong with the line.
    var target: Result<Target, ModelError>

    /// An argument.
    init(url: String) { target = .success(Target(url: url)) }

    /// - Parameters:
    ///   - number: The number of the line, from 1.
    ///   - bytes: The line: a URL, or JSON, which is a string or `{"url":…,"typeHint":…}`.
    /// - Returns: Nil for a blank line.
    init?(line number: Int, _ bytes: [UInt8]) {
        let blanks: Set<UInt8> = [0x20, 0x09, 0x0D]
        guard let start = bytes.firstIndex(where: { !blanks.contains($0) }) else { return nil }
        let end = bytes.lastIndex { !blanks.contains($0) } ?? start
        self.init(line: number, Result { () throws(ModelError) in try Self.target(bytes[start...end]) })
    }

    init(line: Int, _ target: Result<Target, ModelError>) { (self.line, self.target) = (line, target) }

    private static func target(_ text: ArraySlice<UInt8>) throws(ModelError) -> Target {
        guard let first = text.first, "{[\"".utf8.contains(first) else {
            guard let url = String(validating: text, as: UTF8.self) else {
                throw ModelError(.notUTF8, "the line is not UTF-8")
            }
            return Target(url: url)
        }
        let value = try JSONValue.parse(text)
        if let url = value.stringValue { return Target(url: url) }
        guard let members = value.objectValue else { throw ModelError(.invalid, "neither a string nor an object") }
        if let member = members.first(where: { !["url", "typeHint"].contains($0.name) }) {
            throw ModelError(.unknownField, field: member.name, "a line has the fields url and typeHint")
        }
        guard let url = value["url"]?.stringValue else {
            throw ModelError(.invalid, field: "url", "a string is required")
        }
        let hint = value["typeHint"]
        guard hint == nil || hint == .null || hint?.stringValue != nil else {
            throw ModelError(.invalid, field: "typeHint", "a string is required")
        }
        return Target(url: url, typeHint: hint?.stringValue)
    }
}
