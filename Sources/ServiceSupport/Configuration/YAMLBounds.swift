package import Yams

/// Limits the expansion of aliases in a YAML text: a few lines of nested aliases could exceed any memory, and comparing
/// them as keys takes as long.
///
/// The parser resolves aliases while it reads. So the expanded size is computed before, on the same text with every `*`
/// replaced by a letter, which makes an alias a plain word. Nesting needs no limit here: the parser stops at 1,000
/// levels.
package enum YAMLBounds {
    /// Maximum size of a text with its aliases resolved: bytes of its scalars and 8 for each node.
    package static let maximumWeight = 4 << 20

    /// A private-use character, so no name contains it.
    private static let marker: Character = "\u{E02A}"

    /// What is wrong with a text that exceeds the limit, and what to do.
    package static let message = "with its aliases the file exceeds \(maximumWeight) bytes; use fewer aliases"

    /// - Returns: The position that exceeds the limit; nil when none does.
    /// - Throws: The parser's error.
    package static func excess(in text: String) throws -> Mark? {
        let bytes = text.utf8
        guard bytes.contains(UInt8(ascii: "*")), bytes.contains(UInt8(ascii: "&")) else { return nil }
        var expansion = Expansion()
        let parser = try Parser(yaml: text.replacing("*", with: String(marker)))
        // Nodes know their anchors only while the parser exists.
        try withExtendedLifetime(parser) {
            if let root = try parser.singleRoot() { _ = expansion.weight(of: root) }
        }
        return expansion.excess
    }

    private struct Expansion {
        var weights: [Substring: Int] = [:]
        /// The position that exceeded the limit.
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
