import Foundation
import Testing

/// A gateway that fails in many ways, phones that come, go and answer, and a consumer service that is killed: at rest each phone shows
/// what the committed events say, whether or not the receiver ignores the ids that it knows and what is older than what it applied.
///
/// `PHONES_SECONDS` lets it run for longer than some seconds for each rule.
@Suite("Phones behind a gateway that fails", .serialized)
struct PhonesTests {
    private struct Report: Decodable {
        var requests: Int
        var kills: Int
        var posts: Int
        var differences: [String]
        var errors: [String]
    }

    private static let seconds = ProcessInfo.processInfo.environment["PHONES_SECONDS"].flatMap { Int($0) } ?? 12

    @Test("at rest each phone shows what the events say", arguments: ["none", "ids", "sequence", "both"])
    func phones(rule: String) async throws {
        let cluster = try Cluster.inProcess()
        let folder = try TemporaryFolder()
        let keys = try folder.write("whsec_" + Data(repeating: 7, count: 32).base64EncodedString(), to: "keys")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keys)
        var settings = ServiceProcess.settings(cluster, deployment: "phones")
        settings["CARILLON_CONSUMER_GROUP"] = "phones"
        settings["CARILLON_CONSUMER_LANES"] = "1"
        settings["CARILLON_CONSUMER_START"] = "earliest"
        settings["CARILLON_CHANNEL"] = "webhook"
        settings["CARILLON_CHANNELS"] = "webhook"
        settings["CARILLON_WEBHOOK_INTERNAL"] = "true"
        settings["CARILLON_WEBHOOK_KEYS_FILE"] = keys
        settings["CARILLON_WEBHOOK_TIMEOUT"] = "500ms"
        settings["CARILLON_WEBHOOK_BREAKER_FAILURES"] = "8"
        settings["CARILLON_WEBHOOK_BREAKER_FIRST_PAUSE"] = "200ms"
        settings["CARILLON_WEBHOOK_BREAKER_LONGEST_PAUSE"] = "500ms"
        settings["CARILLON_RETRY_FIRST_PAUSE"] = "100ms"
        settings["CARILLON_RETRY_LONGEST_PAUSE"] = "1s"
        settings["PHONES_LOG"] = folder.file("consumer.log")
        let seed = Int.random(in: 1...1_000_000)
        let program = try await ChildProcess.run(
            try Tools.python(),
            [
                Tools.client("phones.py"), "--bootstrap", cluster.bootstrapServers, "--prefix", cluster.prefix,
                "--seconds", "\(Self.seconds)", "--kills", "\(1 + Self.seconds / 10)", "--seed", "\(seed)",
                "--rule", rule, "--consumer", try Tools.product("carillon-consumer"),
            ],
            environment: settings
        )
        let report = try JSONDecoder().decode(Report.self, from: Data(program.outputText.utf8))
        #expect(report.errors == [], "seed \(seed)")
        #expect(report.differences == [], "seed \(seed), rule \(rule)")
        #expect(report.requests > 50 && report.posts > 0 && report.kills > 0, "\(report)")
        try await cluster.stop()
    }
}
