import NotificationModel

/// The same numbers for the same seed on every machine.
package struct SeededGenerator: RandomNumberGenerator {
    private var words: SplitMix64

    package init(seed: UInt64) { words = SplitMix64(seed: seed) }

    package mutating func next() -> UInt64 { words.next() }

    /// A number from 0, less than `count`.
    package mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }
}
