/// The values of a calendar component that match: one (`9`), or any of several (`[9, 17]`). Their order and repetitions do not
/// matter.
public struct CalendarValues: Hashable, Sendable, ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral {
    /// A bit for each value; ``outside`` for those that no component has.
    private(set) var bits: UInt64 = 0

    private static let outside = 63

    /// One value.
    public init(_ value: Int) { insert(value) }

    /// Any of several values.
    public init(_ values: some Sequence<Int>) {
        for value in values { insert(value) }
    }

    /// One value.
    public init(integerLiteral value: Int) { self.init(value) }

    /// Any of several values.
    public init(arrayLiteral values: Int...) { self.init(values) }

    /// The values, ascending.
    public var values: [Int] { (0..<Int(UInt64.bitWidth)).filter { bits & 1 << $0 != 0 } }

    /// The value, if it is only one.
    public var only: Int? { isSeveral || bits == 0 ? nil : bits.trailingZeroBitCount }

    /// Whether there is more than one value.
    public var isSeveral: Bool { bits.nonzeroBitCount > 1 }

    /// Whether a value matches.
    public func contains(_ value: Int) -> Bool {
        value >= 0 && value < Self.outside && bits & 1 << value != 0
    }

    /// Whether there is a value, and none outside a range.
    func isWithin(_ range: ClosedRange<Int64>) -> Bool { bits != 0 && bits & ~Self.bits(of: range) == 0 }

    mutating func insert(_ value: Int) {
        bits |= 1 << (value >= 0 && value < Self.outside ? value : Self.outside)
    }

    /// The bits of a range from 0 to 62.
    static func bits(of range: ClosedRange<Int64>) -> UInt64 {
        (2 << range.upperBound) &- (1 << range.lowerBound)
    }
}

extension CalendarValues: CustomStringConvertible {
    /// `9`, `9, 17`.
    public var description: String { values.map(String.init).joined(separator: ", ") }
}
