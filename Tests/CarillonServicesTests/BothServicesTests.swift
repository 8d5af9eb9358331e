import NotificationModel
import NotificationProducer
import Testing

@testable import CarillonServices
@testable import ServiceSupport

@Suite("Settings of both services")
struct BothServicesTests {
    private static let services: [any ServiceConfiguration.Type] = [
        ProducerServiceConfiguration.self, ConsumerSettings.self,
    ]

    private func read(_ service: any ServiceConfiguration.Type, _ yaml: String) throws -> SharedConfiguration {
        var settings = try ServiceSettings(environment: [:], yaml: yaml, named: "carillon.yaml")
        let configuration = service.init(settings: &settings)
        try settings.finish()
        return configuration.shared
    }

    @Test("Everything but the brokers has a default", arguments: services.indices)
    func defaults(service: Int) throws {
        let shared = try read(Self.services[service], "kafka: {bootstrap: {servers: \"a:9092,b:9092\"}}")
        #expect(shared.bootstrapServers == ["a:9092", "b:9092"])
        #expect(shared.kafkaProperties.isEmpty)
        #expect(shared.topics == TopicNames())
        #expect(shared.source == "/carillon/default")
        #expect(shared.guarantee == nil)
        #expect(shared.instanceID == SharedConfiguration.hostName && !shared.instanceID.isEmpty)
        #expect(!shared.isInstanceNamed)
        #expect(shared.drainTimeout == .seconds(15))
    }

    @Test("Both services read them in the same way", arguments: services.indices)
    func given(service: Int) throws {
        let shared = try read(
            Self.services[service],
            """
            kafka:
              bootstrap: {servers: [a:9092]}
              properties: {security.protocol: ssl}
            topics: {prefix: "x.", requests: notifications, deadLetters: letters}
            deployment: eu
            delivery: {guarantee: at-least-once}
            instance: {id: pod-3}
            drain: {timeout: 7s}
            """
        )
        #expect(shared.kafkaProperties == ["security.protocol": "ssl"])
        #expect(shared.topics == TopicNames(prefix: "x.", requests: "notifications", deadLetters: "letters"))
        #expect(shared.source == "/carillon/eu")
        #expect(shared.guarantee == .atLeastOnce)
        #expect(shared.instanceID == "pod-3")
        #expect(shared.isInstanceNamed)
        #expect(shared.drainTimeout == .seconds(7))
    }

    @Test(
        "A wrong one prevents the start and is reported",
        arguments: [
            ("kafka: {bootstrap: {servers: []}}", "kafka.bootstrap.servers"),
            ("topics: {prefix: \"a b\"}", "topics.prefix"),
            ("topics: {requests: \"a b\"}", "topics.prefix"),
            ("deployment: \(String(repeating: "d", count: 257))", "deployment"),
            ("delivery: {guarantee: at-most-once}", "delivery.guarantee"), ("instance: {id: \"\"}", "instance.id"),
            ("drain: {timeout: 1ms}", "drain.timeout"), ("kafka: {properties: [a]}", "kafka.properties"),
        ]
    )
    func wrong(yaml: String, key: String) {
        for service in Self.services {
            let error = #expect(throws: ServiceSettingsError.self) { try read(service, yaml) }
            #expect(error?.problems.contains { $0.key == key } == true, "\(String(describing: error))")
        }
    }

    @Test("Each service ignores the other's keys, and reports keys that neither knows")
    func otherService() throws {
        let others: [(any ServiceConfiguration.Type, variable: String, section: String)] = [
            (ProducerServiceConfiguration.self, "CARILLON_STORE_UNWRITTEN", "store: {directory: [not, looked, at]}"),
            (ConsumerSettings.self, "CARILLON_HTTP_PORT", "rules: {file: [not, looked, at]}"),
        ]
        for (service, variable, section) in others {
            var settings = try ServiceSettings(
                environment: [variable: "nor this"],
                yaml: """
                    kafka: {bootstrap: {servers: [a:9092]}}
                    \(section)
                    topics: {state: s, businessEvents: b}
                    center: {entries: 5, entires: 5}
                    """,
                named: "carillon.yaml"
            )
            _ = service.init(settings: &settings)
            settings.passOver(ServiceProgram.keys)
            let error = #expect(throws: ServiceSettingsError.self) { try settings.finish() }
            #expect(
                error?.problems.map(\.description)
                    == [
                        "carillon.yaml:4: center.entires is not a known key; did you mean center.entries?"
                    ],
                "\(service)"
            )
        }
    }
}
