import Testing

@testable import CarillonSimulation

struct SeededGeneratorTests {
    @Test func `the same seed gives the same numbers, another seed gives other numbers`() {
        var (a, b, c) = (SeededGenerator(seed: 1), SeededGenerator(seed: 1), SeededGenerator(seed: 2))
        let first = (0..<100).map { _ in a.next() }
        #expect(first == (0..<100).map { _ in b.next() })
        #expect(first != (0..<100).map { _ in c.next() })
    }

    @Test func `numbers stay in their range and reach both ends`() {
        var random = SeededGenerator(seed: 3)
        let numbers = (0..<1000).map { _ in random.number(-2...2) }
        #expect(Set(numbers) == [-2, -1, 0, 1, 2])
        #expect(random.number(7...7) == 7)
    }
}
