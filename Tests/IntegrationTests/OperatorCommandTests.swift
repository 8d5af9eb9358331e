import Foundation
import NotificationModel
import ServiceSupport
import Testing
import TestSupport

/// `carillon config`, `check`, `topics` and `top`, as an operator runs them.
@Suite("The operator's commands", .serialized)
struct OperatorCommandTests {
    private static let servers = ["CARILLON_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"]

    private func run(
        _ arguments: [String],
        _ environment: [String: String] = servers
    ) async throws -> (status: Int32, output: String, errors: String) {
        let child = try ChildProcess(try Tools.product("carillon"), arguments, environment: environment)
        let status = try await child.ended()
        return (status, child.outputText, child.errorText)
    }

    @Test("config show says what a service says at its start, word for word, with its status")
    func sameWords() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("htp: {port: 1}\nlog: {level: loud}\n", to: "carillon.yaml")
        for service in ["producer", "consumer"] {
            let start = try ChildProcess(
                try Tools.product("carillon-\(service)"),
                ["--config", path],
                environment: Self.servers
            )
            #expect(try await start.ended() == 78)
            let shown = try await run(["config", "show", service, "--config", path])
            #expect(shown.status == 78 && shown.output.isEmpty)
            #expect(shown.errors == start.errorText && shown.errors.contains("htp.port"))
        }
    }

    @Test("config show has both services, and no secret")
    func shown() async throws {
        var environment = Self.servers
        environment["CARILLON_KAFKA_PROPERTIES"] = "sasl.password=hunter2"
        let shown = try await run(["config", "show"], environment)
        #expect(
            shown.status == 0 && shown.output.contains("carillon-producer\n")
                && shown.output.contains("carillon-consumer\n")
        )
        #expect(!shown.output.contains("hunter2"))
        let json = try await run(["config", "show", "--json"], environment)
        let services = json.output.split(separator: "\n").map { JSONText.member("service", of: Data($0.utf8)) }
        #expect(services == ["producer", "consumer"] && !json.output.contains("hunter2"))
    }

    @Test(
        "check ends with 78 for settings, and with 69 for a broker that is away; without the environment it asks nobody"
    )
    func checkStatus() async throws {
        let folder = try TemporaryFolder()
        let rules = try folder.write("rules:\n  - event: e\n    recipent: r\n", to: "rules.yaml")
        let wrong = try folder.write("rules: {file: \(rules)}\n", to: "wrong.yaml")
        let bad = try await run(["check", "producer", "--config", wrong])
        #expect(bad.status == 78 && bad.output.contains("recipent"), "\(bad)")
        let away = try await run(["check", "--timeout", "500ms"])
        #expect(away.status == 69 && away.output.contains("127.0.0.1:1"), "\(away)")
        let offline = try await run(["check", "--no-environment", "--json"])
        #expect(offline.status == 0, "\(offline)")
        let results = offline.output.split(separator: "\n").map { JSONText.member("result", of: Data($0.utf8)) }
        #expect(results.allSatisfy { ["ok", "warning", "skipped"].contains($0) } && results.count > 5)
        #expect(try await run(["check", "pigeon"]).status == 64)
    }

    @Test("properties of TLS and SASL that cannot be used end a start with 78, and check says the same")
    func security() async throws {
        for (properties, words) in [
            ("sasl.password=hunter2", "sasl.password: has no effect without SASL"),
            ("security.protocol=ssl,ssl.ca.location=/nowhere/ca.pem", "ssl.ca.location"),
            ("security.protocol=sasl_ssl,sasl.mechanism=PLAIN,sasl.username=a", "sasl.password: is needed by PLAIN"),
        ] {
            var environment = Self.servers
            environment["CARILLON_KAFKA_PROPERTIES"] = properties
            environment["CARILLON_OPS_PORT"] = "0"
            for service in ["producer", "consumer"] {
                let start = try ChildProcess(try Tools.product("carillon-\(service)"), environment: environment)
                #expect(try await start.ended() == 78, "\(start.lastWords)")
                #expect(start.errorText.contains(words) && !start.errorText.contains("hunter2"))
                let check = try await run(["check", service, "--no-environment"], environment)
                #expect(check.status == 78 && check.output.contains(words), "\(check)")
                #expect(!check.output.contains("hunter2"))
            }
        }
    }

    @Test("topics are printed without a broker")
    func printed() async throws {
        let commands = try await run(["topics", "print", "--partitions", "6"], [:])
        #expect(commands.status == 0 && commands.output.split(separator: "\n").count == 10, "\(commands)")
        #expect(commands.output.contains("--bootstrap-server 'localhost:9092' --create --if-not-exists"))
        let strimzi = try await run(["topics", "print", "--format", "strimzi", "--topics-prefix", "shop."], [:])
        #expect(strimzi.status == 0 && strimzi.output.contains("topicName: \"shop.state\""), "\(strimzi)")
    }

    @Test("a cluster is checked, its topics are explained, and top shows a service that runs on it")
    func cluster() async throws {
        try await CarillonCommand.withCluster { command in
            let check = try await command.run("check", "--timeout", "30s")
            #expect(check.status == 0, "\(check)")
            #expect(check.output.contains("  ok       Kafka: "))
            let topics = try await command.run("topics", "check")
            #expect(topics.status == 0 && topics.output.hasSuffix("\n"), "\(topics)")
            let missing = try await command.run("topics", "check", "--topics-prefix", "nothing.", "--json")
            #expect(missing.status == 1)
            #expect(missing.members("level").contains("error") && missing.members("level").contains("warning"))
            let printed = try await command.run("topics", "print", "--format", "strimzi")
            #expect(printed.status == 0 && printed.output.components(separatedBy: "kind: KafkaTopic").count == 11)
        }
    }

    @Test("top shows services that run, and query counts what they keep")
    func running() async throws {
        let stack = try await Stack.start()
        do {
            try await watch(stack)
        } catch {
            try? await stack.stop()
            throw error
        }
        try await stack.stop()
    }

    private func watch(_ stack: Stack) async throws {
        let command = CarillonCommand(cluster: stack.cluster)
        for (recipient, category) in [("ana", "ORDER"), ("bob", "NEWS")] {
            let sent = try await command.run(
                "send",
                "notification",
                "--recipient",
                recipient,
                "--identifier",
                "a",
                "--title",
                "T",
                "--category",
                category,
                "--in",
                "1h"
            )
            #expect(sent.status == 0, "\(sent)")
        }
        let (producer, consumer) = (try await stack.producer.ops, try await stack.consumer.ops)
        var last = ""
        try await eventually("top shows what is pending", orSay: { last }) {
            let top = try await command.run(
                "top",
                "--url",
                producer,
                "--url",
                consumer,
                "--once",
                "--interval",
                "500ms"
            )
            last = "\(top)"
            let rows = top.lines.map { $0.split(separator: " ").map(String.init) }
            guard let ready = rows.first(where: { $0.first == consumer }) else { return false }
            // Ready, lanes, partitions, pending.
            return top.status == 0 && ready[1] == "yes" && ready[2] == "1/1" && ready[4] == "2"
                && rows.contains { $0.first == producer && $0[1] == "yes" }
                && rows.contains { $0.first == "scheduled" && $0.last == "2" }
        }
        try await eventually("query counts what is in state", orSay: { last }) {
            let all = try await command.run("query", "--json", "--list", "5", "--state", "pending")
            last = "\(all)"
            return all.status == 0 && all.members("pending").last == "2"
        }
        let one = try await command.run("query", "--recipient", "ana", "--due-within", "2h", "--json", "--list", "5")
        #expect(one.members("identifier").first == "a" && one.members("category").first == "ORDER", "\(one)")
        #expect(one.members("pending").last == "1", "\(one)")
        let none = try await command.run("query", "--due-within", "1m", "--json")
        #expect(none.members("pending") == ["0"], "\(none)")
    }

    @Test("top: one picture of what answers, and 69 when nothing does")
    func top() async throws {
        let none = try await run(["top", "--url", "http://127.0.0.1:1", "--once"])
        #expect(none.status == 69 && none.output.contains("no answer from http://127.0.0.1:1"), "\(none)")
        #expect(!none.output.contains("\u{1B}"))
    }
}
