import Kafka
import LocalBroker
import Testing
import TestSupport

@Suite("End positions, and offsets by time", .timeLimit(.minutes(10)))
struct KafkaConsumerOffsetsTests {
    private let place = KafkaTopicPartition(topic: "t", partition: 0)

    private func consume(
        from broker: LocalBroker,
        _ body: @escaping @Sendable (KafkaConsumer) throws -> Void
    ) async throws {
        var configuration = KafkaConsumerConfiguration(client: broker.clientConfiguration())
        configuration.client.properties["enable.partition.eof"] = "true"
        try await KafkaThread.run(name: "consumer") { [configuration] in
            let consumer = try KafkaConsumer(configuration: configuration, logger: quiet)
            defer { consumer.close(within: .seconds(5)) }
            try body(consumer)
        }
    }

    @Test func `a partition is at its end once all of it was read, until the next assignment`() async throws {
        let broker = try LocalBroker(topics: ["t": 2])
        try await publish(numbers(10), to: "t", on: broker)
        let place = place
        let empty = KafkaTopicPartition(topic: "t", partition: 1)
        try await consume(from: broker) { consumer in
            #expect(consumer.atEnd.isEmpty && consumer.endPosition(of: place) == nil)
            try consumer.assign([place: 0, empty: 0])
            var read = 0
            #expect(try consumer.poll(until: { consumer.atEnd.count == 2 }, { _ in read += 1 }))
            #expect(read == 10)
            #expect(consumer.atEnd == [place, empty])
            #expect(consumer.endPosition(of: place) == 10 && consumer.endPosition(of: empty) == 0)
            try consumer.assign([place: 10])
            #expect(consumer.atEnd.isEmpty && consumer.endPosition(of: place) == nil)
            #expect(try consumer.poll(until: { consumer.atEnd == [place] }))
        }
        await broker.shutDown()
    }

    @Test func `the embedded broker finds no offset by time, and is recognized by its cluster id`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try await publish(numbers(10), to: "t", on: broker)
        let place = place
        try await consume(from: broker) { consumer in
            #expect(try consumer.offsets(of: [place], since: 0, within: .seconds(120)) == [:])
            #expect(try consumer.offsets(of: [], since: 0, within: .seconds(120)) == [:])
            let id = try #require(try consumer.clusterID(within: .seconds(120)))
            #expect(LocalBroker.isEmbedded(clusterID: id))
            #expect(!LocalBroker.isEmbedded(clusterID: "4L6g3nShT-eMCtK--X86sw"))
        }
        await broker.shutDown()
    }

    @Test func `a time before 1970, a missing partition and a closed client are errors`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try await consume(from: broker) { consumer in
            func code(_ body: () throws -> Void) -> KafkaError.Code? {
                let error = #expect(throws: KafkaError.self) { try body() }
                return error?.code
            }
            let ask = { (partition: Int32, time: Int64) in
                _ = try consumer.offsets(
                    of: [KafkaTopicPartition(topic: "t", partition: partition)],
                    since: time,
                    within: .seconds(120)
                )
            }
            #expect(code { try ask(0, -1) } == .invalidArgument)
            #expect(code { try ask(7, 0) } != nil)
            consumer.close(within: .seconds(5))
            #expect(code { try ask(0, 0) } == .destroyed)
            #expect(code { _ = try consumer.clusterID(within: .seconds(1)) } == .destroyed)
        }
        await broker.shutDown()
    }

    @Test
    func `lag counts unread records; invisible offsets stop counting once the end was reached`()
        async throws
    {
        // A record and its transaction marker, both read; then one more record.
        #expect(KafkaConsumer.lag(of: 1, end: nil, high: 2) == 1)
        #expect(KafkaConsumer.lag(of: 1, end: 2, high: 2) == 0)
        #expect(KafkaConsumer.lag(of: 1, end: 2, high: 4) == 2)
        #expect(KafkaConsumer.lag(of: 3, end: 2, high: 4) == 1)
        #expect(KafkaConsumer.lag(of: 5, end: 2, high: 4) == 0)

        // The end is reported for a group's assignment too, but not carried over from an earlier one.
        let broker = try LocalBroker(topics: ["t": 1])
        try await publish(numbers(10), to: "t", on: broker)
        let place = KafkaTopicPartition(topic: "t", partition: 0)
        var configuration = KafkaConsumerConfiguration(client: broker.clientConfiguration(), groupID: "g")
        configuration.tellsEnd = true
        try await KafkaThread.run(name: "consumer") { [configuration] in
            let consumer = try KafkaConsumer(configuration: configuration, logger: quiet)
            defer { consumer.close(within: .seconds(5)) }
            try consumer.subscribe(to: ["t"])
            #expect(consumer.lag(of: place, after: 0) == nil)
            #expect(try consumer.poll(until: { consumer.endPosition(of: place) == 10 }))
            #expect(consumer.lag(of: place, after: 9) == 0)
        }
        await broker.shutDown()
    }
}
