/// Durations as text: a number and a unit.
package enum DurationText {
    /// Nanoseconds, longest unit first so that writing finds the shortest text.
    private static let units: [(name: String, nanoseconds: Int64)] = [
        ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000),
        ("ms", 1_000_000), ("us", 1_000), ("ns", 1),
    ]

    /// Reads `250ms`, `1.5s`, `7d`; nil for anything else, including a number without a unit and durations above 292
    /// years.
    package static func parse(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let name = text[digits.endIndex...]
        guard let unit = units.first(where: { $0.name == name })?.nanoseconds else { return nil }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let whole = Int64(parts[0]) else { return nil }
        let (base, overflow) = whole.multipliedReportingOverflow(by: unit)
        guard !overflow else { return nil }
        var fraction: Int64 = 0
        if parts.count == 2 {
            guard (1...9).contains(parts[1].count), let value = Int64(parts[1]) else { return nil }
            let scale = (0..<parts[1].count).reduce(Int64(1)) { power, _ in power * 10 }
            // Floating point only for the fraction of one unit: exact to the nanosecond below 100 days.
            fraction = Int64((Double(value) / Double(scale) * Double(unit)).rounded())
        }
        let (sum, tooLong) = base.addingReportingOverflow(fraction)
        return tooLong ? nil : .nanoseconds(sum)
    }

    /// The shortest text with one whole number: 90 s is `90s`, 120 s is `2m`.
    package static func write(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        if attoseconds == 0 {
            let unit = units.first {
                $0.nanoseconds >= 1_000_000_000 && seconds % ($0.nanoseconds / 1_000_000_000) == 0
            }
            guard seconds != 0, let unit else { return "0s" }
            return "\(seconds / (unit.nanoseconds / 1_000_000_000))\(unit.name)"
        }
        let nanoseconds = attoseconds / 1_000_000_000
        let unit = units.first { $0.nanoseconds < 1_000_000_000 && nanoseconds % $0.nanoseconds == 0 } ?? ("ns", 1)
        let total = seconds * (1_000_000_000 / unit.nanoseconds) + nanoseconds / unit.nanoseconds
        return "\(total)\(unit.name)"
    }
}
