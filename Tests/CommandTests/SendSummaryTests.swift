import Testing

@testable import carillon

@Suite("The summary of a send")
struct SendSummaryTests {
    @Test func `the last line has numbers, duration and rate`() {
        var summary = SendSummary(sent: 1_234_567, acknowledged: 1_234_565, failed: 2, elapsed: .milliseconds(410_060))
        #expect(summary.text == "sent 1,234,567, acknowledged 1,234,565, failed 2 in 410.06 s (3,011/s)")
        summary.refused = 3
        #expect(summary.text.contains("failed 2, not sent 3 in"))
        summary.unsent = 1_000
        summary.hasRest = true
        #expect(summary.text.contains("failed 2, not sent 1,003 in"))
        #expect(summary.text.hasSuffix("(3,011/s); the rest of the input was not read"))
    }

    @Test func `for one record or none there is no rate, and no division by zero`() {
        #expect(SendSummary().text == "sent 0, acknowledged 0, failed 0 in 0.00 s")
        #expect(SendSummary(sent: 1, acknowledged: 1, elapsed: .milliseconds(5)).text.hasSuffix("in 0.01 s"))
        #expect(SendSummary(sent: 2, acknowledged: 2).text == "sent 2, acknowledged 2, failed 0 in 0.00 s")
    }

    @Test func `a signal takes precedence over a failure, a failure over bad data`() {
        #expect(SendSummary(acknowledged: 1).status(signal: nil) == 0)
        #expect(SendSummary(refused: 1).status(signal: nil) == 65)
        #expect(SendSummary(refused: 1, hasInputFailed: true).status(signal: nil) == 66)
        #expect(SendSummary(failed: 1, refused: 1, hasInputFailed: true).status(signal: nil) == 1)
        #expect(SendSummary(failed: 1, refused: 1).status(signal: 2) == 130)
        #expect(SendSummary().status(signal: 15) == 143)
    }

    @Test(arguments: [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345_678, "12,345,678"), (-1_000, "-1,000")])
    func `thousands are separated`(_ number: Int, _ text: String) {
        #expect(SendSummary.grouped(number) == text)
    }
}
