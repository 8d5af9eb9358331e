import Foundation
import Testing

/// That the benchmarks run, and that their programs do the same work; their figures are not looked at.
@Suite("carillon bench", .serialized, .disabled(if: Cluster.isReal, "it brings its own broker"))
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

    private func run(_ arguments: String...) async throws -> Result {
        let child = try ChildProcess(try Tools.product("carillon"), ["bench"] + arguments + ["--json"])
        let status = try await child.ended(within: .seconds(180))
        #expect(status == 0, "\(child.lastWords)")
        return try JSONDecoder().decode(Result.self, from: child.standardOutput)
    }

    @Test("the C++ program makes the same events as the consumer service, byte for byte")
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

    @Test("a number out of its range is refused with status 64", arguments: ["--records=0", "--partitions=0"])
    func wrongNumber(_ argument: String) async throws {
        let child = try ChildProcess(try Tools.product("carillon"), ["bench", "pipeline", argument])
        #expect(try await child.ended() == 64)
        #expect(child.errorText.contains(argument.prefix { $0 != "=" }))
    }
}
