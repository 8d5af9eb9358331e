import Foundation
import Kafka
import LocalBroker
import Logging
import NotificationModel
import ServiceSupport
import Testing

@testable import carillon

/// A listener that refuses is told in its own words. No test depends on how long something takes.
@Suite("Connections that a broker refuses")
struct RefusedConnectionTests {
    private static let plain = [
        "security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN", "sasl.username": "ana",
        "sasl.password": "hunter2",
    ]

    /// What is said of a connection, and with which status.
    private static func failure(_ server: String, _ properties: [String: String]) async throws -> CommandFailure? {
        let connection = Connection(
            bootstrapServers: [server],
            properties: properties,
            topics: TopicNames(),
            defaultApplication: "default",
            timeout: .seconds(3)
        )
        return try await KafkaThread.run(name: "refused") {
            do {
                _ = try connection.withTopicCluster { cluster in
                    try connection.asked(until: StopSignal()) { try cluster.topics(within: $0) }
                }
                return nil
            } catch let failure as CommandFailure {
                return failure
            }
        }
    }

    @Test func `a wrong password is told in the words of the broker`() async throws {
        let broker = try ScriptedBroker.refusing(mechanisms: ["PLAIN"], message: "Invalid username or password")
        let failure = try #require(await Self.failure(broker.server, Self.plain))
        #expect(failure.status == ExitStatus.unavailable)
        #expect(failure.description.contains("Invalid username or password"), "\(failure)")
        #expect(failure.description.contains(broker.server) && !failure.description.contains("hunter2"))
    }

    @Test func `a mechanism that the broker does not have is told with those that it has`() async throws {
        let broker = try ScriptedBroker.refusing(mechanisms: ["SCRAM-SHA-512"], message: "")
        let failure = try #require(await Self.failure(broker.server, Self.plain))
        #expect(failure.description.contains("SCRAM-SHA-512"), "\(failure)")
    }

    @Test func `that all brokers are down does not hide why`() {
        let log = ConnectionLog()
        let logger = log.logger("test")
        logger.error("librdkafka: [thrd:main]: 1/1 brokers are down")
        #expect(log.last == "1/1 brokers are down")
        logger.error("librdkafka: [thrd:a:1/bootstrap]: a:1/bootstrap: Failed to resolve 'a:1'")
        logger.error("librdkafka: [thrd:main]: 1/1 brokers are down")
        #expect(log.last == "a:1/bootstrap: Failed to resolve 'a:1'")
    }

    @Test func `words of a broker cannot control the terminal`() async throws {
        let broker = try ScriptedBroker.refusing(mechanisms: ["PLAIN"], message: "no\u{1B}[2J")
        let failure = try #require(await Self.failure(broker.server, Self.plain))
        #expect(!failure.description.contains("\u{1B}") && failure.description.contains("no"))
    }

    @Test func `TLS and SASL to a listener that has neither are told as such`() async throws {
        let broker = try LocalBroker()
        let server = broker.bootstrapServers[0]
        let tls = try #require(await Self.failure(server, ["security.protocol": "ssl"]))
        #expect(tls.status == ExitStatus.unavailable && tls.description.contains("SSL"), "\(tls)")
        let sasl = try #require(await Self.failure(server, Self.plain))
        #expect(sasl.description.contains("SASL"), "\(sasl)")
        await broker.shutDown()
    }
}
