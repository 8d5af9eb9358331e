import Foundation
import NotificationModel
import Testing

@testable import carillon

@Suite("carillon top")
struct TopTests {
    private static let page = """
        # HELP carillon_ready Whether a component is ready.
        # TYPE carillon_ready gauge
        carillon_ready{component="lane-0"} 1
        carillon_ready{component="lane-1"} 0
        carillon_ready{component="kafka"} 1
        carillon_assigned_partitions 8
        carillon_schedule_pending 1203
        carillon_oldest_due_age_seconds 0.25
        carillon_outstanding_records 12
        carillon_outstanding_sends 3
        carillon_consumer_lag_records{partition="0",topic="carillon.requests"} 4
        carillon_consumer_lag_records{partition="7",topic="carillon.requests"} 20000
        carillon_requests_total{outcome="applied"} 100
        carillon_requests_total{outcome="duplicate"} 0
        carillon_apns_connections 4
        carillon_apns_pushes_waiting 2
        carillon_apns_pushes_active 9
        carillon_apns_applications_stopped 1
        carillon_apns_pushes_total{outcome="accepted"} 50
        carillon_apns_answers_total{reason="Success"} 50
        carillon_apns_answers_total{reason="BadDeviceToken"} 2
        carillon_dead_letters_total{reason="invalid"} 3
        """

    private static func scrape(_ text: String, _ name: String = "a", at time: Double = 0) -> TopScrape {
        TopScrape(name: name, answer: .page(MetricsText(text)), time: time)
    }

    /// The cells of the line that begins with a word.
    private static func cells(_ word: String, in frame: TopFrame) -> [String]? {
        frame.lines.first { $0.hasPrefix("\(word) ") }?.split(separator: " ").map(String.init)
    }

    // MARK: The text format

    @Test func `samples are read with their labels and escapes; what is no sample is passed over`() {
        let text = MetricsText(
            """
            # TYPE a counter
            a{x="1",y="q\\"u\\\\o\\nte}"} 2.5
            a 1 1795000000000
            b{x="1"} +Inf
            c{x="1
            d
            e{x=1} 2
            f{} nine
            """
        )
        #expect(
            text.samples == [
                "a": [
                    .init(labels: ["x": "1", "y": "q\"u\\o\nte}"], value: 2.5), .init(labels: [:], value: 1),
                ],
                "b": [.init(labels: ["x": "1"], value: .infinity)],
            ]
        )
        #expect(text.sum("a") == 3.5 && text.sum("a", ["x": "1"]) == 2.5 && text.sum("z") == nil)
        #expect(text.sums("a", by: "x") == ["1": 2.5])
    }

    @Test func `a page without an end is read up to the bound`() {
        let text = MetricsText(String(repeating: "a 1\n", count: MetricsText.maximumSamples + 1))
        #expect(text.samples["a"]?.count == MetricsText.maximumSamples)
    }

    // MARK: Frames

    @Test func `an instance is a row: readiness, lanes, partitions, pending, due age, lag, records, sends`() {
        let frame = TopFrame(before: [], now: [Self.scrape(Self.page, "http://a:8082")])
        #expect(
            Self.cells("http://a:8082", in: frame) == [
                "http://a:8082", "no:", "lane-1", "1/2", "8", "1203", "0.3s", "20k", "12", "3",
            ]
        )
        #expect(Self.cells("carillon.requests", in: frame) == ["carillon.requests", "20k", "partition", "7:", "20k"])
        #expect(Self.cells("apns", in: frame) == ["apns", "4", "9", "2", "1"])
    }

    @Test func `rates come from two scrapes, also when a process began again in between`() {
        let later = Self.page.replacing("applied\"} 100", with: "applied\"} 160")
            .replacing("invalid\"} 3", with: "invalid\"} 2")
        let frame = TopFrame(before: [Self.scrape(Self.page)], now: [Self.scrape(later, at: 4)])
        #expect(Self.cells("applied", in: frame) == ["applied", "15", "160"])
        #expect(Self.cells("invalid", in: frame) == ["invalid", "0.5", "2"])
        let first = TopFrame(before: [], now: [Self.scrape(Self.page)])
        #expect(Self.cells("applied", in: first) == ["applied", "-", "100"])
        // No time has passed, or the clock went back.
        let same = TopFrame(before: [Self.scrape(Self.page)], now: [Self.scrape(later)])
        #expect(Self.cells("applied", in: same) == ["applied", "-", "160"])
    }

    @Test func `several instances are summed, and one that does not answer stays in the list`() {
        let none = TopScrape(name: "c", answer: .none("no answer from c"), time: 4)
        let frame = TopFrame(
            before: [Self.scrape(Self.page, "a"), Self.scrape(Self.page, "b")],
            now: [Self.scrape(Self.page, "a", at: 2), Self.scrape(Self.page, "b", at: 2), none]
        )
        #expect(Self.cells("applied", in: frame) == ["applied", "0", "200"])
        #expect(Self.cells("c", in: frame) == ["c", "no", "answer", "from", "c"])
        #expect(frame.lines.contains { $0.hasPrefix("apns reason BadDeviceToken") })
        #expect(!frame.lines.contains { $0.contains("Success") || $0.hasPrefix("duplicate") })
    }

    @Test func `many rows are shown as the most frequent ones and the number of the others`() {
        let text = (0..<40).map { "carillon_dead_letters_total{reason=\"r\($0)\"} \($0 + 1)\n" }.joined()
        let lines = TopFrame(before: [], now: [Self.scrape(text)]).lines
        #expect(lines.count { $0.hasPrefix("r") } == TopFrame.maximumRows)
        #expect(lines.contains { $0.hasPrefix("r39 ") } && lines.contains("and 28 others"))
    }

    @Test func `labels cannot control the terminal`() {
        let hostile = "\u{1B}[2Jx\u{202E}\\n\u{9B}31m"
        let text = """
            carillon_dead_letters_total{reason="\(hostile)"} 1
            carillon_ready{component="\(hostile)"} 0
            carillon_consumer_lag_records{partition="\(hostile)",topic="\(hostile)"} 4
            carillon_apns_connections 1
            carillon_apns_pushes_total{outcome="\(hostile)"} 1
            """
        let failed = TopScrape(name: "b", answer: .none(hostile), time: 0)
        let frame = TopFrame(before: [], now: [Self.scrape(text), failed])
        let scalars = TopCommand.picture(frame, clears: false).unicodeScalars.filter { $0 != "\n" }
        #expect(!scalars.contains(where: PrintableText.isControl))
        let control = TopCommand.picture(frame, clears: true)
        #expect(
            control.components(separatedBy: "\u{1B}").dropFirst().allSatisfy {
                $0.hasPrefix("[K") || $0.hasPrefix("[H") || $0.hasPrefix("[J")
            }
        )
    }

    @Test(arguments: [
        (0.0, "0"), (0.04, "0"), (0.25, "0.3"), (12.34, "12.3"), (123.4, "123"), (9_999, "9999"), (12_340, "12.3k"),
        (45_600_000, "45.6M"), (.infinity, "-"),
    ])
    func `numbers are short`(_ value: Double, _ text: String) { #expect(TopFrame.short(value) == text) }

    // MARK: The command

    @Test func `addresses that are none are refused`() {
        for address in ["a:1", "ftp://a", "http://", "http://u:p@a", "http://a/b", "http://a/?x"] {
            #expect(refusal(["top", "--url", address])?.status == 64, "\(address)")
        }
        #expect(refusal(["top", "--interval", "100ms"])?.status == 64)
        #expect(refusal(["top", "--url", "http://[::1]:8082/metrics", "--once"]) == nil)
    }
}
