import CarillonServices
import Foundation
import TestSupport
import NotificationModel
import NotificationProducer
import ServiceSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The programs as an operator starts them.
@Suite("The programs, as an operator starts them", .serialized)
struct CommandLineTests {
    private static let services = ["carillon-producer", "carillon-consumer"]
    private static let base = ["CARILLON_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "CARILLON_OPS_PORT": "0"]

    // MARK: Names

    @Test(
        "carillon is a service under its name, as a link, and itself under any other",
        arguments: services + ["carillon-x"]
    )
    func calledAs(_ name: String) async throws {
        let folder = try TemporaryFolder()
        let link = folder.file(name)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: try Tools.product("carillon"))
        let child = try ChildProcess(link, ["--version"])
        #expect(try await child.ended() == 0)
        let own = Self.services.contains(name) ? name : "carillon"
        #expect(child.outputText == "\(own) \(CarillonVersion.current)\n", "\(child.lastWords)")
        withExtendedLifetime(folder) {}
    }

    // MARK: Triggers

    @Test("triggers on standard input: an array a line, and an error for each that never fires")
    func triggers() async throws {
        let lines = """
            {"type":"calendar","dateComponents":{"hour":9},"timeZone":"Asia/Tokyo","repeats":true}

            {"type":"calendar","dateComponents":{"month":2,"day":30,"hour":9}}
            {"type":"timeInterval","timeInterval":90}
            """
        let child = try ChildProcess(
            try Tools.product("carillon"),
            ["trigger", "next", "--after", "2026-03-28T00:00:00Z", "--count", "2"],
            input: Data(lines.utf8)
        )
        #expect(try await child.ended() == 65)
        #expect(
            child.outputText == """
                ["2026-03-29T00:00:00.000Z","2026-03-30T00:00:00.000Z"]
                []
                ["2026-03-28T00:01:30.000Z"]

                """
        )
        #expect(child.errorText.contains("line 3: ") && child.errorText.contains("dateComponents"))
    }

    // MARK: The simulation

    @Test("a simulation that keeps going lists every seed that breaks a rule, by rule, and how to run one again")
    func simulation() async throws {
        let arguments = [
            "simulate", "--seeds", "3", "--mode", "at-least-once", "--bug", "forgets-early", "--keep-going",
        ]
        let child = try ChildProcess(try Tools.product("carillon"), arguments)
        #expect(try await child.ended() == 1, "\(child.lastWords)")
        let text = child.outputText
        #expect(text.hasPrefix("3 seeds, "), "\(text)")
        let again = "again   carillon simulate --seeds 1 --first-seed 1 --mode at-least-once --bug forgets-early"
        #expect(text.contains("broken ") && text.contains(again), "\(text)")
    }

    // MARK: Media

    @Test("URLs on standard input: a line of JSON for each, the reason of a refusal, and the number of a bad line")
    func media() async throws {
        let folder = try TemporaryFolder()
        let child = try ChildProcess(
            try Tools.product("carillon"),
            ["media", "fetch", "--json"],
            environment: ["TMPDIR": folder.path],
            input: Data("https://10.0.0.1/a.png\n\n{\"link\":1}\n\"http://169.254.169.254/\"\n".utf8)
        )
        #expect(try await child.ended() == 1, "\(child.lastWords)")
        let members = ["line", "outcome", "reason"]
        let lines = child.outputLines.map { line in members.map { JSONText.member($0, of: Data(line.utf8)) ?? "" } }
        #expect(
            lines == [
                ["1", "refused", "address-refused"], ["3", "invalid", "unknown-field"],
                ["4", "refused", "address-refused"],
            ]
        )
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    // MARK: Receiving webhooks

    @Test("a receiver refuses what no key has signed, and addresses and files that it cannot use")
    func receive() async throws {
        let folder = try TemporaryFolder()
        let keys = try folder.write("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", to: "keys")
        let receiver = try ChildProcess(
            try Tools.product("carillon"),
            ["receive", "--listen", "127.0.0.1:0", "--keys-file", keys]
        )
        try await eventually("it listens", orSay: { receiver.lastWords }) { !receiver.outputLines.isEmpty }
        let answer = try await Curl.send("POST", String(receiver.outputLines[0]), body: Data("{}".utf8))
        #expect(answer.status == 401 && answer.text.contains("webhook-id"))
        try await eventually("it shows what it refused, and why", orSay: { receiver.lastWords }) {
            receiver.outputLines.last?.hasSuffix("  refused  webhook-id: the header is missing") == true
        }
        await receiver.end()

        let broken = try folder.write("secret\n", to: "broken")
        for (arguments, text) in [
            (["--keys-file", broken], "broken:1"), (["--keys-file", folder.file("none")], "none"),
            (["--keys-file", keys, "--listen", "0.0.0.0:0"], "listen.host"),
        ] {
            let child = try ChildProcess(try Tools.product("carillon"), ["receive"] + arguments)
            #expect(try await child.ended() == 66, "\(child.lastWords)")
            #expect(child.errorText.contains(text), "\(child.lastWords)")
            #expect(!child.errorText.contains("secret"))
        }
    }

    // MARK: Wrong configuration

    /// A start that must end with status 78 and name the error.
    private func expectRefusal(
        _ service: String,
        _ environment: [String: String],
        _ arguments: [String] = [],
        names texts: String...
    ) async throws {
        let child = try ChildProcess(try Tools.product(service), arguments, environment: environment)
        let status = try? await child.ended()
        if status == nil { await child.end() }
        #expect(status == 78, "\(service) \(environment): \(child.lastWords)")
        for text in texts { #expect(child.errorText.contains(text), "\(child.lastWords)") }
    }

    @Test("a variable that no setting has stops the start and is named", arguments: services)
    func unknownVariable(_ service: String) async throws {
        try await expectRefusal(
            service,
            Self.base.merging(["CARILLON_KAFKA_BOOTSTRAP_SERVER": "x"]) { _, new in new },
            names: "CARILLON_KAFKA_BOOTSTRAP_SERVER"
        )
    }

    @Test("a wrong value stops the start, and the key is named with what is allowed", arguments: services)
    func wrongValue(_ service: String) async throws {
        try await expectRefusal(
            service,
            Self.base.merging(["CARILLON_DRAIN_TIMEOUT": "soon"]) { _, new in new },
            names: "drain.timeout",
            "soon"
        )
        try await expectRefusal(
            service,
            Self.base.merging(["CARILLON_OPS_PORT": "70000"]) { _, new in new },
            names: "ops.port",
            "70000"
        )
        for servers in [nil, "", " , ", ":9092", "kafka:port", "kafka:70000", "kafka:9092;other:9092", "kafka 9092"] {
            let given = servers.map { ["CARILLON_KAFKA_BOOTSTRAP_SERVERS": $0] } ?? [:]
            try await expectRefusal(
                service,
                ["CARILLON_OPS_PORT": "0"].merging(given) { $1 },
                names: "kafka.bootstrap.servers"
            )
        }
    }

    @Test("a store.directory that cannot be used stops the start")
    func wrongStore() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("", to: "file")
        for path in [file, "\(file)/store", "/proc/store"] {
            try await expectRefusal(
                "carillon-consumer",
                Self.base.merging(["CARILLON_STORE_DIRECTORY": path]) { $1 },
                names: "store.directory",
                path
            )
        }
    }

    @Test("an error in the settings file is named with its line", arguments: services)
    func wrongFile(_ service: String) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "kafka:\n  bootstrap:\n    servers: [\"127.0.0.1:1\"]\nops:\n  port: 0\ndrain:\n  timeuot: 5s\n",
            to: "carillon.yaml"
        )
        try await expectRefusal(service, [:], ["--config", file], names: "drain.timeuot", "carillon.yaml:7")
        let broken = try folder.write("kafka:\n  bootstrap: [\n", to: "broken.yaml")
        try await expectRefusal(service, [:], ["--config", broken], names: "broken.yaml")
    }

    @Test("a Kafka property that librdkafka does not know stops the start and is named", arguments: services)
    func wrongKafkaProperty(_ service: String) async throws {
        let child = try ChildProcess(
            try Tools.product(service),
            environment: Self.base.merging(
                [
                    "CARILLON_KAFKA_PROPERTIES": "no.such.property=1",
                    "CARILLON_RULES_FILE": Tools.client("rules.yaml"),
                ].filter { service == "carillon-producer" || $0.key != "CARILLON_RULES_FILE" }
            ) { _, new in new }
            .merging(service == "carillon-producer" ? ["CARILLON_HTTP_PORT": "0"] : [:]) { _, new in new }
        )
        let status = try? await child.ended(within: .seconds(30))
        if status == nil { await child.end() }
        #expect(status != nil && status != 0, "a wrong key stops the start: \(child.lastWords)")
        #expect(child.errorText.contains("no.such.property"), "\(child.lastWords)")
    }

    @Test("rules that do not parse stop the start, each problem with its line")
    func wrongRules() async throws {
        let folder = try TemporaryFolder()
        func refuse(_ text: String, names line: String) async throws {
            let file = try folder.write(text, to: "rules.yaml")
            try await expectRefusal(
                "carillon-producer",
                Self.base.merging(["CARILLON_RULES_FILE": file, "CARILLON_HTTP_PORT": "0"]) { _, new in new },
                names: line
            )
        }
        let head = "rules:\n  - event: com.example.a\n    recipient: \"{{data.customer}}\"\n"
        try await refuse(head + "    identifier: a\n    contents: {title: T}\n", names: "rules.yaml:5:")
        try await refuse(head + "    identifier: \"{{data.order\"\n    content: {title: T}\n", names: "rules.yaml:4:")
        try await refuse(head + "    identifier: [\n", names: "rules.yaml:")
        try await refuse(
            head
                + "    identifier: a\n    content: {title: T}\n    trigger: {type: timeInterval, timeInterval: 30, repeats: true}\n",
            names: "rules.yaml:6:"
        )
        try await refuse("", names: "rules.yaml")
        try await expectRefusal(
            "carillon-producer",
            Self.base.merging(["CARILLON_RULES_FILE": folder.file("none.yaml")]) { _, new in new },
            names: "none.yaml"
        )
    }

    @Test("every setting is listed with its variable, default, range and effect", arguments: services + ["carillon"])
    func helpSettings(_ program: String) async throws {
        let arguments = program == "carillon" ? ["local"] : []
        let child = try ChildProcess(try Tools.product(program), arguments + ["--help-settings"])
        #expect(try await child.ended() == 0, "\(child.lastWords)")
        let text = child.outputText
        for row in try BoundsTable().rows where Self.isSetting(row.key, of: program) {
            #expect(text.contains("\n\(row.key)  CARILLON_"), "\(row.key)")
            if let value = row.defaultValue { #expect(text.contains("default \(value)\n"), "\(row.key)") }
        }
        #expect(text.contains("\nops.port  CARILLON_OPS_PORT\n    an integer from 0 to 65535; default 80"))
        // The name, its form, its effect.
        for setting in text.components(separatedBy: "\n\n").dropFirst() {
            #expect(setting.split(separator: "\n").count >= 3, "has no effect: \(setting)")
        }
        #expect(!text.split(separator: "\n").contains { $0.count > 100 })
    }

    private static func isSetting(_ key: String, of program: String) -> Bool {
        let producer = ServiceSettings.keys { _ = ProducerServiceConfiguration(settings: &$0) }.contains(key)
        let consumer = ServiceSettings.keys { _ = ConsumerSettings(settings: &$0) }.contains(key)
        // Metrics that neither declares are those of the process.
        return switch program {
        case "carillon-producer": producer || !consumer
        case "carillon-consumer": consumer || !producer
        default: true
        }
    }

    @Test("a port in use ends the start and names the address", arguments: services)
    func takenPort(_ service: String) async throws {
        let holder = try ChildProcess(try Tools.python(), [Tools.client("forward.py")], keepsInput: true)
        try await eventually("a port is held") { !holder.outputLines.isEmpty }
        let port = String(try #require(holder.outputLines.first))
        var environment = Self.base.merging(["CARILLON_OPS_PORT": port]) { _, new in new }
        if service == "carillon-producer" { environment["CARILLON_HTTP_PORT"] = "0" }
        let child = try ChildProcess(try Tools.product(service), environment: environment)
        let status = try? await child.ended()
        if status == nil { await child.end() }
        #expect(status == 1, "\(child.lastWords)")
        #expect(child.errorText.contains(":\(port)"), "\(child.lastWords)")
        await holder.end()
    }

    // MARK: carillon

    @Test(
        "carillon local writes the bootstrap file when everything is ready and deletes it at its end",
        .disabled(if: Cluster.isReal, "it brings its own broker")
    )
    func local() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("bootstrap")
        let local = try ChildProcess(
            try Tools.product("carillon"),
            [
                "local", "--http", "127.0.0.1:0", "--ops", "127.0.0.1:0", "--bootstrap-file", file,
                "--rules", Tools.client("rules.yaml"),
            ]
        )
        try await eventually("the bootstrap file is there", orSay: { local.lastWords }) {
            guard local.isRunning else { throw ChildProcess.Failure(description: local.lastWords) }
            return FileManager.default.fileExists(atPath: file)
        }
        let servers = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .newlines)
        let lines = { local.outputLines.map { $0.split(separator: " ").map(String.init) } }
        try await eventually("it says where everything is", orSay: { local.lastWords }) {
            lines().contains { $0.first == "ops" }
        }
        let ops = try #require(lines().first { $0.first == "ops" }?.last)
        let http = try #require(lines().first { $0.first == "http" }?.last)
        #expect(try await Curl.send("GET", "\(ops)/health/ready").status == 200)

        let put = try await Curl.send(
            "PUT",
            "\(http)/v1/recipients/ana/notifications/hello",
            headers: [("content-type", "application/json")],
            body: Data(#"{"content":{"title":"Hello"}}"#.utf8)
        )
        #expect(put.status == 202, "\(put.text)")
        let tail = try await ChildProcess.run(
            try Tools.product("carillon"),
            ["tail", "deliveries", "--json", "--from", "beginning", "--count", "1", "--bootstrap-servers", servers]
        )
        #expect(JSONText.member("value.requestId", of: tail.standardOutput) == put["requestId"])

        local.signal(SIGTERM)
        #expect(try await local.ended() == 0, "\(local.lastWords)")
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test(
        "carillon local --apns says what its iPhone shows, what takes its place, and what it removes",
        .disabled(if: Cluster.isReal, "it brings its own broker")
    )
    func localPhone() async throws {
        let local = try ChildProcess(
            try Tools.product("carillon"),
            ["local", "--apns", "--http", "127.0.0.1:0", "--ops", "127.0.0.1:0"]
        )
        func word(_ name: String) -> String? {
            local.outputLines.map { $0.split(separator: " ") }.first { $0.first == name[...] }?.dropFirst().first
                .map(String.init)
        }
        try await eventually("it says where everything is", orSay: { local.lastWords }) { word("apns") != nil }
        let path = "\(try #require(word("http")))/v1/recipients/ana/notifications/table"
        func call(_ method: String, _ body: String?) async throws {
            let answer = try await Curl.send(
                method,
                path,
                headers: [("content-type", "application/json")],
                body: body.map { Data($0.utf8) }
            )
            #expect(answer.status == 202, "\(answer.text)")
        }
        func expect(_ line: String) async throws {
            try await eventually(line, orSay: { local.lastWords }) { local.outputLines.contains("[iphone] \(line)") }
        }
        try await call("PUT", #"{"content":{"title":"A table","body":"At 7"}}"#)
        try await expect("shows    A table · At 7")
        try await call("PUT", #"{"content":{"title":"A table","body":"At 8"}}"#)
        try await expect("updates  A table · At 8")
        try await call("DELETE", nil)
        try await expect("removes  A table · At 8")

        local.signal(SIGTERM)
        #expect(try await local.ended() == 0, "\(local.lastWords)")
    }

    @Test(
        "carillon local accepts calls only when its consumer owns its partitions",
        .disabled(if: Cluster.isReal, "it brings its own broker")
    )
    func localIsReady() async throws {
        let holder = try ChildProcess(try Tools.python(), [Tools.client("free_ports.py"), "2"])
        #expect(try await holder.ended() == 0, "\(holder.lastWords)")
        let ports = holder.outputLines.map(String.init)
        try #require(ports.count == 2)
        let local = try ChildProcess(
            try Tools.product("carillon"),
            ["local", "--http", "127.0.0.1:\(ports[0])", "--ops", "127.0.0.1:\(ports[1])"]
        )
        do {
            // The first call that is accepted.
            var put: HTTPAnswer?
            try await eventually("a call is taken", orSay: { local.lastWords }) {
                guard local.isRunning else { throw ChildProcess.Failure(description: local.lastWords) }
                put = try? await Curl.send(
                    "PUT",
                    "http://127.0.0.1:\(ports[0])/v1/recipients/ana/notifications/hello",
                    headers: [("content-type", "application/json")],
                    body: Data(#"{"content":{"title":"Hello"}}"#.utf8)
                )
                return put != nil
            }
            #expect(put?.status == 202, "\(put?.text ?? "")")
            let health = try await Curl.send("GET", "http://127.0.0.1:\(ports[1])/health/ready")
            #expect(!health.text.contains("lane-"), "\(health.text)")
            #expect(local.isRunning, "\(local.lastWords)")
        } catch {
            await local.end()
            throw error
        }
        await local.end()
    }

    @Test("no usage is shown for errors of a broker or its settings")
    func noUsage() async throws {
        for arguments in [
            [], ["--bootstrap-file", "/no/such/file"], ["--bootstrap-servers", "127.0.0.1:1", "--timeout", "200ms"],
        ] {
            let tail = try ChildProcess(try Tools.product("carillon"), ["tail", "requests"] + arguments)
            #expect([64, 66, 69].contains(try await tail.ended()), "\(tail.lastWords)")
            #expect(tail.errorText.hasPrefix("carillon tail: "), "\(tail.lastWords)")
            #expect(tail.errorText.split(separator: "\n").count == 1, "\(tail.lastWords)")
        }
    }

    @Test("quotations of a command line contain no terminal control sequences")
    func hostileArguments() async throws {
        for arguments in [
            ["tail", "a\u{1B}[31m\u{202E}b"], ["tail", "a", "--nosuch\u{9B}x"], ["rules", "check", "\u{1B}c"],
        ] {
            let child = try ChildProcess(try Tools.product("carillon"), arguments)
            #expect([64, 66].contains(try await child.ended()))
            #expect(
                !child.errorText.unicodeScalars.contains { $0 != "\n" && PrintableText.isEscaped($0) },
                "\(child.errorText)"
            )
        }
    }

    @Test("tail reports that a topic does not exist or a broker is unavailable", .disabled(if: Cluster.isReal))
    func tailOfNothing() async throws {
        let away = try ChildProcess(
            try Tools.product("carillon"),
            ["tail", "requests", "--bootstrap-servers", "127.0.0.1:1"]
        )
        #expect(try await away.ended() == 69, "\(away.lastWords)")
        #expect(away.errorText.contains("127.0.0.1:1"))
    }
}
