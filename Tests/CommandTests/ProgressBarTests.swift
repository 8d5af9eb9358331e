import Testing

@testable import carillon

@Suite("The progress bar")
struct ProgressBarTests {
    private let half = SendSummary(sent: 6_000, acknowledged: 5_000)

    @Test func `the line shows part, count and rate`() {
        let line = ProgressBar.line(half, total: 10_000, elapsed: .seconds(2), columns: 60)
        #expect(line == "[=============>            ]  50%  5,000 of 10,000  2,500/s")
        #expect(line.count < 60)
    }

    @Test func `without a total there is no bar`() {
        #expect(ProgressBar.line(half, total: nil, elapsed: .seconds(2), columns: 80) == "5,000  2,500/s")
    }

    @Test func `failed and unsent records count as done, and are shown`() {
        let all = SendSummary(sent: 8, acknowledged: 6, failed: 2, refused: 2)
        let line = ProgressBar.line(all, total: 10, elapsed: .seconds(1), columns: 80)
        #expect(line.contains("] 100%  10 of 10  6/s  failed 2  not sent 2"))
        #expect(!line.contains(">"))
    }

    @Test(arguments: [0, 1, 10, 30, 79])
    func `it is never wider than the terminal`(_ columns: Int) {
        let line = ProgressBar.line(half, total: 1_000_000_000, elapsed: .seconds(2), columns: columns)
        #expect(line.count < max(1, columns))
    }

    @Test func `it is drawn at most ten times a second, not immediately, and erased`() {
        let start = ContinuousClock.now
        var written: [String] = []
        var bar = ProgressBar(total: 10, now: start, columns: { 80 }, write: { written.append($0) })
        bar.clear()
        bar.show(half, at: start + .milliseconds(50))
        #expect(written.isEmpty)
        for time in stride(from: 100, through: 1_000, by: 10) { bar.show(half, at: start + .milliseconds(time)) }
        #expect(written.count == 10)
        #expect(written.allSatisfy { $0.hasPrefix("\r[") && $0.hasSuffix("\u{1B}[K") && !$0.contains("\n") })
        bar.clear()
        bar.clear()
        #expect(written.last == "\r\u{1B}[K")
        #expect(written.count == 11)
    }
}
