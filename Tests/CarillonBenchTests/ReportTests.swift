import Foundation
import Testing

@testable import CarillonBench

@Suite("The report of a benchmark")
struct ReportTests {
    private static let report = Report(
        benchmark: "pipeline",
        workloads: [
            Workload(
                name: "10 requests",
                figures: [Figure("records", given: 10)],
                parts: [FigureRow("latency_ms", title: "ms", Distribution([3, 1, 2]).figures(as: .decimals))],
                subjects: [FigureRow("carillon", [Figure("messages_per_second", "messages/s", 12.5, as: .whole)])],
                ratios: [.cpuVersusNative: 2]
            ),
            Workload(
                name: "20 requests",
                figures: [Figure("records", given: 20), Figure("seconds", "s to read", 1.234)],
                subjects: [
                    FigureRow("carillon", [Figure("peak_resident_bytes", "peak MiB", 3 * 1_048_576, as: .mebibytes)]),
                    FigureRow("other", title: "another", [Figure("entries", "pending", 7, as: .whole)]),
                ],
                ratios: [.memoryVersusRedis: 0.0442, .cpuVersusNative: 1.5]
            ),
        ]
    )

    private struct JSON: Decodable {
        struct Subject: Decodable {
            var name: String
            var messages_per_second: Double?
            var peak_resident_bytes: Int?
        }

        struct Latency: Decodable {
            var min: Double
            var p50: Double
            var p99: Double
            var max: Double
            var events: Int
        }

        struct Workload: Decodable {
            var workload: String
            var records: Int
            var subjects: [Subject]
            var ratios: [String: Double]
            var latency_ms: Latency?
        }

        var benchmark: String
        var workload: String
        var records: Int
        var seconds: Double
        var subjects: [Subject]
        var ratios: [String: Double]
        var latency_ms: Latency
        var workloads: [Workload]
    }

    @Test("its JSON has each workload, and all their members at the top, where the last one wins")
    func json() throws {
        let text = try Self.report.json()
        #expect(!text.contains("\n"))
        let json = try JSONDecoder().decode(JSON.self, from: Data(text.utf8))
        #expect(json.benchmark == "pipeline" && json.workload == "20 requests")
        #expect(json.records == 20 && json.seconds == 1.234)
        #expect(json.subjects.map(\.name) == ["carillon", "other"])
        #expect(json.subjects[0].peak_resident_bytes == 3 * 1_048_576)
        #expect(json.ratios == ["cpu_vs_native": 1.5, "memory_vs_redis": 0.0442])
        #expect(json.latency_ms.min == 1 && json.latency_ms.p50 == 2 && json.latency_ms.max == 3)
        #expect(json.latency_ms.p99 == 3 && json.latency_ms.events == 3)
        #expect(json.workloads.map(\.workload) == ["10 requests", "20 requests"])
        #expect(json.workloads.map(\.records) == [10, 20])
        #expect(json.workloads[0].subjects[0].messages_per_second == 12.5)
        #expect(json.workloads[0].latency_ms != nil && json.workloads[1].latency_ms == nil)
        #expect(json.workloads[0].ratios == ["cpu_vs_native": 2])
    }

    @Test("its tables have a column for each figure of a row, and ratios in their own order")
    func text() {
        #expect(
            Self.report.text == """
                pipeline: 10 requests

                    events   min   p50   p99   max
                ms       3  1.00  2.00  3.00  3.00

                          messages/s
                carillon          12

                CPU a record, times the C++ program  2

                pipeline: 20 requests

                s to read  1.23

                          peak MiB  pending
                carillon         3        -
                another          -        7

                CPU a record, times the C++ program     1.5
                memory, times Redis                  0.0442
                """
        )
    }

    @Test("a ratio is omitted without a usable divisor")
    func ratios() {
        var ratios: [Ratio: Double] = [:]
        ratios.set(.cpuVersusNative, 3, over: 2)
        ratios.set(.cpuOfDisk, 1, over: nil)
        ratios.set(.throughputVersusPython, nil, over: 1)
        ratios.set(.memoryVersusRedis, -1, over: 5)
        ratios.set(.insertsVersusRedis, 5, over: 0)
        #expect(ratios == [.cpuVersusNative: 1.5])
    }

    @Test(
        "a quantile is the smallest value that the share does not exceed",
        arguments: [(0.0, 1.0), (0.2, 1), (0.21, 2), (0.5, 3), (0.99, 5), (1, 5)]
    )
    func quantile(_ share: Double, _ value: Double) {
        #expect(Distribution([5, 4, 3, 2, 1]).quantile(share) == value)
    }

    @Test("the median of an even number is the lower of the two in the middle; without values there is none")
    func median() {
        #expect(Distribution([4, 1, 3, 2]).median == 2)
        #expect(Distribution([]).median == nil && Distribution([]).figures(as: .whole).isEmpty)
    }

    @Test("series of /metrics are summed by name, and found one by one with their labels")
    func metrics() {
        let page = ServiceMetrics(page: "# HELP a b\na{x=\"1\"} 2\na{x=\"2\"} 3\nb 0.5\nb_sum 1e3\nc none\n")
        #expect(page["a"] == 5 && page["b"] == 0.5 && page["b_sum"] == 1_000 && page["c"] == nil)
        #expect(page["a{x=\"2\"}"] == 3 && page["a{x=\"3\"}"] == nil)
    }
}
