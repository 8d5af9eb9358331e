import Foundation
import Testing

@testable import CarillonBench

@Suite("The comparison of two builds")
struct BuildComparisonTests {
    private func runs(_ rates: [Double], subject: String = "carillon") throws -> Data {
        let lines = try rates.map { rate in
            let row = FigureRow(subject, [Figure("messages_per_second", "messages/s", rate, as: .whole)])
            let workload = Workload(
                name: "10 requests",
                figures: [Figure("records", given: 10)],
                parts: [FigureRow("latency_ms", [Figure("p50", "p50", rate / 1_000)])],
                subjects: [row],
                ratios: [.cpuVersusNative: 1 / rate]
            )
            return try Report(benchmark: "pipeline", workloads: [workload]).json()
        }
        return Data(lines.joined(separator: "\n").utf8)
    }

    @Test("the medians of each figure are divided, and what was given is left out")
    func ratios() throws {
        let old = try BuildComparison.read(runs([100, 400, 200]), of: "old")
        let new = try BuildComparison.read(runs([300, 100, 900]), of: "new")
        let comparison = try BuildComparison(old: old, new: new)
        #expect(
            comparison.lines.map(\.key.figure) == [
                "carillon.messages_per_second", "latency_ms.p50", "ratios.cpu_vs_native",
            ]
        )
        let rate = try #require(comparison.lines.first)
        #expect(rate.old == 200 && rate.new == 300 && rate.ratio == 1.5)
        #expect(comparison.text.hasPrefix("pipeline: 10 requests\n"))
        #expect(comparison.text.contains("carillon.messages_per_second"))
    }

    @Test("figures that only one of them has are left out; builds without a common one are an error")
    func foreign() throws {
        let old = try BuildComparison.read(runs([100]), of: "old")
        let renamed = try BuildComparison.read(runs([200], subject: "other"), of: "new")
        #expect(try BuildComparison(old: old, new: renamed).lines.allSatisfy { !$0.key.figure.contains("per_second") })
        #expect(throws: BenchmarkError.self) { try BuildComparison(old: old, new: [:]) }
        #expect(throws: BenchmarkError.self) { try BuildComparison.read(Data("{}".utf8), of: "a file") }
    }
}
