import Foundation
import Testing

@testable import CarillonBench

@Suite("The benchmarks of the channels to devices")
struct PushBenchmarkTests {
    private struct JSON: Decodable {
        struct Subject: Decodable {
            var name: String
            var pushes_per_second: Double
            var cpu_microseconds_per_push: Double
        }

        var cpu_microseconds_per_push: Double
        var subjects: [Subject]
        var ratios: [String: Double]
    }

    @Test(
        "APNs may accept a push twice only where the first attempt had no answer",
        arguments: [(999, 5, false), (1_000, 0, true), (1_001, 0, false), (1_005, 5, true), (1_006, 5, false)]
    )
    func accepted(_ accepted: Int, _ unanswered: Int, _ isRight: Bool) {
        #expect(
            isRight == ((try? PushServer.check(accepted: accepted, unanswered: unanswered, of: 1_000)) != nil)
        )
    }

    private static func report(_ rounds: PushRounds) throws -> JSON {
        var workload = Workload(name: "pushes")
        try rounds.report(in: &workload, "pywebpush", .throughputVersusPyWebPush)
        let report = Report(benchmark: "webpush", workloads: [workload])
        return try JSONDecoder().decode(JSON.self, from: Data(report.json().utf8))
    }

    @Test("medians count: the rate is compared with another client's, the CPU time of a push with that of h2load")
    func rounds() throws {
        var rounds = PushRounds()
        for (rate, cpu) in [(900, 50), (1_000, 40), (4_000, 20)] as [(Double, Double)] {
            rounds.add(PushChannelBenchmark.Result(perSecond: rate, cpuMicroseconds: cpu))
            rounds.add(PushClientResult(perSecond: 2 * rate, cpuMicroseconds: cpu / 4), of: "h2load")
            rounds.add(PushClientResult(perSecond: rate / 10, cpuMicroseconds: 400), of: "pywebpush")
        }
        let report = try Self.report(rounds)
        #expect(report.cpu_microseconds_per_push == 40)
        #expect(report.subjects.map(\.name) == ["channel", "h2load", "pywebpush"])
        #expect(report.subjects.map(\.pushes_per_second) == [1_000, 2_000, 100])
        #expect(report.subjects.map(\.cpu_microseconds_per_push) == [40, 10, 400])
        #expect(report.ratios == ["throughput_vs_h2load": 0.25, "throughput_vs_pywebpush": 10])
    }

    @Test("a client that did not run has no ratio, and without the channel there is no report")
    func missing() throws {
        var rounds = PushRounds()
        #expect(throws: BenchmarkError.self) { try Self.report(rounds) }
        rounds.add(PushChannelBenchmark.Result(perSecond: 1_000, cpuMicroseconds: 40))
        rounds.add(PushClientResult(perSecond: 500, cpuMicroseconds: 10), of: "h2load")
        #expect(try Self.report(rounds).ratios == ["throughput_vs_h2load": 0.25])
    }

    @Test("the cores that a channel keeps busy follow from its rate and its CPU time")
    func cores() {
        #expect(PushChannelBenchmark.Result(perSecond: 10_000, cpuMicroseconds: 25).cores == 0.25)
    }

    @Test("the rate of h2load is that of its own report")
    func h2load() {
        let text = "progress: 100% done\n\nfinished in 17.34s, 5765.83 req/s, 653.18KB/s\nrequests: 100000 total"
        #expect(H2Load.rate(in: text) == 5_765.83)
        #expect(H2Load.rate(in: "req/s") == nil && H2Load.rate(in: "finished") == nil)
    }
}
