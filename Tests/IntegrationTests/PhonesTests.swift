import Foundation
import Testing

/// A gateway that fails in many ways, phones that come, go and answer, and a consumer service that is killed: at rest each phone shows
/// what the committed events say.
///
/// `PHONES_SECONDS` lets it run for longer than some seconds for each case, `PHONES_SEED` makes the inputs of a former run.
@Suite("Phones behind a gateway that fails", .serialized)
struct PhonesTests {
    private struct Report: Decodable {
        var requests: Int
        var kills: Int
        var sends: Int
        var answers: [String: Int]
        var differences: [String]
        var errors: [String]
    }

    private static let environment = ProcessInfo.processInfo.environment
    private static let seconds = environment["PHONES_SECONDS"].flatMap { Int($0) } ?? 12

    @Test(
        "whether or not a receiver ignores the ids that it knows and what is older than what it applied",
        arguments: ["none", "ids", "sequence", "both"]
    )
    func webhook(rule: String) async throws {
        let folder = try TemporaryFolder()
        let keys = try folder.write("whsec_" + Data(repeating: 7, count: 32).base64EncodedString(), to: "keys")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keys)
        let settings = [
            "CARILLON_CHANNEL": "webhook",
            "CARILLON_CHANNELS": "webhook",
            "CARILLON_WEBHOOK_INTERNAL": "true",
            "CARILLON_WEBHOOK_KEYS_FILE": keys,
            "CARILLON_WEBHOOK_TIMEOUT": "500ms",
            "CARILLON_WEBHOOK_BREAKER_FAILURES": "8",
            "CARILLON_WEBHOOK_BREAKER_FIRST_PAUSE": "200ms",
            "CARILLON_WEBHOOK_BREAKER_LONGEST_PAUSE": "500ms",
        ]
        _ = try await run(settings, ["--rule", rule], in: folder)
    }

    @Test("Apple devices behind APNs, whose simulator is killed, too", arguments: ["apns", "devices"])
    func apns(channel: String) async throws {
        let folder = try TemporaryFolder()
        let settings = [
            "CARILLON_CHANNEL": channel,
            "CARILLON_APNS_TIMEOUT": "1s",
            "CARILLON_APNS_CONNECTIONS": "2",
        ]
        let report = try await run(
            settings,
            ["--apns", Tools.product("carillon"), "--directory", folder.path],
            in: folder
        )
        #expect(report.answers["simulators"] ?? 0 > 1, "\(report)")
    }

    private func run(_ further: [String: String], _ gateway: [String], in folder: TemporaryFolder) async throws
        -> Report
    {
        let cluster = try Cluster.inProcess()
        var settings = ServiceProcess.settings(cluster, deployment: "phones").merging(further) { $1 }
        settings["CARILLON_CONSUMER_GROUP"] = "phones"
        settings["CARILLON_CONSUMER_LANES"] = "1"
        settings["CARILLON_CONSUMER_START"] = "earliest"
        settings["CARILLON_RETRY_FIRST_PAUSE"] = "100ms"
        settings["CARILLON_RETRY_LONGEST_PAUSE"] = "1s"
        settings["PHONES_LOG"] = folder.file("consumer.log")
        let seed = Self.environment["PHONES_SEED"].flatMap { Int($0) } ?? Int.random(in: 1...1_000_000)
        print("phones: seed \(seed) for \(Self.seconds) s, \(gateway.first ?? "") \(gateway.dropFirst().first ?? "")")
        let program = try await ChildProcess.run(
            try Tools.python(),
            [
                Tools.client("phones.py"), "--bootstrap", cluster.bootstrapServers, "--prefix", cluster.prefix,
                "--seconds", "\(Self.seconds)", "--kills", "\(1 + Self.seconds / 10)", "--seed", "\(seed)",
                "--consumer", try Tools.product("carillon-consumer"),
            ] + gateway,
            environment: settings
        )
        let report = try JSONDecoder().decode(Report.self, from: Data(program.outputText.utf8))
        #expect(report.errors == [], "seed \(seed)")
        #expect(report.differences == [], "seed \(seed)")
        #expect(report.requests > 50 && report.sends > 0 && report.kills > 0, "\(report)")
        try await cluster.stop()
        return report
    }
}
