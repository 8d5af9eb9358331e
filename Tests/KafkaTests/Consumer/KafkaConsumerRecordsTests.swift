import Kafka
import LocalBroker
import Testing
import TestSupport

@Suite(.timeLimit(.minutes(10)))
struct KafkaConsumerRecordsTests {
    private func sequence(
        on broker: LocalBroker,
        _ start: KafkaConsumerRecords.Start,
        group: String? = nil,
        topics: [String] = ["t"],
        properties: [String: String] = [:]
    ) -> KafkaConsumerRecords {
        var client = broker.clientConfiguration()
        client.properties.merge(properties) { $1 }
        let configuration = KafkaConsumerConfiguration(client: client, groupID: group)
        return KafkaConsumerRecords(configuration: configuration, topics: topics, start: start, logger: quiet)
    }

    private func text(_ record: KafkaConsumerRecord) -> String { String(decoding: record.value ?? [], as: UTF8.self) }

    private func first(_ count: Int, of sequence: KafkaConsumerRecords) async throws -> [String] {
        var texts: [String] = []
        for try await record in sequence {
            texts.append(text(record))
            if texts.count == count { break }
        }
        return texts
    }

    @Test func `it starts at the beginning, at offsets or in a group`() async throws {
        let broker = try LocalBroker(topics: ["t": 2])
        try await publish(numbers(10), to: "t", on: broker)
        try await publish(numbers(10, from: 10), to: "t", partition: 1, on: broker)
        let all = try await first(20, of: sequence(on: broker, .beginning))
        #expect(Set(all) == Set(numbers(20)))
        let some = try await first(3, of: sequence(on: broker, .offsets([.init(topic: "t", partition: 1): 7])))
        #expect(some == numbers(3, from: 17))
        let grouped = try await first(20, of: sequence(on: broker, .group, group: "g"))
        #expect(Set(grouped) == Set(numbers(20)))
        await broker.shutDown()
    }

    @Test func `the start at the end returns only new records`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try await publish(numbers(10), to: "t", on: broker)
        var iterator = sequence(on: broker, .end).makeAsyncIterator()
        let publishing = Task {
            var number = 10
            // Publish until a record was read: nothing shows when the reader has reached the end.
            while !Task.isCancelled {
                try await publish(["\(number)"], to: "t", on: broker)
                number += 1
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        let read = try #require(try await iterator.next())
        publishing.cancel()
        _ = await publishing.result
        let number = try #require(Int(text(read)))
        #expect(number >= 10)
        await broker.shutDown()
    }

    @Test func `cancelling ends it`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try await publish(numbers(1), to: "t", on: broker)
        let count = Shared(0)
        let reading = Task {
            for try await _ in sequence(on: broker, .beginning) { count.update { $0 += 1 } }
            return "ended"
        }
        try await eventually { count.value == 1 }
        reading.cancel()
        #expect(try await reading.value == "ended")
        await broker.shutDown()
    }

    @Test func `cancelling ends it while it is still looking for the broker`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try broker.setBroker(isUp: false)
        let hasBegun = Shared(false)
        let reading = Task {
            hasBegun.update { $0 = true }
            for try await _ in sequence(on: broker, .beginning) {}
            return "ended"
        }
        try await eventually { hasBegun.value }
        reading.cancel()
        #expect(try await reading.value == "ended")
        await broker.shutDown()
    }

    @Test func `a topic with an invalid name is an error`() async throws {
        let broker = try LocalBroker()
        await #expect(throws: KafkaError.self) {
            for try await _ in sequence(on: broker, .beginning, topics: [""]) {}
        }
        await broker.shutDown()
    }

    @Test func `a reader that pauses stops the fetching, and loses nothing`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        let long = String(repeating: "x", count: 1_000)
        try await publish(numbers(3_000).map { $0 + long }, to: "t", on: broker)
        // librdkafka may buffer 64 KiB here: some sixty records.
        let bound = ["queued.max.messages.kbytes": "64", "fetch.max.bytes": "65536", "message.max.bytes": "65536"]
        var iterator = sequence(on: broker, .beginning, properties: bound).makeAsyncIterator()
        let first = try #require(try await iterator.next())
        var read = [text(first)]
        // While the reader pauses nothing accumulates and nothing is dropped.
        try await publish(["last"], to: "t", on: broker)
        while read.last != "last", let record = try await iterator.next() { read.append(text(record)) }
        #expect(read == numbers(3_000).map { $0 + long } + ["last"])
        await broker.shutDown()
    }
}
