import NotificationModel

/// The same seed gives the same numbers on every machine.
package struct SeededGenerator: RandomNumberGenerator {
    private var words: SplitMix64

    package init(seed: UInt64) { words = SplitMix64(seed: seed) }

    package mutating func next() -> UInt64 { words.next() }

    /// Another sequence, so that the numbers one part of a simulation draws do not change the numbers of another part.
    mutating func split() -> SeededGenerator { SeededGenerator(seed: next()) }

    /// True with a probability of so many in a thousand.
    mutating func chance(_ perMille: Int) -> Bool { Int(next() % 1000) < perMille }

    mutating func number(_ range: ClosedRange<Int64>) -> Int64 {
        let span = UInt64(bitPattern: range.upperBound &- range.lowerBound) &+ 1
        return span == 0 ? Int64(bitPattern: next()) : range.lowerBound &+ Int64(bitPattern: next() % span)
    }

    mutating func index(_ count: Int) -> Int { Int(next() % UInt64(max(1, count))) }

    mutating func pick<Element>(_ choices: [Element]) -> Element { choices[index(choices.count)] }
}
