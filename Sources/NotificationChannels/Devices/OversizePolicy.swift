/// What is done about a payload that is larger than the push service takes: steps in their order, each only when it is still too large. What
/// does not fit then is refused.
package struct OversizePolicy: Hashable, Sendable {
    package enum Step: String, CaseIterable, Sendable {
        /// Cuts the body between two characters, and marks it with an ellipsis.
        case shorten
        /// Leaves out the attachments.
        case dropMedia = "drop-media"
    }

    package var steps: [Step]

    package init(steps: [Step]) { self.steps = steps }

    /// - Parameter texts: `refuse` alone, or steps, each once.
    package init?(texts: [String]) {
        if texts == ["refuse"] {
            steps = []
            return
        }
        steps = texts.compactMap(Step.init(rawValue:))
        guard !texts.isEmpty, steps.count == texts.count, Set(steps).count == steps.count else { return nil }
    }

    /// Shortens the body.
    package static let standard = OversizePolicy(steps: [.shorten])
    /// Refuses at once.
    package static let refuse = OversizePolicy(steps: [])

    private static let mark = "\u{2026}"

    /// The longest beginning of a text, with the mark, that fits; nil when not even one character fits.
    ///
    /// - Parameters:
    ///   - limit: what `cost` of it may be.
    ///   - cost: of some of its bytes; that of all is the sum.
    static func shortened(
        _ text: String,
        toBytes limit: Int,
        cost: (String.UTF8View) -> Int = { bytesInJSON($0) }
    ) -> String? {
        var left = limit - mark.utf8.count
        var end = text.startIndex
        for character in text {
            left -= cost(character.utf8)
            guard left >= 0 else { break }
            end = text.index(after: end)
        }
        var beginning = text[..<end]
        while beginning.last?.isWhitespace == true { beginning.removeLast() }
        return beginning.isEmpty ? nil : beginning + mark
    }

    /// As `JSONWriter` writes them.
    static func bytesInJSON(_ bytes: some Sequence<UInt8>) -> Int {
        bytes.reduce(0) { sum, byte in
            switch byte {
            case 0x08, 0x09, 0x0A, 0x0C, 0x0D, 0x22, 0x5C: sum + 2
            case 0x00...0x1F, 0x7F: sum + 6
            default: sum + 1
            }
        }
    }
}
