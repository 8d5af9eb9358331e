/// A kind of local time: its offset, and what it is called.
package struct LocalTimeKind: Hashable, Sendable {
    /// Seconds east of UTC, from -89,999 to 93,599 (RFC 9636, 3.2).
    let offset: Int64
    let isDaylight: Bool
    /// `CET`, `+0330`; 3 to 16 characters.
    let abbreviation: String

    package static let offsets: ClosedRange<Int64> = -89_999...93_599

    /// Whether a byte may be in an abbreviation: letters, and with `signs` digits and signs too.
    static func isAbbreviation(_ byte: UInt8, signs: Bool) -> Bool {
        switch byte {
        case 0x41...0x5A, 0x61...0x7A: true
        case 0x2B, 0x2D, 0x30...0x39: signs
        default: false
        }
    }
}

/// A time in which a zone has one kind of local time. Seconds since 1970-01-01T00:00:00Z.
struct TimeZonePeriod: Hashable, Sendable {
    /// Inclusive; `Int64.min` without a beginning.
    var start: Int64
    /// Exclusive; `Int64.max` without an end.
    var end: Int64
    var kind: LocalTimeKind
}

/// The instants at which a zone's clock shows a wall-clock time. Seconds since 1970-01-01T00:00:00Z.
enum LocalTimeInstants: Hashable, Sendable {
    /// Once.
    case once(Int64)
    /// Never: the clock goes from `before` to `after` (offsets, `before < after`) and leaves the time out.
    case gap(before: Int64, after: Int64)
    /// Twice: the clock goes back between the two.
    case overlap(first: Int64, last: Int64)
}
