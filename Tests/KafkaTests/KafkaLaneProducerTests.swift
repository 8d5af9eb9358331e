import LocalBroker
import Testing

@testable import Kafka

@Suite(.timeLimit(.minutes(2)))
struct KafkaLaneProducerTests {
    /// Publishes `count` records and returns the tags acknowledged, on a thread as a lane has.
    private func publish(
        _ count: Int,
        to broker: LocalBroker,
        meanwhile: @escaping @Sendable (Int, KafkaLaneProducer) throws -> Void = { _, _ in }
    ) async throws -> (acknowledged: [UInt], failed: Int, recreations: Int) {
        let configuration = KafkaProducerConfiguration(client: broker.clientConfiguration())
        return try await KafkaThread.run(name: "lane") {
            let producer = try KafkaLaneProducer(configuration: configuration, logger: quiet)
            let topic = try producer.topic("t")
            var headers = KafkaHeaderBuffer()
            headers.append("ce_type", "x")
            var (acknowledged, failed): ([UInt], Int) = ([], 0)
            func note(_ report: KafkaDeliveryReport) {
                if report.error == nil { acknowledged.append(report.tag) } else { failed += 1 }
            }
            for number in 0..<count {
                try meanwhile(number, producer)
                let value = Array("\(number)".utf8)
                while true {
                    do throws(KafkaError) {
                        try producer.enqueue(
                            topic: topic,
                            partition: Int32(number % 4),
                            key: nil,
                            value: value,
                            headers: headers,
                            tag: UInt(number)
                        )
                        break
                    } catch {
                        guard error.code == .queueFull else { throw error }
                        producer.serveReports(within: .milliseconds(10), note)
                    }
                }
            }
            #expect(producer.flush(within: .seconds(60), note))
            producer.close(within: .seconds(5), note)
            return (acknowledged, failed, producer.recreations)
        }
    }

    @Test func `every record of ten thousand is reported once and is there`() async throws {
        let broker = try LocalBroker(topics: ["t": 4])
        let result = try await publish(10_000, to: broker)
        #expect(result.failed == 0)
        #expect(result.acknowledged.count == 10_000 && Set(result.acknowledged).count == 10_000)
        let read = try await records(of: "t", on: broker, count: 10_000)
        #expect(Set(read.map(\.value)).count == 10_000)
        await broker.shutDown()
    }

    @Test func `a broker that goes away and comes back costs nothing`() async throws {
        let broker = try LocalBroker(topics: ["t": 4])
        let result = try await publish(2_000, to: broker) { number, _ in
            if number == 500 { try broker.setBroker(isUp: false) }
            if number == 1_500 {
                Task {
                    try await Task.sleep(for: .seconds(1))
                    try broker.setBroker(isUp: true)
                }
            }
        }
        #expect(result.failed == 0 && Set(result.acknowledged).count == 2_000)
        let read = try await records(of: "t", on: broker, count: 2_000)
        #expect(Set(read.map(\.value)).count == 2_000)
        await broker.shutDown()
    }

    @Test func `errors of the broker are retried`() async throws {
        let broker = try LocalBroker(topics: ["t": 4])
        broker.inject(errors: [.notLeader, .init(rawValue: 19), .notLeader], on: .produce)
        let result = try await publish(100, to: broker)
        #expect(result.failed == 0 && result.acknowledged.count == 100)
        await broker.shutDown()
    }

    @Test func `a fatal error makes the client anew and loses nothing`() async throws {
        let broker = try LocalBroker(topics: ["t": 4])
        let result = try await publish(1_000, to: broker) { number, producer in
            if number == 500 { producer.failForTest("as after a lost batch") }
        }
        #expect(result.recreations == 1)
        #expect(result.failed == 0 && Set(result.acknowledged).count == 1_000)
        let read = try await records(of: "t", on: broker, count: 1_000)
        #expect(Set(read.map(\.value)).count >= 999)
        await broker.shutDown()
    }

    @Test func `a partition that does not exist is an error of its record, headers and all`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        let code = try await KafkaThread.run(name: "lane") {
            let producer = try KafkaLaneProducer(
                configuration: .init(client: broker.clientConfiguration()),
                logger: quiet
            )
            let topic = try producer.topic("t")
            _ = try producer.partitionCount(of: "t", within: .seconds(10))
            var headers = KafkaHeaderBuffer()
            headers.append("a", "1")
            var code: KafkaError.Code?
            do throws(KafkaError) {
                try producer.enqueue(topic: topic, partition: 7, key: nil, value: [1], headers: headers, tag: 1)
                _ = producer.flush(within: .seconds(10)) { code = $0.error?.code }
            } catch {
                code = error.code
            }
            producer.close(within: .seconds(1))
            return code
        }
        #expect(code == .unknownPartition)
        await broker.shutDown()
    }
}
