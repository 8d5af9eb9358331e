import Foundation
import Kafka
import NotificationModel
import Testing

@testable import carillon

@Suite("The topics on a cluster")
struct TopicsTests {
    private static let names = TopicNames()
    private static let plans = TopicPlan.all(names, replicas: 3, recordBytes: 1_000_000, deletionsKept: 82_800_000)

    /// A cluster in memory.
    private struct FakeCluster: TopicCluster {
        var id = "real"
        var known: [String: KafkaAdmin.Topic] = [:]
        var settings: [String: [String: String]] = [:]
        var error: KafkaError?

        func clusterID(within time: Duration) throws(KafkaError) -> String? { id }

        func topics(within time: Duration) throws(KafkaError) -> [String: KafkaAdmin.Topic] { known }

        func settings(
            of topics: [String],
            within time: Duration
        ) throws(KafkaError) -> [String: [String: String]] {
            if let error { throw error }
            return settings.filter { topics.contains($0.key) }
        }

        func create(
            _ topics: [KafkaAdmin.NewTopic],
            within time: Duration
        ) throws(KafkaError) -> [String: KafkaError] { [:] }

        /// What `create` makes of the plans.
        static func asPlanned(partitions: Int = 24) -> FakeCluster {
            var cluster = FakeCluster()
            for plan in plans {
                cluster.known[plan.topic] = KafkaAdmin.Topic(partitions: partitions, replicas: 3)
                var settings = [
                    "cleanup.policy": "delete", "retention.ms": "604800000", "segment.ms": "604800000",
                    "delete.retention.ms": "86400000", "min.compaction.lag.ms": "0", "max.message.bytes": "1048588",
                ]
                for (name, value) in plan.settings { settings[name] = value }
                cluster.settings[plan.topic] = settings
            }
            return cluster
        }

        func findings() -> [TopicFinding] {
            TopicView(known, of: self, plans, within: .seconds(1)).findings(plans)
        }
    }

    @Test func `topics as they are created are as they should be`() {
        #expect(FakeCluster.asPlanned().findings() == [])
        #expect(TopicsCheckCommand.text([], of: 10) == "10 topics: all as they should be\n")
    }

    /// A setting that differs, and what of the consequence is told.
    private static let deviations: [(topic: String, setting: String, value: String, TopicFinding.Level, String)] = [
        ("state", "cleanup.policy", "delete", .error, "reads all of it"),
        ("state", "cleanup.policy", "compact,delete", .error, "pending notifications are thrown away"),
        ("devices", "cleanup.policy", "compact, delete", .error, "registrations are thrown away"),
        ("signals", "cleanup.policy", "compact,delete", .error, "only the newest one stays"),
        ("deliveries", "cleanup.policy", "compact", .error, "only the newest one stays"),
        ("requests", "cleanup.policy", "compact", .warning, "kept for ever"),
        ("requests", "min.compaction.lag.ms", "0", .warning, "can be compacted away"),
        ("requests", "retention.ms", "3600000", .warning, "is lost"),
        ("state", "delete.retention.ms", "82800000", .error, "brings back notifications that were cancelled"),
        ("state", "segment.ms", "604800000", .warning, "reads more"),
        ("devices", "delete.retention.ms", "86400000", .warning, "a device that left"),
        ("deliveries", "max.message.bytes", "999999", .error, "the brokers refuse records"),
        ("requests", "min.insync.replicas", "1", .warning, "the only broker that has it fails"),
        ("requests", "min.insync.replicas", "3", .warning, "while one broker is away"),
    ]

    @Test(arguments: 0..<14)
    func `each deviation is told once, with its consequence`(_ index: Int) throws {
        let (topic, setting, value, level, words) = Self.deviations[index]
        var cluster = FakeCluster.asPlanned()
        cluster.settings["carillon.\(topic)"]?[setting] = value
        let findings = cluster.findings()
        let finding = try #require(findings.first { $0.what.contains(setting) && $0.consequence.contains(words) })
        #expect(finding.level == level && finding.topics == ["carillon.\(topic)"])
        // `delete` alone also lacks `compact`.
        #expect(findings.count == (value == "delete" && topic == "state" ? 2 : 1))
    }

