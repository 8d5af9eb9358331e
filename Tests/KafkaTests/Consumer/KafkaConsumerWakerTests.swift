import Dispatch
import Kafka
import LocalBroker
import Testing
import TestSupport

/// A lost wake would make each poll last for an hour.
@Suite("Ending a poll from another thread", .timeLimit(.minutes(10)))
struct KafkaConsumerWakerTests {
    private func consume(_ body: @escaping @Sendable (KafkaConsumer) throws -> Void) async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try await publish(numbers(3), to: "t", on: broker)
        let configuration = KafkaConsumerConfiguration(client: broker.clientConfiguration())
        try await KafkaThread.run(name: "consumer") {
            let consumer = try KafkaConsumer(configuration: configuration, logger: quiet)
            defer { consumer.close(within: .seconds(5)) }
            try consumer.assign([KafkaTopicPartition(topic: "t", partition: 0): 0])
            try body(consumer)
        }
        await broker.shutDown()
    }

    @Test func `a poll that waits returns when it is woken, also by an earlier wake`() async throws {
        try await consume { consumer in
            var read = 0
            while read < 3 {
                guard let message = try consumer.poll(within: .seconds(3600)) else { continue }
                let (isOfIt, isOfAnother) = (message.isOf("t"), message.isOf("tt"))
                #expect(isOfIt && !isOfAnother)
                read += 1
            }
            let waker = consumer.waker
            for _ in 0..<100 {
                DispatchQueue.global().async { waker.wake() }
                #expect(try consumer.poll(within: .seconds(3600)) == nil)
            }
        }
    }

    @Test func `a wake between polls is kept, and loses no record`() async throws {
        try await consume { consumer in
            var (read, empty) = (0, 0)
            consumer.waker.wake()
            while read < 3 || empty == 0 {
                if try consumer.poll(within: .seconds(3600)) != nil { read += 1 } else { empty += 1 }
            }
            #expect(read == 3 && empty == 1)
        }
    }

    @Test func `a wake after the close does nothing`() async throws {
        try await consume { consumer in
            consumer.close(within: .seconds(5))
            consumer.waker.wake()
            #expect(throws: KafkaError.self) { _ = try consumer.poll(within: .zero) }
        }
    }
}
