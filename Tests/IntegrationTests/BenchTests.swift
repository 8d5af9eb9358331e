import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// That the benchmarks run, and that their programs do the same work; their figures are not looked at.
@Suite("carillon-bench", .serialized, .disabled(if: Cluster.isReal, "it brings its own broker"))
struct BenchTests {
    private struct Result: Decodable {
        struct Subject: Decodable {
            var name: String
            var messages_per_second: Double
            var cpu_seconds_per_million: Double
            var peak_resident_bytes: Int
        }

        var benchmark: String
        var subjects: [Subject]
        var ratios: [String: Double]
    }

    private func run(_ arguments: String...) async throws -> Result { try await Benchmark.run(arguments) }

    @Test("the C++ program creates the same events as the consumer service, byte for byte")
    func pipeline() async throws {
        let result = try await run(
            "pipeline",
            "--records",
            "60000",
            "--rounds",
            "1",
            "--no-latency",
            "--subjects",
            "carillon",
            "native"
        )
        #expect(result.benchmark == "pipeline")
        #expect(result.subjects.map(\.name) == ["carillon", "native"])
        for subject in result.subjects {
            #expect(subject.messages_per_second > 0 && subject.cpu_seconds_per_million > 0)
            #expect(subject.peak_resident_bytes > 1_000_000)
        }
        #expect(result.ratios["cpu_vs_native"] ?? 0 > 0)
    }

    @Test("every notification lists its recipient's devices, and every response is matched")
    func devices() async throws {
        struct Devices: Decodable {
            var benchmark: String
            var state_bytes_per_device: Double
            var subjects: [Result.Subject]
            var ratios: [String: Double]
        }

        let result: Devices = try await Benchmark.run([
            "pipeline", "--devices", "2", "--records", "20000", "--rounds", "1",
        ])
        #expect(result.benchmark == "pipeline")
        #expect(result.subjects.map(\.name) == ["without_devices", "with_devices", "responses"])
        #expect(result.subjects.allSatisfy { $0.messages_per_second > 0 && $0.cpu_seconds_per_million > 0 })
        #expect(result.ratios.keys.sorted() == ["cpu_vs_without_devices", "responses_vs_pipeline"])
        #expect(result.state_bytes_per_device > 300)
    }

    @Test("calls and business events are counted, none is lost")
    func ingest() async throws {
        let result = try await run(
            "ingest",
            "--records",
            "60000",
            "--rounds",
            "1",
            "--seconds",
            "1",
            "--connections",
            "16"
        )
        #expect(result.subjects.map(\.name) == ["business_events", "pipeline"])
        #expect(result.ratios["puts_vs_bare_route"] ?? 0 > 0 && result.ratios["events_vs_pipeline"] ?? 0 > 0)
    }

    @Test("every request is scheduled once, and pending ones are on disk")
    func timers() async throws {
        struct Timers: Decodable {
            struct Subject: Decodable {
                var name: String
                var entries: Int
                var inserts_per_second: Double
                var resident_bytes_per_pending: Double
                var resident_bytes_per_pending_restarted: Double
                var disk_bytes_per_pending: Double
                var seconds_until_written: Double
            }

            var benchmark: String
            var subjects: [Subject]
        }

        let result: Timers = try await Benchmark.run([
            "timers", "--entries", "2000", "--partitions", "4", "--subjects", "carillon",
        ])
        #expect(result.benchmark == "timers")
        let carillon = try #require(result.subjects.first)
        #expect(carillon.name == "carillon" && carillon.entries == 2_000)
        #expect(carillon.inserts_per_second > 0 && carillon.disk_bytes_per_pending > 400)
    }

    @Test("all that is due is delivered once, and nothing early")
    func deviation() async throws {
        struct Deviation: Decodable {
            struct Lateness: Decodable {
                var min: Int
                var p50: Int
                var p99: Int
                var max: Int
                var events: Int
            }

            var benchmark: String
            var spread_ms: Lateness
            var burst_ms: Lateness
        }

        let result: Deviation = try await Benchmark.run([
            "deviation", "--pending", "1000", "--rate", "200", "--seconds", "2", "--burst", "500", "--partitions", "4",
        ])
        #expect(result.benchmark == "deviation")
        #expect(result.spread_ms.events == 400 && result.burst_ms.events == 500)
        for lateness in [result.spread_ms, result.burst_ms] {
            #expect(0 <= lateness.min && lateness.min <= lateness.p50)
            #expect(lateness.p50 <= lateness.p99 && lateness.p99 <= lateness.max)
        }
    }

