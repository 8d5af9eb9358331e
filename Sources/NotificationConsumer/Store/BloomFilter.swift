/// Tells quickly that a key is not there; of a key that is not there it says "perhaps" once in about a hundred times.
///
/// It grows by further, larger tables, ten bits a key. Keys are never taken out: it is made anew when many have gone.
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

        /// Where to begin, and how far to go from place to place.
        private static func walk(_ hash: KeyHash) -> (UInt64, UInt64) {
            let word =
                (UInt64(bitPattern: hash.recipient) << 32 ^ UInt64(bitPattern: hash.key)) &* 0x9E37_79B9_7F4A_7C15
            let mixed = (word ^ word >> 29) &* 0xBF58_476D_1CE4_E5B9
            return (mixed >> 32, mixed | 1)
        }
    }

    private var tables: [Table]

    /// - Parameter keys: how many are expected; more are no harm.
    init(expecting keys: Int = 0) {
        tables = [Table(bits: Self.bits(for: keys))]
    }

    /// At least ten a key, and 8 KiB.
    private static func bits(for keys: Int) -> Int {
        var bits = 1 << 16
        while bits < keys.multipliedReportingOverflow(by: 10).partialValue { bits <<= 1 }
        return bits
    }

    /// How many different keys were put in, about.
    var count: Int { tables.reduce(0) { $0 + $1.count } }

    /// False when the key was never put in.
    func contains(_ hash: KeyHash) -> Bool {
        // The last holds about half of all.
        tables.reversed().contains { $0.contains(hash) }
    }

    /// Puts a key in; false when it was never put in before.
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