    @Test func `what has no limit, and what cannot be read, is no deviation`() {
        var cluster = FakeCluster.asPlanned()
        cluster.settings["carillon.requests"]?["retention.ms"] = "-1"
        cluster.settings["carillon.signals"]?["retention.ms"] = "for ever"
        #expect(cluster.findings() == [])
    }

    @Test func `a topic that is missing is an error unless the services start without it`() {
        var cluster = FakeCluster.asPlanned()
        for name in ["requests", "tokens", "categories"] { cluster.known["carillon.\(name)"] = nil }
        let findings = cluster.findings()
        #expect(findings.count == 3)
        #expect(findings.filter { $0.level == .error }.map(\.topics) == [["carillon.requests"]])
        #expect(findings.allSatisfy { $0.consequence.contains("carillon topics create") })
    }

    @Test func `partitions that must come together are compared with those of requests`() {
        var cluster = FakeCluster.asPlanned()
        cluster.known["carillon.signals"]?.partitions = 12
        cluster.known["carillon.tokens"]?.partitions = 12
        cluster.known["carillon.deliveries"]?.partitions = 3
        let findings = cluster.findings()
        #expect(findings.map(\.level).sorted { $0.rawValue < $1.rawValue } == [.error, .warning])
        #expect(findings.first { $0.level == .error }?.topics == ["carillon.signals"])
        #expect(findings.first { $0.level == .error }?.what == "has 12 partitions, carillon.requests has 24")
    }

    @Test func `the same of several topics is one finding`() throws {
        var cluster = FakeCluster.asPlanned()
        for topic in cluster.known.keys { cluster.known[topic]?.replicas = 1 }
        let findings = cluster.findings()
        #expect(findings.count == 1 && findings.first?.topics.count == 10)
    }

    @Test func `what the cluster does not say is told, and is no error`() {
        var cluster = FakeCluster.asPlanned()
        cluster.error = KafkaError(code: .unsupportedFeature, reason: "no")
        #expect(cluster.findings().map(\.level) == [.unseen])
        cluster.error = KafkaError(code: .topicAuthorizationFailed, reason: "topic x: not authorized")
        #expect(cluster.findings().map(\.what) == ["what settings the topics have: topic x: not authorized"])
        cluster = FakeCluster.asPlanned()
        cluster.id = "mockClusterabc"
        cluster.settings["carillon.state"]?["cleanup.policy"] = "delete"
        #expect(cluster.findings().map(\.level) == [.unseen])
        let text = TopicsCheckCommand.text(cluster.findings(), of: 10)
        #expect(text.hasPrefix("not seen: what settings") && text.hasSuffix("10 topics: 1 part not seen\n"))
    }

