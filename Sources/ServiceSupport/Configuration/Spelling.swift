/// Finds the known name that a misspelt one probably means.
package enum Spelling {
    /// The nearest name, if it is near enough for a suggestion.
    ///
    /// Ignores case and separators, so `kafka.bootstrapservers` matches `kafka.bootstrapServers` exactly.
    package static func nearest(to name: String, among known: [String]) -> String? {
        let given = folded(name)
        let limit = min(3, max(1, given.count / 4))
        let best = known.map { (name: $0, distance: distance(given, folded($0))) }.min { $0.distance < $1.distance }
        return best.flatMap { $0.distance <= limit ? $0.name : nil }
    }

    private static func folded(_ text: String) -> [UInt8] {
        text.lowercased().utf8.filter { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }
    }

    /// Counts insertions, deletions, replacements and swaps of neighbours.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var previous: [Int] = []
        var current = Array(0...right.count)
        for i in left.indices {
            let before = previous
            previous = current
            current[0] = i + 1
            for j in right.indices {
                let cost = left[i] == right[j] ? 0 : 1
                current[j + 1] = min(previous[j + 1] + 1, current[j] + 1, previous[j] + cost)
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    current[j + 1] = min(current[j + 1], before[j - 1] + 1)
                }
            }
        }
        return current[right.count]
    }
}
