/// A fast generator whose numbers follow from its seed, on every machine (Steele, Lea and Flood: Fast splittable pseudorandom number
/// generators, 2014). Not for secrets.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A generator.
    package init(seed: UInt64) { state = seed }

    /// The next number.
    package mutating func next() -> UInt64 {
        state &+= Self.step
        return Self.mixed(state)
    }

    /// What its state grows by with each number.
    package static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// Spreads what differs in a few bits over all.
    package static func mixed(_ word: UInt64) -> UInt64 {
        var word = word
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }
}