    @Test func `the page of operations says what topics get`() throws {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = package.appendingPathComponent("Sources/carillon/carillon.docc/Operations.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        var told: [String: [String]] = [:]
        for line in text.split(separator: "\n") where line.hasPrefix("| `") {
            let codes = line.matches(of: /`([^`]+)`/).map { String($0.1) }
            guard let topic = codes.first, Self.plans.contains(where: { $0.name == topic }), codes.count > 1,
                ["compact", "delete", "compact,delete"].contains(codes[1])
            else { continue }
            told[topic] = ["cleanup.policy=\(codes[1])"] + codes.dropFirst(2)
        }
        let planned = Self.plans.map { plan in
            (plan.name, plan.settings.filter { $0.name != "min.insync.replicas" }.map { "\($0.name)=\($0.value)" })
        }
        #expect(told == Dictionary(uniqueKeysWithValues: planned))
    }

    // MARK: Creation

    @Test func `only what is missing is created, with as many partitions as requests has`() throws {
        let known = ["carillon.requests": KafkaAdmin.Topic(partitions: 12, replicas: 3)]
        let creation = try TopicCreation(Self.plans, partitions: nil, replicas: 2, known)
        #expect(creation.missing.count == 9 && creation.missing.allSatisfy { $0.partitions == 12 && $0.replicas == 2 })
        let state = try #require(creation.missing.first { $0.name == "carillon.state" })
        #expect(state.settings["cleanup.policy"] == "compact" && state.settings["segment.ms"] == "3600000")
        let outcomes = creation.outcomes(refused: [
            "carillon.state": KafkaError(code: .topicAlreadyExists, reason: "exists"),
            "carillon.signals": KafkaError(code: .topicAuthorizationFailed, reason: "not allowed"),
        ])
        func text(_ name: String) -> String? { outcomes.first { $0.topic == "carillon.\(name)" }?.text }
        #expect(text("requests") == "carillon.requests: exists, not changed\n")
        #expect(text("state") == "carillon.state: exists, not changed\n")
        #expect(text("signals") == "carillon.signals: refused: not allowed\n")
        #expect(text("devices") == "carillon.devices: created, 12 partitions, replication factor 2\n")
        #expect(outcomes.count { $0.isFailure } == 1)
    }

    @Test func `another number of partitions than the others have is refused before anything is created`() throws {
        let known = ["carillon.requests": KafkaAdmin.Topic(partitions: 12, replicas: 3)]
        let failure = #expect(throws: CommandFailure.self) {
            _ = try TopicCreation(Self.plans, partitions: 24, replicas: 3, known)
        }
        #expect(failure?.status == ExitStatus.usage && failure?.description.contains("12 partitions") == true)
        // Nothing is missing that must have as many.
        let twelve = KafkaAdmin.Topic(partitions: 12, replicas: 3)
        let all = Dictionary(
            uniqueKeysWithValues: Self.plans.filter { $0.name != "responses" }.map { ($0.topic, twelve) }
        )
        #expect(try TopicCreation(Self.plans, partitions: 24, replicas: 3, all).missing.map(\.partitions) == [24])
        #expect(
            try TopicCreation(Self.plans, partitions: nil, replicas: 3, [:]).missing.map(\.partitions).allSatisfy {
                $0 == 24
            }
        )
    }

    // MARK: Print

    @Test func `as commands each topic is a line that a shell takes`() {
        let text = TopicFormat.commands.text(Self.plans, partitions: 6, replicas: 3, servers: "a:1,b'c:2", cluster: "x")
        let lines = text.split(separator: "\n")
        #expect(lines.count == 10)
        #expect(
            lines.first { $0.contains("carillon.state") } == """
                kafka-topics.sh --bootstrap-server 'a:1,b'\\''c:2' --create --if-not-exists --topic carillon.state --partitions 6 \
                --replication-factor 3 --config cleanup.policy=compact --config segment.ms=3600000 \
                --config delete.retention.ms=86400000 --config min.insync.replicas=2
                """
        )
    }

    @Test func `as JSON and for Strimzi it has the same`() throws {
        let single = TopicPlan.all(Self.names, replicas: 1, recordBytes: 2_000_000, deletionsKept: 82_800_000)
        let json = TopicFormat.json.text(single, partitions: 6, replicas: 1, servers: "", cluster: "")
        let topics = try #require(JSONValue.parse(Array(json.utf8.dropLast())).arrayValue)
        #expect(topics.count == 10 && topics.allSatisfy { $0["partitions"]?.integerValue == 6 })
        let state = try #require(topics.first { $0["topic"]?.stringValue == "carillon.state" })
        #expect(state["config"]?["cleanup.policy"]?.stringValue == "compact")
        #expect(state["config"]?["min.insync.replicas"]?.stringValue == "1")
        #expect(state["config"]?["max.message.bytes"]?.stringValue == "2000000")
        let yaml = TopicFormat.strimzi.text(Self.plans, partitions: 6, replicas: 3, servers: "", cluster: "production")
        #expect(yaml.components(separatedBy: "---\n").count == 10)
        #expect(
            yaml.contains(
                """
                  name: carillon.state
                  labels:
                    strimzi.io/cluster: production
                spec:
                  topicName: "carillon.state"
                  partitions: 6
                  replicas: 3
                  config:
                    cleanup.policy: "compact"
                """
            )
        )
    }

    @Test(arguments: [("carillon.state", "carillon.state"), ("My_Shop.A", "my-shop.a"), ("_x.", "x"), ("__", "topic")])
    func `a resource has a name that Kubernetes takes`(_ topic: String, _ name: String) {
        #expect(TopicFormat.resourceName(of: topic) == name && TopicFormat.isResourceName(name))
    }

    @Test func `arguments that cannot be right are refused`() {
        for arguments in [["--partitions", "0"], ["--replication-factor", "0"], ["--partitions", "10001"]] {
            #expect(refusal(["topics", "create", "--bootstrap-servers", "a:1"] + arguments)?.status == 64)
        }
        #expect(refusal(["topics", "print", "--cluster", "a: b"])?.message.contains("--cluster") == true)
    }
}
