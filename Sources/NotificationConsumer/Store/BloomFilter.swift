/// A fast test for absent keys: about one in a hundred absent keys is reported as possibly present.
///
/// It grows by adding larger tables, with ten bits per key. Keys are never removed: the owner rebuilds the filter when
/// many keys are gone.
struct BloomFilter {
    private struct Table {
        private var words: [UInt64]
        private let mask: UInt64
        let capacity: Int
        var count = 0

        /// - Parameter bits: a power of two, 512 or more.
        init(bits: Int) {
            words = Array(repeating: 0, count: bits / 64)
            mask = UInt64(bits - 1)
            capacity = bits / 10
        }

        func contains(_ hash: KeyHash) -> Bool {
            var (place, step) = Self.walk(hash)
            for _ in 0..<7 {
                if words[Int((place & mask) >> 6)] & (1 << (place & 63)) == 0 { return false }
                place &+= step
            }
            return true
        }

        mutating func insert(_ hash: KeyHash) {
            var (place, step) = Self.walk(hash)
            for _ in 0..<7 {
                words[Int((place & mask) >> 6)] |= 1 << (place & 63)
                place &+= step
            }
            count += 1
        }

        /// The first bit position and the step between positions.
        private static func walk(_ hash: KeyHash) -> (UInt64, UInt64) {
            let word =
                (UInt64(bitPattern: hash.recipient) << 32 ^ UInt64(bitPattern: hash.key)) &* 0x9E37_79B9_7F4A_7C15
            let mixed = (word ^ word >> 29) &* 0xBF58_476D_1CE4_E5B9
            return (mixed >> 32, mixed | 1)
        }
    }

    private var tables: [Table]

    /// - Parameter keys: the expected number of keys; the filter may take more.
    init(expecting keys: Int = 0) {
        tables = [Table(bits: Self.bits(for: keys))]
    }

    /// At least ten bits per key, and 8 KiB.
    private static func bits(for keys: Int) -> Int {
        var bits = 1 << 16
        while bits < keys.multipliedReportingOverflow(by: 10).partialValue { bits <<= 1 }
        return bits
    }

    /// The approximate number of different keys inserted.
    var count: Int { tables.reduce(0) { $0 + $1.count } }

    /// Returns false when the key was never inserted.
    func contains(_ hash: KeyHash) -> Bool {
        // The last table holds about half of all keys.
        tables.reversed().contains { $0.contains(hash) }
    }

    /// Inserts a key; returns false when it is certainly new.
    @discardableResult
    mutating func insert(_ hash: KeyHash) -> Bool {
        if contains(hash) { return true }
        if tables[tables.count - 1].count >= tables[tables.count - 1].capacity {
            tables.append(Table(bits: Self.bits(for: count * 2)))
        }
        tables[tables.count - 1].insert(hash)
        return false
    }
}
