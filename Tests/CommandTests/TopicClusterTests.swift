import Foundation
import Kafka
import NotificationModel
import ServiceSupport
import Testing

@testable import carillon

/// Requests about topics to a broker that has them, as Kafka's protocol says: the embedded broker has none.
@Suite("Topics of a broker that answers admin requests")
struct TopicClusterTests {
    private typealias Answer = ScriptedBroker.Answer

    /// One broker with these topics, each with two partitions on one broker.
    private static func broker(
        topics: [String],
        settings: [String: [String: String]] = [:],
        settingsError: Int16 = 0,
        refused: [String: Int16] = [:]
    ) throws -> ScriptedBroker {
        try ScriptedBroker([.metadata: 2, .createTopics: 1, .describeConfigs: 0]) { request, port in
            switch request {
            case .metadata:
                let brokers = Answer.array([.int32(1) + .string("127.0.0.1") + .int32(Int32(port)) + .string(nil)])
                let partitions = Answer.array(
                    (0..<2).map { number in
                        .int16(0) + .int32(number) + .int32(1) + .array([.int32(1)]) + .array([.int32(1)])
                    }
                )
                let known = topics.map { Answer.int16(0) + .string($0) + .int8(0) + partitions }
                return brokers + .string("real-cluster") + .int32(1) + .array(known)
            case .describeConfigs:
                let results = topics.map { topic in
                    let entries = (settings[topic] ?? [:]).map { name, value in
                        Answer.string(name) + .string(value) + .int8(0) + .int8(0) + .int8(name == "secret" ? 1 : 0)
                    }
                    return Answer.int16(settingsError) + .string(settingsError == 0 ? nil : "no") + .int8(2)
                        + .string(topic) + .array(entries)
                }
                return .int32(0) + .array(results)
            case .createTopics:
                let names = TopicNames().all.map(\.topic).filter { !topics.contains($0) }
                return .array(
                    names.map { name in
                        .string(name) + .int16(refused[name] ?? 0) + .string(refused[name] == nil ? nil : "said no")
                    }
                )
            default: return nil
            }
        }
    }

    private static func connection(_ broker: ScriptedBroker) -> Connection {
        Connection(
            bootstrapServers: [broker.server],
            properties: [:],
            topics: TopicNames(),
            defaultApplication: "default",
            timeout: .seconds(30)
        )
    }

    @Test func `topics and their settings are read, and what is secret is left out`() async throws {
        let broker = try Self.broker(
            topics: ["carillon.state", "carillon.requests"],
            settings: [
                "carillon.state": ["cleanup.policy": "delete", "secret": "hunter2"],
                "carillon.requests": ["cleanup.policy": "compact,delete"],
            ]
        )
        let connection = Self.connection(broker)
        let (id, known, settings, findings) = try await KafkaThread.run(name: "topics") {
            try connection.withTopicCluster { cluster in
                let known = try #require(try connection.asked(until: StopSignal()) { try cluster.topics(within: $0) })
                let plans = connection.topicPlans()
                let view = TopicView(known, of: cluster, plans, within: .seconds(30))
                return (try cluster.clusterID(within: .seconds(30)), known, view.settings, view.findings(plans))
            }
        }
        #expect(id == "real-cluster")
        #expect(
            known == [
                "carillon.state": .init(partitions: 2, replicas: 1),
                "carillon.requests": .init(partitions: 2, replicas: 1),
            ]
        )
        #expect(
            settings == [
                "carillon.state": ["cleanup.policy": "delete"],
                "carillon.requests": ["cleanup.policy": "compact,delete"],
            ]
        )
        #expect(
            findings.contains {
                $0.level == .error && $0.topics == ["carillon.state"] && $0.what.contains("cleanup.policy is delete")
            }
        )
        #expect(!findings.contains { $0.level == .unseen })
    }

    @Test func `settings that may not be described are told as not seen`() async throws {
        // TOPIC_AUTHORIZATION_FAILED
        let broker = try Self.broker(topics: ["carillon.state"], settingsError: 29)
        let connection = Self.connection(broker)
        let findings = try await KafkaThread.run(name: "topics") {
            try connection.withTopicCluster { cluster in
                let known = try #require(try connection.asked(until: StopSignal()) { try cluster.topics(within: $0) })
                let plans = connection.topicPlans()
                return TopicView(known, of: cluster, plans, within: .seconds(30)).findings(plans)
            }
        }
        let unseen = findings.filter { $0.level == .unseen }
        #expect(unseen.count == 1 && unseen[0].what.contains("carillon.state"), "\(findings)")
    }

    @Test
    func `topics are created, those that exist meanwhile are no error, and a refusal is told in the broker's words`()
        async throws
    {
        let refused: [String: Int16] = ["carillon.state": 36, "carillon.signals": 29]
        let broker = try Self.broker(topics: ["carillon.requests"], refused: refused)
        let connection = Self.connection(broker)
        let outcomes = try await KafkaThread.run(name: "topics") {
            try connection.withTopicCluster { cluster in
                let known = try #require(try connection.asked(until: StopSignal()) { try cluster.topics(within: $0) })
                let creation = try TopicCreation(connection.topicPlans(), partitions: nil, replicas: 3, known)
                return creation.outcomes(refused: try cluster.create(creation.missing, within: .seconds(30)))
            }
        }
        func text(_ name: String) -> String? { outcomes.first { $0.topic == "carillon.\(name)" }?.text }
        #expect(text("requests")?.contains("exists") == true && text("state")?.contains("exists") == true)
        #expect(text("signals") == "carillon.signals: refused: topic carillon.signals: said no\n")
        #expect(text("devices") == "carillon.devices: created, 2 partitions, replication factor 3\n")
    }

    @Test func `brokers without these requests are told as such`() async throws {
        let broker = try ScriptedBroker([.metadata: 2]) { request, port in
            guard request == .metadata else { return nil }
            return .array([.int32(1) + .string("127.0.0.1") + .int32(Int32(port)) + .string(nil)])
                + .string("real-cluster") + .int32(1) + .array([])
        }
        let connection = Self.connection(broker)
        let code = try await KafkaThread.run(name: "topics") {
            try connection.withTopicCluster { cluster -> KafkaError.Code? in
                do throws(KafkaError) {
                    _ = try cluster.settings(of: ["a"], within: .seconds(30))
                    return nil
                } catch {
                    return error.code
                }
            }
        }
        #expect(code == .unsupportedFeature)
    }
}
