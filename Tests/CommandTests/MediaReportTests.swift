import NotificationEnrichment
import NotificationModel
import OutboundHTTP
import Synchronization
import Testing

@testable import carillon

@Suite("The reports of carillon media fetch")
struct MediaReportTests {
    private static let address = IPAddress(v4: 0x0A00_0001)

    private func text(_ json: [UInt8]) -> String { String(decoding: json, as: UTF8.self) }

    @Test("a refusal has its steps with their times, its reason and its detail")
    func refused() {
        let report = MediaReport(
            line: 3,
            url: "https://a.example.com/\u{1B}",
            steps: [
                .init(step: .requested(origin: "https://a.example.com"), after: .zero),
                .init(step: .resolved([], refusal: nil), after: .microseconds(1_999)),
                .init(step: .connected(Self.address, isReused: true), after: .seconds(12)),
                .init(step: .answered(status: 200, contentType: nil, contentLength: nil), after: .seconds(13)),
            ],
            outcome: .refused(OutboundFailure(.httpStatus, "a.example.com: \u{202E}"))
        )
        #expect(
            report.text == """
                line 3: https://a.example.com/\\u{1b}
                      0 ms  https://a.example.com is allowed
                      1 ms  addresses: none: allowed
                  12000 ms  the open connection to 10.0.0.1 is used again
                  13000 ms  answered 200: no Content-Type, no Content-Length
                  refused: http-status: a.example.com: \\u{202e}

                """
        )
        #expect(
            text(report.json).hasSuffix(
                #"""
                "outcome":"refused","reason":"http-status","detail":"a.example.com: \#u{202E}","steps":[\#
                {"ms":0,"step":"requested","origin":"https://a.example.com"},{"ms":1,"step":"resolved","addresses":[]},\#
                {"ms":12000,"step":"connected","address":"10.0.0.1","isReused":true},\#
                {"ms":13000,"step":"answered","status":200}]}

                """#
            )
        )
    }

    @Test("a long field of an answer is cut")
    func long() {
        let step = FetchStep.answered(
            status: 200,
            contentType: String(repeating: "x", count: 60_000),
            contentLength: .max
        )
        #expect(step.text.count < 250)
        let report = MediaReport(
            url: "u",
            steps: [.init(step: step, after: .zero)],
            outcome: .refused(.init(.tls, "d"))
        )
        #expect(report.json.count < 400)
    }

    @Test("a recorder keeps the steps with the time since the beginning, without the refusal")
    func recorder() {
        let clock = Mutex(ContinuousClock.now)
        let recorder = StepRecorder { clock.withLock { $0 } }
        clock.withLock { $0 += .milliseconds(5) }
        recorder.record(.secured)
        recorder.record(.refused(OutboundFailure(.tls, "no")))
        #expect(recorder.steps == [.init(step: .secured, after: .milliseconds(5))])
    }

    @Test("the status: refused before without an answer, before an invalid line")
    func status() {
        func status(_ outcomes: MediaReport.Outcome...) -> Int32 {
            var summary = MediaSummary()
            for outcome in outcomes { summary.add(outcome) }
            return summary.status
        }
        let refused = MediaReport.Outcome.refused(OutboundFailure(code: "type-mismatch", detail: ""))
        let late = MediaReport.Outcome.refused(OutboundFailure(.timedOut, ""))
        let invalid = MediaReport.Outcome.invalid(ModelError(.invalid, ""))
        #expect(status() == 0)
        #expect(status(invalid) == 65)
        #expect(status(invalid, late) == 69)
        #expect(
            status(late, .refused(OutboundFailure(.unresolved, "")), .refused(OutboundFailure(.notConnected, ""))) == 69
        )
        #expect(status(late, refused, invalid) == 1)
        #expect(status(.refused(OutboundFailure(.tls, ""))) == 1)
    }
}
