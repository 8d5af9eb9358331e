import Testing

@testable import Kafka

struct RepeatedLinesTests {
    @Test func `a line that differs in its duration only is told once a minute, and others at once`() {
        let (lines, start) = (RepeatedLines(), ContinuousClock.now)
        func isDue(_ host: String, _ milliseconds: Int, after seconds: Int) -> Bool {
            let line =
                "\(host):9092/bootstrap: Failed to resolve '\(host):9092': unknown (after \(milliseconds)ms in state CONNECT)"
            return lines.isDue(line, at: start + .seconds(seconds))
        }
        #expect(isDue("kafka", 12, after: 0) && !isDue("kafka", 3, after: 1) && !isDue("kafka", 40, after: 59))
        #expect(isDue("other", 1, after: 2))
        #expect(isDue("kafka", 5, after: 60) && !isDue("kafka", 5, after: 119))
        for number in 0..<1_000 { _ = lines.isDue(String(repeating: "x", count: number), at: start) }
        #expect(isDue("kafka", 5, after: 200))
    }
}
