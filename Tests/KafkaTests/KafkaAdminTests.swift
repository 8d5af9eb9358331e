import Kafka
import LocalBroker
import Logging
import Testing
import TestSupport

@Suite("Topics and their settings")
struct KafkaAdminTests {
    @Test func `topics are told with partitions and replicas, and asking creates none`() async throws {
        let broker = try LocalBroker(brokers: 3, topics: ["a": 2, "b": 5])
        let (known, id) = try await KafkaThread.run(name: "admin") {
            let admin = try KafkaAdmin(configuration: broker.clientConfiguration(), logger: quiet)
            defer { admin.close(within: .seconds(5)) }
            return (try admin.topics(within: .seconds(30)), try admin.clusterID(within: .seconds(30)))
        }
        #expect(known == ["a": .init(partitions: 2, replicas: 3), "b": .init(partitions: 5, replicas: 3)])
        #expect(id.map(LocalBroker.isEmbedded(clusterID:)) == true)
        await broker.shutDown()
    }

    @Test func `a broker that does not answer admin requests is an error within the time, not a hang`() async throws {
        let broker = try LocalBroker(topics: ["a": 2])
        try await KafkaThread.run(name: "admin") {
            let admin = try KafkaAdmin(configuration: broker.clientConfiguration(), logger: quiet)
            defer { admin.close(within: .seconds(5)) }
            #expect(throws: KafkaError.self) { try admin.settings(of: ["a"], within: .milliseconds(200)) }
            let new = KafkaAdmin.NewTopic(
                name: "c",
                partitions: 1,
                replicas: 1,
                settings: ["cleanup.policy": "compact"]
            )
            #expect(throws: KafkaError.self) { try admin.create([new], within: .milliseconds(200)) }
            #expect(try admin.settings(of: [], within: .zero) == [:] && admin.create([], within: .zero) == [:])
        }
        await broker.shutDown()
    }

    @Test func `names and numbers that no topic has, and a closed client, are errors`() async throws {
        try await KafkaThread.run(name: "admin") {
            let client = KafkaClientConfiguration(bootstrapServers: ["127.0.0.1:1"])
            let admin = try KafkaAdmin(configuration: client, logger: quiet)
            let bad = [("", 1), ("a\0b", 1), ("a", 0)]
            for (name, partitions) in bad {
                let new = KafkaAdmin.NewTopic(name: name, partitions: partitions, replicas: 1)
                let error = #expect(throws: KafkaError.self) { try admin.create([new], within: .milliseconds(100)) }
                #expect(error?.code == .invalidArgument)
            }
            admin.close(within: .seconds(5))
            let error = #expect(throws: KafkaError.self) { try admin.topics(within: .milliseconds(100)) }
            #expect(error?.code == .destroyed)
        }
    }
}
