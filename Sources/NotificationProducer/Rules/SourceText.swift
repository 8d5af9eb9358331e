import Yams

/// The text of a rule file by lines, to locate a mistake inside a long text.
struct SourceText {
    private let lines: [Substring]

    init(_ text: String) {
        lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    }

    /// Maximum number of lines and characters to search for one mistake.
    private static let maximumLines = 1_000
    private static let maximumSnippet = 80

    /// The position of a snippet, counted from 1, if it is found at or after the start of the text.
    func place(of snippet: String, from mark: Mark) -> (line: Int, column: Int)? {
        let firstLine = snippet.prefix { !$0.isNewline }.prefix(Self.maximumSnippet)
        guard !firstLine.isEmpty else { return nil }
        for (index, line) in lines.enumerated().dropFirst(mark.line - 1).prefix(Self.maximumLines) {
            let start = index == mark.line - 1 ? line.dropFirst(mark.column - 1) : line
            if let range = start.firstRange(of: firstLine) {
                return (index + 1, line.distance(from: line.startIndex, to: range.lowerBound) + 1)
            }
        }
        return nil
    }

    /// The position of a character of a text that is on one line without escapes.
    func place(ofCharacter offset: Int, in scalar: Node.Scalar) -> (line: Int, column: Int)? {
        guard let mark = scalar.mark, (1...lines.count).contains(mark.line) else { return nil }
        let isQuoted = scalar.style == .singleQuoted || scalar.style == .doubleQuoted
        let start = mark.column - 1 + (isQuoted ? 1 : 0)
        guard lines[mark.line - 1].dropFirst(start).hasPrefix(scalar.string) else { return nil }
        return (mark.line, start + offset + 1)
    }
}
