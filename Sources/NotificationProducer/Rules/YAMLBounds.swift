import Yams

/// Keeps aliases of a YAML text from standing for more than the text could hold itself: a few lines of aliases of aliases would
/// be larger than any memory, and comparing them as keys takes as long.
///
/// The parser resolves aliases as it reads, so what they come to is worked out before, on the same text with every `*` made a
/// letter: an alias is a plain word then. Nesting needs no bound of its own, the parser goes 1,000 deep.
enum YAMLBounds {
    /// What a text may come to with its aliases resolved, in bytes of its scalars and 8 for each node.
    static let maximumWeight = 4 << 20

    /// In private use, so it is in no name.
    private static let marker: Character = "\u{E02A}"

    /// - Returns: What is wrong at the place that goes beyond the bound.
    /// - Throws: What the parser says.
    static func problem(in text: String) throws -> RuleFileError.Problem? {
        let bytes = text.utf8
        guard bytes.contains(UInt8(ascii: "*")), bytes.contains(UInt8(ascii: "&")) else { return nil }
        var expansion = Expansion()
        let parser = try Parser(yaml: text.replacing("*", with: String(marker)))
        // Nodes know their anchors only as long as the parser is there.
        try withExtendedLifetime(parser) {
            if let root = try parser.singleRoot() { _ = expansion.weight(of: root) }
        }
        return expansion.excess.map { mark in
            .init(
                line: mark.line,
                column: mark.column,
                message: "with its aliases the file comes to more than \(maximumWeight) bytes; repeat less"
            )
        }
    }

    private struct Expansion {
        var weights: [Substring: Int] = [:]
        /// Where it became too much.
        var excess: Mark?

        mutating func weight(of node: Node) -> Int {
            var sum = 8
            switch node {
            case .scalar(let scalar):
                if scalar.style == .plain, scalar.string.first == YAMLBounds.marker {
                    sum = weights[scalar.string.dropFirst()] ?? 8
                } else {
                    sum += scalar.string.utf8.count
                }
            case .sequence(let sequence):
                for element in sequence { sum = add(weight(of: element), to: sum, element) }
            case .mapping(let mapping):
                for (key, value) in mapping {
                    sum = add(weight(of: key), to: sum, key)
                    sum = add(weight(of: value), to: sum, value)
                }
            case .alias:
                break
            }
            if let anchor = node.anchor { weights[Substring(anchor.rawValue)] = sum }
            return sum
        }

        private mutating func add(_ more: Int, to sum: Int, _ node: Node) -> Int {
            guard sum + more > YAMLBounds.maximumWeight else { return sum + more }
            excess = excess ?? node.mark
            return YAMLBounds.maximumWeight
        }
    }
}
