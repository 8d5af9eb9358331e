import Foundation
import TestSupport
import Testing

/// A benchmark as a process.
enum Benchmark {
    static func run<Output: Decodable>(_ arguments: [String]) async throws -> Output {
        let child = try ChildProcess(try Tools.product("carillon-bench"), arguments + ["--json"])
        // On the embedded broker a lane that is late to join its group waits there for the session timeout.
        let status = try await child.ended(within: .seconds(400))
        #expect(status == 0, "\(child.lastWords)")
        return try JSONDecoder().decode(Output.self, from: child.standardOutput)
    }
}

/// The benchmarks of the channels and of what comes before them; their figures are not looked at. They need other programs than those
/// of the pipeline, and run beside them.
@Suite("carillon-bench of channels", .serialized, .disabled(if: Cluster.isReal, "it brings its own broker"))
struct ChannelBenchTests {
    private struct Subject: Decodable {
        var name: String
        var pushes_per_second: Double
        var cpu_microseconds_per_push: Double
    }

    @Test(
        "every push that is answered is accepted once: of the channel, others, over GOAWAYs, in the service and in a burst"
    )
    func apns() async throws {
        struct Pushes: Decodable {
            struct GoAway: Decodable, Equatable {
                var lost: Int
                var twice: Int
            }
            struct Burst: Decodable {
                var seconds: Double
            }

            var benchmark: String
            var cpu_microseconds_per_push: Double
            var subjects: [Subject]
            var ratios: [String: Double]
            var goaway: GoAway
            var burst: Burst
        }

        // Ten connections have twice their streams of pushes under way: with the 500 of a measurement the last of those is not
        // answered within its minute beside the other tests.
        let result: Pushes = try await Benchmark.run([
            "apns", "--pushes", "2000", "--aioapns-pushes", "300", "--seconds", "1", "--rounds", "1", "--streams", "50",
            "--goaways", "5", "--goaway-pushes", "3000", "--burst", "1000", "--steady-seconds", "1",
            "--partitions", "4", "--subjects", "h2load", "aioapns",
        ])
        #expect(result.benchmark == "apns")
        #expect(
            result.subjects.map(\.name)
                == ["one_connection", "ten_connections", "channel", "h2load", "aioapns", "service"]
        )
        for subject in result.subjects {
            #expect(subject.pushes_per_second > 0 && subject.cpu_microseconds_per_push > 0, "\(subject)")
        }
        #expect(
            result.ratios.keys.sorted() == [
                "one_connection_vs_limit", "ten_connections_vs_one", "throughput_vs_aioapns", "throughput_vs_h2load",
            ]
        )
        #expect(result.cpu_microseconds_per_push > 0 && result.burst.seconds > 0)
        #expect(result.goaway == .init(lost: 0, twice: 0))
    }

    private struct Messages: Decodable {
        struct Quota: Decodable {
            var pushes_per_second: Double
            var cores: Double
        }

        var benchmark: String
        var cpu_microseconds_per_push: Double
        var subjects: [Subject]
        var ratios: [String: Double]
        var quota: Quota?
    }

    @Test(
        "every message to an Android device or a browser is accepted once, of the channel and of other clients",
        arguments: [("fcm", "firebase"), ("webpush", "pywebpush")]
    )
    func messages(_ channel: String, _ option: String) async throws {
        let other = channel == "fcm" ? "firebase-admin" : "pywebpush"
        let result: Messages = try await Benchmark.run([
            channel, "--pushes", "2000", "--\(option)-pushes", "600", "--seconds", "1", "--rounds", "1", "--subjects",
            "h2load", other,
        ])
        #expect(result.benchmark == channel && result.cpu_microseconds_per_push > 0)
        #expect(result.subjects.map(\.name) == ["channel", "h2load", other])
        for subject in result.subjects {
            #expect(subject.pushes_per_second > 0 && subject.cpu_microseconds_per_push > 0, "\(subject)")
        }
        let ratio = "throughput_vs_\(other.replacing("-", with: "_"))"
        #expect(result.ratios.keys.sorted() == [ratio, "throughput_vs_h2load"].sorted())
        #expect(result.ratios.values.allSatisfy { $0 > 0 })
        if channel == "fcm" {
            let quota = try #require(result.quota)
            // The quota of one more second may be used at once.
            #expect(quota.pushes_per_second > 0 && quota.pushes_per_second <= 21_000 && quota.cores > 0, "\(quota)")
        } else {
            #expect(result.quota == nil)
        }
    }

    @Test("notifications that wait for their endpoint arrive once, and none is lost")
    func webhook() async throws {
        struct Webhook: Decodable {
            struct Drain: Decodable {
                var notifications: Int
                var lost: Int
                var repeated: Int
                var outage_requests: Int
            }

            var benchmark: String
            var drain: Drain
            var ratios: [String: Double]
        }

        let result: Webhook = try await Benchmark.run([
            "webhook", "--sends", "5000", "--partitions", "4", "--rounds", "1", "--seconds", "1", "--waiting", "2000",
            "--outage", "1",
        ])
        #expect(result.benchmark == "webhook")
        #expect(result.ratios["throughput_vs_wrk"] ?? 0 > 0 && result.ratios["service_vs_wrk"] ?? 0 > 0)
        #expect(result.drain.notifications == 2_000 && result.drain.lost == 0 && result.drain.repeated == 0)
        #expect(result.drain.outage_requests > 0)
    }

    @Test(
        "images are fetched and stored, many large ones at a time, and notifications are enriched ahead of their time"
    )
    func enrichment() async throws {
        struct Enrichment: Decodable {
            struct Lateness: Decodable {
                var events: Int
                var min: Int
                var p50: Int
                var p99: Int
            }

            var benchmark: String
            var held_bytes: Int
            var peak_extra_bytes: Int
            var lead_0_ms: Lateness
            var lead_5_ms: Lateness
            var ratios: [String: Double]
        }

        let result: Enrichment = try await Benchmark.run([
            "enrichment", "--images", "200", "--rounds", "1", "--downloads", "10", "--download-bytes", "1000000",
            "--notifications", "10",
        ])
        #expect(result.benchmark == "enrichment" && result.ratios["throughput_vs_curl"] ?? 0 > 0)
        #expect(result.held_bytes > 7_000_000 && result.peak_extra_bytes >= 0)
        for lateness in [result.lead_0_ms, result.lead_5_ms] {
            #expect(lateness.events == 10 && 0 <= lateness.min && lateness.p50 <= lateness.p99)
        }
        // Without a lead each waits for the second that its image takes.
        #expect(result.lead_0_ms.min >= 900)
    }
}
