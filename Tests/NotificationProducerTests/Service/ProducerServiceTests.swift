import Logging
import ServiceSupport
import Synchronization
import Testing
import TestSupport

@testable import NotificationProducer

@Suite("The producer service")
struct ProducerServiceTests {
    @Test("The transactional id is derived from the group and the instance")
    func transactionalID() {
        var configuration = ProducerServiceConfiguration(bootstrapServers: ["127.0.0.1:1"])
        configuration.instanceID = "pod-3"
        #expect(configuration.ingest.transactionalID == "carillon-producer-pod-3-ingest")
    }

    @Test("Invalid rules and an unknown Kafka property prevent the start, both by name")
    func start() {
        var configuration = ProducerServiceConfiguration(bootstrapServers: ["127.0.0.1:1"])
        configuration.rulesFile = "/nowhere/rules.yaml"
        #expect(throws: RuleFileError.self) {
            try ProducerService(configuration: configuration, health: Health(), logger: Logger(label: "test"))
        }
        configuration.rulesFile = nil
        configuration.kafkaProperties = ["no.such.property": "1"]
        let error = #expect(throws: (any Error).self) {
            try ProducerService(configuration: configuration, health: Health(), logger: Logger(label: "test"))
        }
        #expect(error.map { "\($0)".contains("no.such.property") } == true)
    }

    @Test("Every component goes on beating or rests, however much time passes")
    func liveness() async throws {
        let ahead = Atomic<Int64>(0)
        let rules = "rules:\n  - {event: a, recipient: ana, identifier: i, content: {title: T}}\n"
        let health = Health { .now + .seconds(ahead.load(ordering: .relaxed)) }
        try await ProducerHarness.with(rules: rules, health: health) { harness in
            try await eventually("it is ready") { harness.isReady }
            for _ in 0..<3 {
                ahead.add(3_600, ordering: .relaxed)
                try await eventually("it is live again") { health.notLive.isEmpty }
            }
        }
    }
}
