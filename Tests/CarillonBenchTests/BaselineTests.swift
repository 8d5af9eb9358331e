import ArgumentParser
import Foundation
import Testing

@testable import CarillonBench

@Suite("The baseline of the benchmarks")
struct BaselineTests {
    private static func run(_ ratios: [Ratio: Double], of workload: String = "10 requests") throws -> SavedRun {
        let report = Report(benchmark: "pipeline", workloads: [Workload(name: workload, ratios: ratios)])
        return try #require(try SavedRun.read(lines: Data(report.json().utf8), of: "a test").first)
    }

    private static func key(_ ratio: Ratio) -> RatioKey {
        RatioKey(benchmark: "pipeline", workload: "10 requests", ratio: ratio)
    }

    // MARK: - Writing

    @Test("it has the median of the runs, and tolerates at least 15 %, or as much as the runs differ")
    func update() throws {
        var baseline = Baseline()
        baseline.update(from: [
            try Self.run([.cpuVersusNative: 1.0, .cpuOfDisk: 1.0]),
            try Self.run([.cpuVersusNative: 1.1, .cpuOfDisk: 2.0]),
            try Self.run([.cpuVersusNative: 1.05, .cpuOfDisk: 0.755]),
        ])
        #expect(baseline.entries[Self.key(.cpuVersusNative)] == .init(ratio: 1.05, tolerance: 0.15, runs: 3))
        #expect(baseline.entries[Self.key(.cpuOfDisk)] == .init(ratio: 1, tolerance: 1, runs: 3))
    }

    @Test("ratios missing in new runs stay")
    func partialUpdate() throws {
        var baseline = Baseline()
        baseline.update(from: [try Self.run([.cpuVersusNative: 1, .cpuOfDisk: 1])])
        baseline.update(from: [try Self.run([.cpuOfDisk: 3])])
        #expect(baseline.entries[Self.key(.cpuVersusNative)]?.ratio == 1)
        #expect(baseline.entries[Self.key(.cpuOfDisk)]?.ratio == 3)
    }

    @Test("it reads back equal from its file")
    func file() throws {
        var baseline = Baseline()
        baseline.update(from: [try Self.run([.cpuVersusNative: 1, .memoryVersusRedis: 0.044])])
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("baseline-\(UUID()).json").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try baseline.write(to: path)
        #expect(try Baseline(path: path).entries == baseline.entries)
        #expect(throws: BenchmarkError.self) { try Baseline(path: path + ".none") }
        try Data("{\"pipeline\":{\"10 requests\":{\"no_such_ratio\":{}}}}".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: BenchmarkError.self) { try Baseline(path: path) }
    }

    // MARK: - Comparing

    @Test(
        "beyond its tolerance a ratio is better or worse, depending on its direction",
        arguments: [
            (Ratio.cpuVersusNative, 1.14, Comparison.Verdict.within), (.cpuVersusNative, 1.16, .worse),
            (.cpuVersusNative, 0.86, .within), (.cpuVersusNative, 0.84, .better),
            (.throughputVersusPython, 1.16, .better), (.throughputVersusPython, 0.84, .worse),
        ]
    )
    func verdict(_ ratio: Ratio, _ measured: Double, _ verdict: Comparison.Verdict) throws {
        var baseline = Baseline()
        baseline.update(from: [try Self.run([ratio: 1])])
        let comparison = try Comparison(of: [try Self.run([ratio: measured])], with: baseline)
        #expect(comparison.lines.map(\.verdict) == [verdict])
        #expect(comparison.isWorse == (verdict == .worse))
    }

    @Test("the median of several runs counts; ratios missing in the baseline are shown without a failure")
    func several() throws {
        var baseline = Baseline()
        baseline.update(from: [try Self.run([.cpuVersusNative: 1])])
        let runs = try [0.9, 5, 1.1].map { try Self.run([.cpuVersusNative: $0, .cpuOfDisk: $0]) }
        let comparison = try Comparison(of: runs, with: baseline)
        #expect(comparison.lines.map(\.measured) == [1.1, 1.1])
        #expect(comparison.lines.map(\.verdict) == [.within, .new] && !comparison.isWorse)
        #expect(
            comparison.text == """
                pipeline: 10 requests

                                                                      baseline  measured  change  allowed
                CPU a record, times the C++ program                          1       1.1   +10 %    +15 %
                CPU a record with the store on disk, times in memory         -       1.1       -        -  not in the baseline
                """
        )
    }

    @Test("runs that have nothing in common with the baseline fail, and both are listed")
    func nothingInCommon() throws {
        var baseline = Baseline()
        baseline.update(from: [try Self.run([.cpuVersusNative: 1])])
        let error = try #require(throws: BenchmarkError.self) {
            try Comparison(of: [try Self.run([.cpuVersusNative: 1], of: "20 requests")], with: baseline)
        }
        #expect(error.description.contains("pipeline: 10 requests"))
        #expect(error.description.contains("pipeline: 20 requests"))
    }

    @Test("an invalid run is refused with its line")
    func wrongRun() throws {
        let good = try Report(benchmark: "store", workloads: [Workload(name: "1 pending")]).json()
        #expect(try SavedRun.read(lines: Data("\(good)\n\n\(good)\r\n".utf8), of: "runs").count == 2)
        for bad in [
            "{}", "table", "{\"benchmark\":\"pipeline\",\"workloads\":[{\"workload\":\"a\",\"ratios\":{\"x\":1}}]}",
        ] {
            let error = try #require(throws: BenchmarkError.self) {
                try SavedRun.read(lines: Data("\(good)\n\(bad)\n".utf8), of: "runs")
            }
            #expect(error.description.hasPrefix("runs:2 "))
        }
    }

    // MARK: - The one in the repository

    @Test("the baseline in the repository has exactly the workloads that the benchmarks run by default")
    func committed() throws {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let baseline = try Baseline(path: package.appendingPathComponent(Baseline.path).path)
        let names = [
            "pipeline": try PipelineCommand.parse([]).requests.map(\.name),
            "ingest": [try IngestCommand.parse([]).workloadName], "timers": [try TimersCommand.parse([]).workloadName],
            "calendar": [try CalendarCommand.parse([]).workloadName],
            "webhook": [try WebhookCommand.parse([]).workloadName], "apns": [try APNsCommand.parse([]).workloadName],
            "fcm": [try FCMCommand.parse([]).workloadName], "webpush": [try WebPushCommand.parse([]).workloadName],
            "enrichment": [try EnrichmentCommand.parse([]).workloadName],
        ]
        #expect(Set(baseline.entries.keys.map(\.benchmark)) == Set(names.keys))
        // Without how the programs were built.
        let workloads = Set(baseline.entries.keys.map { $0.workload.replacing(", linked with jemalloc", with: "") })
        // Not of a run by default.
        let devices = DevicesBenchmark.name(of: try PipelineCommand.parse(["--devices", "3"]).deviceWorkload)
        #expect(workloads.subtracting([devices]) == Set(names.values.joined()))
        for (key, entry) in baseline.entries {
            #expect(entry.ratio > 0 && entry.tolerance >= Baseline.leastTolerance && entry.runs > 0, "\(key)")
        }
    }
}
