import NotificationModel
import Testing

@testable import NotificationProducer
@testable import ServiceSupport

@Suite("Configuration of the producer service")
struct ProducerServiceConfigurationTests {
    private func read(_ yaml: String, _ environment: [String: String] = [:]) throws -> ProducerServiceConfiguration {
        var settings = try ServiceSettings(environment: environment, yaml: yaml, named: "carillon.yaml")
        let configuration = ProducerServiceConfiguration(settings: &settings)
        try settings.finish()
        return configuration
    }

    @Test("Everything but the brokers has a default")
    func defaults() throws {
        let configuration = try read("kafka: {bootstrap: {servers: \"a:9092,b:9092\"}}")
        #expect(configuration.bootstrapServers == ["a:9092", "b:9092"])
        #expect(configuration.http.host == "127.0.0.1")
        #expect(configuration.http.port == 8080)
        #expect(configuration.topics.requests == "carillon.requests")
        #expect(configuration.source == "/carillon/default")
        #expect(configuration.groupID == "carillon-producer")
        #expect(configuration.rulesFile == nil)
        #expect(configuration.http.tokensFile == nil)
        #expect(configuration.http.tlsCertificate == nil)
        #expect(configuration.removalIdentifiers == 1_000)
        #expect(configuration.http.receiveTimeout == .seconds(10))
        #expect(configuration.guarantee == nil)
        #expect(!configuration.instanceID.isEmpty && configuration.instanceID == SharedConfiguration.hostName)
    }

    @Test("The file and the environment are read")
    func given() throws {
        let configuration = try read(
            """
            kafka:
              bootstrap: {servers: [a:9092]}
              properties: {security.protocol: ssl}
            topics: {prefix: "x.", requests: notifications}
            deployment: eu
            delivery: {guarantee: at-least-once}
            instance: {id: pod-3}
            application: {default: shop}
            rules: {file: rules.yaml}
            http:
              port: 0
              deadline: 3s
              receive: {timeout: 2s}
              tokens: {file: tokens}
              tls: {certificate: c.pem, key: k.pem}
              target: {bytes: 2048}
              headers: {bytes: 4096, count: 50}
              calls: {bytes: 2097152}
              removal: {identifiers: 7}
            """,
            ["CARILLON_HTTP_HOST": "0.0.0.0"]
        )
        #expect(configuration.kafkaProperties == ["security.protocol": "ssl"])
        #expect(configuration.topics.businessEvents == "x.business-events")
        #expect(configuration.topics.requests == "notifications")
        #expect(configuration.source == "/carillon/eu")
        #expect(configuration.guarantee == .atLeastOnce)
        #expect(configuration.instanceID == "pod-3")
        #expect(configuration.defaultApplication == "shop")
        #expect(configuration.http.deadline == .seconds(3))
        #expect(configuration.http.host == "0.0.0.0")
        #expect(configuration.http.receiveTimeout == .seconds(2))
        #expect(configuration.http.tokensFile == "tokens")
        #expect(configuration.http.tlsCertificate == "c.pem")
        #expect(configuration.http.tlsKey == "k.pem")
        #expect(configuration.http.targetBytes == 2_048)
        #expect(configuration.http.headerBytes == 4_096)
        #expect(configuration.http.headerCount == 50)
        #expect(configuration.http.callBytes == 2_097_152)
        #expect(configuration.removalIdentifiers == 7)
    }

    @Test(
        "A wrong key or value prevents the start and is reported",
        arguments: [
            ("http: {port: 8080}", "kafka.bootstrap.servers"), ("http: {prot: 8080}", "http.prot"),
            ("http: {port: 65536}", "http.port"),
            ("topics: {prefix: \"a b\"}", "topics.prefix"), ("application: {default: \"\"}", "application.default"),
            ("http: {deadline: soon}", "http.deadline"), ("http: {receive: {timeout: 1ms}}", "http.receive.timeout"),
            ("http: {removal: {identifiers: 10001}}", "http.removal.identifiers"),
            ("http: {calls: {bytes: 1000}}", "http.calls.bytes"), ("http: {token: {file: x}}", "http.token.file"),
            ("http: {tls: {certificate: \"\"}}", "http.tls.certificate"),
            ("ingest: {buffer: {records: 0}}", "ingest.buffer.records"),
            ("delivery: {guarantee: at-most-once}", "delivery.guarantee"), ("instance: {id: \"\"}", "instance.id"),
        ]
    )
    func wrong(yaml: String, key: String) {
        let error = #expect(throws: ServiceSettingsError.self) { try read(yaml) }
        #expect(error.map { "\($0)".contains(key) } == true, "\(String(describing: error))")
    }
}
