/// A log of all events of a run: a hash of all lines, and the last lines.
package struct Trace {
    private static let kept = 20_000

    /// FNV-1a over all lines: two runs with the same hash had the same events.
    package private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    /// The number of all lines.
    package private(set) var count = 0
    private var ring: [String] = []

    package mutating func note(_ microseconds: Int64, _ who: String, _ what: String) {
        count += 1
        let line = "\(Self.time(microseconds)) \(who): \(what)"
        for byte in line.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        if ring.count < Self.kept { ring.append(line) } else { ring[(count - 1) % Self.kept] = line }
    }

    /// The last lines, the oldest first.
    package var lines: [String] {
        guard count > Self.kept else { return ring }
        let split = count % Self.kept
        return Array(ring[split...] + ring[..<split])
    }

    private static func time(_ microseconds: Int64) -> String {
        let fraction = String(microseconds % 1_000_000)
        return "\(microseconds / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
    }
}
