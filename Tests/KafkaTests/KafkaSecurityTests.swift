import Foundation
import Kafka
import Testing

@Suite("TLS and SASL")
struct KafkaSecurityTests {
    private static func problem(_ properties: [String: String]) -> String? {
        let client = KafkaClientConfiguration(bootstrapServers: ["127.0.0.1:1"], properties: properties)
        do throws(KafkaError) {
            try KafkaProducerConfiguration(client: client).check()
            try KafkaConsumerConfiguration(client: client).check()
            return nil
        } catch {
            return error.reason
        }
    }

    private static let plain = [
        "security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN", "sasl.username": "ana",
        "sasl.password": "hunter2",
    ]

    @Test(arguments: ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
    func `name and password go with each of these mechanisms`(_ mechanism: String) {
        var properties = Self.plain
        properties["sasl.mechanism"] = mechanism
        for name in ["sasl_plaintext", "SASL_SSL"] {
            properties["security.protocol"] = name
            #expect(Self.problem(properties) == nil)
        }
        // Who names the protocol means it.
        properties["security.protocol"] = "plaintext"
        #expect(Self.problem(properties) == nil)
        #expect(Self.problem(["ssl.ca.location": "/x"])?.contains("ssl.ca.location: has no effect without TLS") == true)
        #expect(Self.problem([:]) == nil && Self.problem(["security.protocol": "ssl"]) == nil)
    }

    /// What is changed, and the words of the error.
    private static let mistakes: [([String: String?], String)] = [
        (["security.protocol": nil], "sasl.username: has no effect without SASL: set security.protocol to sasl_ssl"),
        (["sasl.password": nil], "sasl.password: is needed by PLAIN"),
        (["sasl.username": ""], "sasl.username: is needed by PLAIN"),
        (["sasl.mechanism": nil], "sasl.mechanism: is needed: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512"),
        (["sasl.mechanism": "OAUTHBEARER"], "sasl.oauthbearer.method: must be oidc"),
        (["sasl.mechanism": "PIGEON"], "PIGEON"),
        (["security.protocol": "pigeon"], "security.protocol"),
    ]

    @Test(arguments: 0..<7)
    func `what does not belong together is told before a start, without the password`(_ index: Int) throws {
        let (changes, words) = Self.mistakes[index]
        var properties = Self.plain
        for (name, value) in changes { properties[name] = value }
        let problem = try #require(Self.problem(properties))
        #expect(problem.contains(words), "\(problem)")
        #expect(!problem.contains("hunter2"))
    }

    @Test func `OAUTHBEARER needs where its tokens come from`() throws {
        var properties = ["security.protocol": "sasl_ssl", "sasl.mechanism": "OAUTHBEARER"]
        for (name, value) in [
            ("sasl.oauthbearer.method", "oidc"), ("sasl.oauthbearer.token.endpoint.url", "https://login.example.com/"),
            ("sasl.oauthbearer.client.id", "carillon"), ("sasl.oauthbearer.client.secret", "hunter2"),
        ] {
            #expect(Self.problem(properties)?.contains("kafka property \(name):") == true)
            properties[name] = value
        }
        // librdkafka itself may be built without it, and then says so.
        if let problem = Self.problem(properties) {
            #expect(
                problem.contains("oidc") || problem.contains("OIDC") || problem.contains("not available"),
                "\(problem)"
            )
            #expect(!problem.contains("hunter2"))
        }
    }

    @Test func `the files of TLS are read before a start`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("ca-\(UUID().uuidString)").path
        let problem = try #require(Self.problem(["security.protocol": "ssl", "ssl.ca.location": path]))
        #expect(problem.contains("ssl.ca.location"), "\(problem)")
        try Data("nonsense".utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(
            Self.problem(["security.protocol": "ssl", "ssl.ca.location": path])?.contains("ssl.ca.location") == true
        )
    }
}
