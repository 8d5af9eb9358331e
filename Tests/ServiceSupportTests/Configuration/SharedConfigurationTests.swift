import Testing

@testable import ServiceSupport

@Suite("Settings that both services have")
struct SharedConfigurationTests {
    @Test(
        arguments: [
            (["kafka:9092"], nil), (["kafka", "10.0.0.1:1", "[::1]:9092", "SSL://k-1.example.com:65535"], nil),
            (["kafka:9092", ":9092"], 2), (["kafka:"], 1), (["kafka:0"], 1), (["kafka:65536"], 1), (["a:1;b:1"], 1),
            (["a b"], 1), (["https://user:secret@host:1"], 1), (["[::1:9092"], 1), (["kafka:9092/"], 1),
        ] as [([String], Int?)]
    )
    func `brokers that are not host and port are refused by their number, without the text`(
        _ servers: [String],
        _ number: Int?
    ) {
        let problem = SharedConfiguration.problem(ofServers: servers)
        #expect(number.map { problem?.contains("number \($0)") == true } ?? (problem == nil), "\(problem ?? "")")
        #expect(problem?.contains("secret") != true)
    }

    @Test func `on the embedded broker sessions are short, unless they are set`() {
        var configuration = SharedConfiguration(bootstrapServers: ["a:1"])
        configuration.kafkaProperties = ["heartbeat.interval.ms": "700"]
        let before = configuration.kafkaProperties
        configuration.adapt(toCluster: "abc")
        #expect(configuration.kafkaProperties == before)
        configuration.adapt(toCluster: "mockCluster7f")
        #expect(configuration.kafkaProperties["session.timeout.ms"] == "6000")
        #expect(configuration.kafkaProperties["heartbeat.interval.ms"] == "700")
    }
}