    @Test("pending requests are restored, from the changelog and with the files")
    func restore() async throws {
        struct Restore: Decodable {
            var benchmark: String
            var entries: Int
            var records: Int
            var records_per_second: Double
            var seconds_with_current_file: Double
        }

        let result: Restore = try await Benchmark.run(["restore", "--entries", "2000", "--partitions", "4"])
        #expect(result.benchmark == "restore")
        // A marker of each partition at least.
        #expect(result.entries == 2_000 && result.records >= 2_004)
        #expect(result.records_per_second > 0 && result.seconds_with_current_file > 0)
    }

    @Test("the schedule and Foundation find the same occurrences of calendar triggers")
    func calendar() async throws {
        struct Calendar: Decodable {
            struct Subject: Decodable {
                var name: String
                var next_per_second: Double
            }

            var benchmark: String
            var next_per_second: Double
            var compared: Int
            var subjects: [Subject]
            var ratios: [String: Double]
        }

        let result: Calendar = try await Benchmark.run([
            "calendar", "--starts", "3", "--length", "5", "--rounds", "1", "--seconds", "1", "--subjects", "carillon",
            "foundation",
        ])
        #expect(result.benchmark == "calendar" && result.compared > 100 && result.next_per_second > 0)
        #expect(result.subjects.map(\.name) == ["carillon", "foundation"])
        #expect(result.ratios["next_vs_foundation"] ?? 0 > 0 && result.ratios["next_vs_dateutil"] == nil)
    }

    @Test("ended by a signal, it leaves no file and no process behind", arguments: [SIGINT, SIGTERM])
    func interrupted(_ signal: Int32) async throws {
        let folder = try TemporaryFolder()
        func directories() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path) }
        let child = try ChildProcess(
            try Tools.product("carillon-bench"),
            ["timers", "--entries=1000000", "--subjects=carillon", "--directory=\(folder.path)"]
        )
        // The measured service has its own directory in that of the run.
        func services() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { pid in
                let place = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/cwd")
                return Int(pid) != nil && place?.hasPrefix(folder.path) == true
            }
        }
        try await eventually("the service runs", orSay: { child.lastWords }) { try !services().isEmpty }
        #expect(try !directories().isEmpty)
        child.signal(signal)
        #expect(try await child.ended() == 128 + signal, "\(child.lastWords)")
        #expect(try services().isEmpty && directories().isEmpty)
    }

    @Test("saved runs become a baseline; a run that is worse than it allows ends with status 1")
    func baseline() async throws {
        let folder = try TemporaryFolder()
        func save(_ ratio: Double, to name: String) throws -> String {
            let workload = "{\"workload\":\"1 request\",\"ratios\":{\"cpu_vs_native\":\(ratio)}}"
            return try folder.write("{\"benchmark\":\"pipeline\",\"workloads\":[\(workload)]}\n", to: name)
        }
        func end(_ arguments: String...) async throws -> (status: Int32, output: String) {
            let child = try ChildProcess(
                try Tools.product("carillon-bench"),
                arguments + ["--baseline", folder.file("baseline.json")]
            )
            return (try await child.ended(), child.outputText + child.errorText)
        }
        let (good, bad) = (try save(1, to: "good"), try save(1.3, to: "bad"))
        let without = try await end("compare", good)
        #expect(without.status == 1 && without.output.contains("no baseline at"), "\(without)")
        let made = try await end("baseline", good)
        #expect(made.status == 0, "\(made)")
        let same = try await end("compare", good)
        #expect(same.status == 0 && same.output.contains("CPU a record"), "\(same)")
        let worse = try await end("compare", bad)
        #expect(worse.status == 1 && worse.output.contains("+30 %    +15 %  WORSE"), "\(worse)")
    }

    @Test(
        "a number out of its range is refused with status 64",
        arguments: [
            ["pipeline", "--records=0"], ["pipeline", "--partitions=0"], ["pipeline", "--devices=17"],
            ["timers", "--entries=0"], ["timers", "--apscheduler-entries=0"], ["deviation", "--rate=0"],
            ["deviation", "--burst=0"],
            ["restore", "--partitions=1001"], ["calendar", "--starts=0"], ["webhook", "--outage=0"],
            ["enrichment", "--downloads=0"],
        ]
    )
    func wrongNumber(_ arguments: [String]) async throws {
        let child = try ChildProcess(try Tools.product("carillon-bench"), arguments)
        #expect(try await child.ended() == 64)
        #expect(child.errorText.contains(arguments[1].prefix { $0 != "=" }))
    }
}
