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

@Suite("SIGHUP reads the rules again", .serialized)
struct RulesReloadTests {
    private static func rules(_ title: String) -> String {
        "rules: [{event: com.example.test, recipient: \"{{data.who}}\", identifier: hello, content: {title: \(title)}}]\n"
    }

    @Test("the producer service counts good and bad files, reports errors, and keeps its rules after a bad file")
    func producer() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Self.rules("first"), to: "rules.yaml")
        // Reloading needs no broker.
        let service = ServiceProcess(
            try ChildProcess(
                try Tools.product("carillon-producer"),
                environment: [
                    "CARILLON_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "CARILLON_HTTP_PORT": "0",
                    "CARILLON_OPS_PORT": "0",
                    "CARILLON_LOG_FORMAT": "json", "CARILLON_RULES_FILE": file,
                ]
            )
        )
        _ = try await service.http
        func metric(_ name: String) async throws -> Double? {
            try await service.metrics.split(separator: "\n").first { $0.hasPrefix(name + " ") }
                .flatMap { Double($0.split(separator: " ").last ?? "") }
        }
        let success = "carillon_rules_reloads_total{outcome=\"success\"}"
        let failure = "carillon_rules_reloads_total{outcome=\"failure\"}"
        let time = "carillon_rules_reload_success_timestamp_seconds"
        let atStart = try #require(try await metric(time))
        #expect(atStart > 1_700_000_000)
        #expect(try await metric(success) == 0)

        _ = try folder.write(Self.rules("second") + "  - event: x\n", to: "rules.yaml")
        service.child.signal(SIGHUP)
        try await eventually("a bad file is counted", orSay: { service.child.lastWords }) {
            try await metric(failure) == 1
        }
        #expect(service.child.errorText.contains("rules.yaml"))
        #expect(service.child.errorText.contains("2:3: not YAML"), "\(service.child.lastWords)")
        #expect(try await metric(time) == atStart)
        // Only the broker is the reason why it is not ready: without it there are no categories. The text may vary.
        let readiness = JSONText.object(Data(try await service.health("ready").text.utf8))
        let reasons = readiness?["components"] as? [[String: Any]]
        #expect(Set(reasons?.compactMap { $0["component"] as? String } ?? []) == ["kafka", "categories"])
        #expect(try await service.health("live").status == 200)

        _ = try folder.write(Self.rules("third"), to: "rules.yaml")
        service.child.signal(SIGHUP)
        try await eventually("a good file is counted", orSay: { service.child.lastWords }) {
            try await metric(success) == 1
        }
        #expect(try #require(try await metric(time)) > atStart)
        #expect(try await metric(failure) == 1)

        service.child.signal(SIGTERM)
        #expect(try await service.child.ended() == 0, "\(service.child.lastWords)")
    }

    @Test("carillon local does so too", .disabled(if: Cluster.isReal, "it brings its own broker"))
    func local() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Self.rules("first"), to: "rules.yaml")
        let local = try ChildProcess(
            try Tools.product("carillon"),
            [
                "local", "--http", "127.0.0.1:0", "--ops", "127.0.0.1:0", "--bootstrap-file", folder.file("bootstrap"),
                "--rules", file,
            ]
        )
        let lines = { local.outputLines.map { $0.split(separator: " ").map(String.init) } }
        try await eventually("it says where everything is", orSay: { local.lastWords }) {
            guard local.isRunning else { throw ChildProcess.Failure(description: local.lastWords) }
            return lines().contains { $0.first == "ops" }
        }
        let http = try #require(lines().first { $0.first == "http" }?.last)
        let servers = try String(contentsOfFile: folder.file("bootstrap"), encoding: .utf8)
            .trimmingCharacters(in: .newlines)
        var sent = 0
        /// The title of the notification that an event causes.
        func title() async throws -> String? {
            sent += 1
            let answer = try await Curl.send(
                "POST",
                "\(http)/v1/events",
                headers: [("content-type", "application/cloudevents+json")],
                body: Data(
                    #"{"specversion":"1.0","id":"\#(sent)","source":"/t","type":"com.example.test","data":{"who":"u\#(sent)"}}"#
                        .utf8
                )
            )
            #expect(answer.status == 202, "\(answer.text)")
            let tail = try await ChildProcess.run(
                try Tools.product("carillon"),
                [
                    "tail", "deliveries", "--json", "--from", "beginning", "--count", "\(sent)", "--bootstrap-servers",
                    servers,
                ]
            )
            let mine = tail.outputLines.map { Data($0.utf8) }
                .first { JSONText.member("value.recipient", of: $0) == "u\(sent)" }
            return mine.flatMap { JSONText.member("value.content.title", of: $0) }
        }
        #expect(try await title() == "first")
        _ = try folder.write(Self.rules("second"), to: "rules.yaml")
        local.signal(SIGHUP)
        try await eventually("the new rules are in force", orSay: { local.lastWords }) { try await title() == "second" }
        local.signal(SIGTERM)
        #expect(try await local.ended() == 0, "\(local.lastWords)")
    }
}
