/// A pattern of event types: text, in which each `*` stands for any characters, also none.
struct EventPattern: Hashable, Sendable {
    /// Maximum number of patterns in a file.
    static let maximumCount = 100
    /// Maximum number of bytes of a pattern.
    static let maximumBytes = 256

    /// The texts around the stars, at least one.
    private let pieces: [[UInt8]]

    init(_ text: String) {
        pieces = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map(Array.init)
    }

    /// Compares bytes. The first place of each piece is the right one, so nothing is tried twice.
    func matches(_ type: String) -> Bool {
        var rest = Array(type.utf8)[...]
        guard let first = pieces.first, rest.starts(with: first) else { return false }
        guard pieces.count > 1, let last = pieces.last else { return rest.count == first.count }
        rest = rest.dropFirst(first.count)
        for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
            guard let place = Self.firstIndex(of: piece, in: rest) else { return false }
            rest = rest[(place + piece.count)...]
        }
        return rest.count >= last.count && rest.suffix(last.count).elementsEqual(last)
    }

    private static func firstIndex(of piece: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
        guard text.count >= piece.count else { return nil }
        return (text.startIndex...(text.endIndex - piece.count)).first { text[$0...].starts(with: piece) }
    }
}
