import Kafka
import Testing

struct KafkaConfigurationTests {
    @Test func `a printed configuration names its properties and never shows their values`() {
        let client = KafkaClientConfiguration(
            bootstrapServers: ["broker:9092"],
            properties: ["sasl.password": "hunter2", "linger.ms": "777"]
        )
        var dumped = ""
        dump(KafkaConsumerConfiguration(client: client), to: &dumped)
        let texts = [
            "\(client)", String(reflecting: client), "\(KafkaConsumerConfiguration(client: client))",
            "\(KafkaProducerConfiguration(client: client))", "\([client])", dumped,
        ]
        for text in texts {
            #expect(text.contains("sasl.password") && text.contains("broker:9092"))
            #expect(!text.contains("hunter2") && !text.contains("777"))
        }
    }
}
