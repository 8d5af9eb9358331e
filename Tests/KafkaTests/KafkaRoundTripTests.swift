import LocalBroker
import Testing
import TestSupport

@testable import Kafka

@Suite(.timeLimit(.minutes(10)))
struct KafkaRoundTripTests {
    @Test func `a record keeps key, value, headers and timestamp, and null differs from empty`() async throws {
        let broker = try LocalBroker(topics: ["t": 3])
        let producer = try KafkaProducer(
            configuration: .init(client: broker.clientConfiguration(), deliveryTimeout: .seconds(30)),
            logger: quiet
        )
        let full = KafkaProducerRecord(
            topic: "t",
            partition: 2,
            key: Array("k".utf8),
            value: Array("v".utf8),
            headers: [
                .init(name: "a", text: "1"), .init(name: "null", value: nil), .init(name: "empty", value: []),
                .init(name: "a", text: "2"),
            ],
            timestamp: 1_700_000_000_123
        )
        let tombstone = KafkaProducerRecord(topic: "t", partition: 2, key: Array("k".utf8), value: nil)
        let empty = KafkaProducerRecord(topic: "t", partition: 2, key: [], value: [])
        for record in [full, tombstone, empty] {
            let acknowledged = try await producer.send(record)
            #expect(acknowledged.partition == 2 && acknowledged.topic == "t")
        }
        await producer.shutDown(within: .seconds(120))

        let read = try await records(of: "t", on: broker, count: 3)
        #expect(read[0].key == full.key && read[0].value == full.value && read[0].timestamp == full.timestamp)
        #expect(read[0].headers == full.headers)
        #expect(read[1].key == full.key && read[1].value == nil)
        #expect(read[2].key == [] && read[2].value == [])
        await broker.shutDown()
    }

    @Test func `murmur2 agrees with the Java client`() {
        let vectors: [(String, Int32)] = [
            ("21", -973_932_308), ("foobar", -790_332_482), ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971), ("abc", 479_470_107),
        ]
        for (text, hash) in vectors { #expect(KafkaPartitioner.murmur2(Array(text.utf8)) == hash) }
        #expect(KafkaPartitioner.partition(forKey: Array("21".utf8), count: 7) == (-973_932_308 & 0x7fff_ffff) % 7)
    }

    @Test func `an error names the wrong property and hides a secret value`() throws {
        var client = KafkaClientConfiguration(bootstrapServers: ["127.0.0.1:1"])
        func reason(of properties: [String: String]) throws -> (producer: String, consumer: String) {
            client.properties = properties
            let producer = #expect(throws: KafkaError.self) {
                try KafkaLaneProducer(configuration: .init(client: client), logger: quiet)
            }
            let consumer = #expect(throws: KafkaError.self) {
                try KafkaConsumer(configuration: .init(client: client), logger: quiet)
            }
            return (try #require(producer).description, try #require(consumer).description)
        }
        for (name, value) in [
            ("no.such.property", "x"), ("socket.timeout.ms", "many"), ("security.protocol", "pigeon"),
        ] {
            let reason = try reason(of: [name: value])
            #expect(reason.producer.contains(name) && reason.consumer.contains(name))
        }
        client.properties = ["partition.assignment.strategy": "cooperative-sticky"]
        let cooperative = #expect(throws: KafkaError.self) {
            try KafkaConsumer(configuration: .init(client: client), logger: quiet)
        }
        #expect(cooperative?.reason.contains("partition.assignment.strategy") == true)

        let secret = "hunter2-hunter2"
        let refused = try reason(of: ["ssl.key.pem": secret, "security.protocol": "ssl"])
        #expect(!refused.producer.contains(secret) && !refused.consumer.contains(secret))
    }

    @Test func `a property overrides the default that it is another name of`() throws {
        var client = KafkaClientConfiguration(bootstrapServers: ["broker.example.:9092", "127.0.0.1:1", "last."])
        client.properties = ["linger.ms": "77", "compression.codec": "lz4", "fetch.wait.max.ms": "3", "acks": "-1"]
        let producer = try KafkaLaneProducer(configuration: .init(client: client), logger: quiet)
        #expect(producer.handle.property("queue.buffering.max.ms") == "77")
        #expect(producer.handle.property("compression.type") == "lz4")
        #expect(producer.handle.property("enable.idempotence") == "true")
        #expect(producer.handle.property("bootstrap.servers") == "broker.example:9092,127.0.0.1:1,last")
        producer.close(within: .seconds(5))
    }

    @Test func `bounds of durations hold`() {
        #expect(Duration.seconds(Int64.max).librdkafkaMilliseconds == Int32.max - 1)
        #expect(Duration.seconds(-5).librdkafkaMilliseconds == 0)
        #expect(Duration.nanoseconds(1).librdkafkaMilliseconds == 1)
        #expect(Duration.milliseconds(1500).librdkafkaMilliseconds == 1500)
    }
}
