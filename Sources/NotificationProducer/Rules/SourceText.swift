import Yams

/// The text of a rule file by lines, to tell where within a long text a mistake is.
struct SourceText {
    private let lines: [Substring]

    init(_ text: String) {
        lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    }

    /// Lines and characters that are looked through for one mistake.
    private static let maximumLines = 1_000
    private static let maximumSnippet = 80

    /// Where a piece of a text begins, counted from 1, when it is found at or behind where the text begins.
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

    /// Where a character of a text is, when the text is written on one line as it is.
    func place(ofCharacter offset: Int, in scalar: Node.Scalar) -> (line: Int, column: Int)? {
        guard let mark = scalar.mark, (1...lines.count).contains(mark.line) else { return nil }
        let isQuoted = scalar.style == .singleQuoted || scalar.style == .doubleQuoted
        let start = mark.column - 1 + (isQuoted ? 1 : 0)
        guard lines[mark.line - 1].dropFirst(start).hasPrefix(scalar.string) else { return nil }
        return (mark.line, start + offset + 1)
    }
}
