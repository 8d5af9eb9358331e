import NotificationModel

/// The repeated option `--user-info`: each a JSON object, or `name=value` for a text.
enum UserInfoArguments {
    private static let field = "content.userInfo"

    /// The members of all of them.
    ///
    /// Throws `invalid` for what is neither, and for a name that appears twice.
    static func object(of items: [String]) throws(ModelError) -> JSONValue {
        var members: [JSONValue.Member] = []
        for item in items {
            let more = try Self.members(item)
            for member in more where members.contains(where: { $0.name == member.name }) {
                throw ModelError(.invalid, field: "\(field).\(member.name)", "appears twice")
            }
            members += more
        }
        return .object(members)
    }

    private static func members(_ text: String) throws(ModelError) -> [JSONValue.Member] {
        guard text.first(where: { !$0.isWhitespace }) == "{" else {
            guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
                throw ModelError(.invalid, field: field, "takes a JSON object, or name=value")
            }
            return [.init(String(text[..<equals]), .string(String(text[text.index(after: equals)...])))]
        }
        do throws(ModelError) {
            return try JSONValue.parse(Array(text.utf8)).objectValue ?? []
        } catch {
            throw ModelError(error.reason, field: field, error.detail)
        }
    }
}
