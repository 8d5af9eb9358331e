import LocalBroker
import Testing
import TestSupport

@testable import Kafka

@Suite(.timeLimit(.minutes(10)))
struct KafkaProducerTests {
    private func record(_ value: String, partition: Int32? = 0) -> KafkaProducerRecord {
        KafkaProducerRecord(topic: "t", partition: partition, value: Array(value.utf8))
    }

    private func values(on broker: LocalBroker, count: Int) async throws -> [String] {
        try await records(of: "t", on: broker, count: count).map { String(decoding: $0.value ?? [], as: UTF8.self) }
    }

    @Test func `a send returns the position of its record`() async throws {
        let broker = try LocalBroker(topics: ["t": 4])
        let producer = try KafkaProducer(configuration: .init(client: broker.clientConfiguration()), logger: quiet)
        for offset in 0..<3 {
            let place = try await producer.send(record("\(offset)", partition: 3))
            #expect(place.topic == "t" && place.partition == 3 && place.offset == Int64(offset))
        }
        // Partitioned by the key, as in the Java client.
        let keyed = try await producer.send(.init(topic: "t", key: Array("foobar".utf8), value: []))
        #expect(keyed.partition == KafkaPartitioner.partition(forKey: Array("foobar".utf8), count: 4))
        await producer.shutDown(within: .seconds(120))
        await broker.shutDown()
    }

    @Test func `a thousand concurrent sends are each acknowledged with their own offset`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        let producer = try KafkaProducer(configuration: .init(client: broker.clientConfiguration()), logger: quiet)
        let offsets = try await withThrowingTaskGroup(of: Int64.self) { group in
            for number in 0..<1_000 {
                group.addTask { try await producer.send(record("\(number)")).offset }
            }
            return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
        }
        #expect(offsets == Set(0..<1_000))
        await producer.shutDown(within: .seconds(120))
        #expect(Set(try await values(on: broker, count: 1_000)) == Set(numbers(1_000)))
        await broker.shutDown()
    }

    @Test func `cancelling ends the wait immediately, and the producer continues`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        let producer = try KafkaProducer(configuration: .init(client: broker.clientConfiguration()), logger: quiet)
        _ = try await producer.send(record("first"))
        try broker.setBroker(isUp: false)
        let waiting = (0..<50).map { number in Task { try await producer.send(record("\(number)")) } }
        for task in waiting { task.cancel() }
        for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
        let late = Task {
            try await Task.sleep(for: .seconds(30))
        }
        late.cancel()
        let cancelledBefore = Task {
            _ = try? await late.value
            while !Task.isCancelled { await Task.yield() }
            return try await producer.send(record("never"))
        }
        cancelledBefore.cancel()
        await #expect(throws: CancellationError.self) { try await cancelledBefore.value }
        try broker.setBroker(isUp: true)
        _ = try await producer.send(record("last"))
        await producer.shutDown(within: .seconds(120))
        let read = try await KafkaThread.run(name: "read") {
            let consumer = try KafkaConsumer(configuration: .init(client: broker.clientConfiguration()), logger: quiet)
            try consumer.assign([.init(topic: "t", partition: 0): KafkaOffset.beginning])
            var texts: [String] = []
            _ = try consumer.poll(until: { texts.last == "last" }, { texts.append($0.text) })
            consumer.close(within: .seconds(5))
            return texts
        }
        #expect(read.first == "first" && read.last == "last" && !read.contains("never"))
        #expect(Set(read).count == read.count)
        await broker.shutDown()
    }

    @Test func `without a broker a send fails after its delivery timeout and may be tried again`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try broker.setBroker(isUp: false)
        let producer = try KafkaProducer(
            configuration: .init(client: broker.clientConfiguration(), deliveryTimeout: .seconds(1)),
            logger: quiet
        )
        let error = await #expect(throws: KafkaError.self) { try await producer.send(record("lost")) }
        #expect(error?.code == .messageTimedOut && error?.isRetriable == true && error?.isFatal == false)
        try broker.setBroker(isUp: true)
        // The next send has a second too, and the client may take longer to reconnect.
        try await eventually { (try? await producer.send(record("there"))) != nil }
        await producer.shutDown(within: .seconds(120))
        #expect(try await values(on: broker, count: 1) == ["there"])
        await broker.shutDown()
    }

    @Test func `a full queue suspends the sender until there is room`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        var configuration = KafkaProducerConfiguration(client: broker.clientConfiguration())
        configuration.maximumBufferedRecords = 5
        let producer = try KafkaProducer(configuration: configuration, logger: quiet)
        let offsets = try await withThrowingTaskGroup(of: Int64.self) { group in
            for number in 0..<100 { group.addTask { try await producer.send(record("\(number)")).offset } }
            return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
        }
        #expect(offsets == Set(0..<100))
        await producer.shutDown(within: .seconds(120))
        await broker.shutDown()
    }

    @Test func `a queue that stays full fails the sender at its deadline`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        var configuration = KafkaProducerConfiguration(client: broker.clientConfiguration())
        configuration.maximumBufferedRecords = 2
        configuration.queueFullTimeout = .milliseconds(300)
        let producer = try KafkaProducer(configuration: configuration, logger: quiet)
        try broker.setBroker(isUp: false)
        let codes = Shared<[KafkaError.Code]>([])
        let sends = (0..<5).map { number in
            Task {
                let failed = await code { _ = try await producer.send(record("\(number)")) }
                if let failed { codes.update { $0.append(failed) } }
            }
        }
        try await eventually { codes.value.count >= 3 }
        #expect(codes.value == [.queueFull, .queueFull, .queueFull])
        try broker.setBroker(isUp: true)
        for send in sends { await send.value }
        #expect(codes.value.count == 3)
        await producer.shutDown(within: .seconds(120))
        await broker.shutDown()
    }

    @Test func `a shutdown waits for the outstanding records, and later sends fail`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        let producer = try KafkaProducer(configuration: .init(client: broker.clientConfiguration()), logger: quiet)
        // Down until all records are accepted, so that none is acknowledged before the last one is accepted.
        try broker.setBroker(isUp: false)
        let sends = (0..<20).map { number in Task { try await producer.send(record("\(number)")).offset } }
        try await eventually { producer.waitingForTest == 20 }
        try broker.setBroker(isUp: true)
        await producer.shutDown(within: .seconds(120))
        for send in sends { _ = try await send.value }
        #expect(await code { _ = try await producer.send(record("late")) } == .destroyed)
        #expect(await code { _ = try await producer.partitionCount(of: "other") } == .destroyed)
        await producer.shutDown(within: .seconds(120))
        #expect(Set(try await values(on: broker, count: 20)) == Set(numbers(20)))
        await broker.shutDown()
    }

    @Test func `a shutdown that runs out of time fails the remaining records and ends`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        let producer = try KafkaProducer(configuration: .init(client: broker.clientConfiguration()), logger: quiet)
        try broker.setBroker(isUp: false)
        let sends = (0..<20).map { number in Task { await code { _ = try await producer.send(record("\(number)")) } } }
        try await eventually { producer.waitingForTest == 20 }
        await producer.shutDown(within: .milliseconds(200))
        for send in sends {
            let code = await send.value
            #expect(code == .purgedFromQueue || code == .purgedInFlight || code == .destroyed)
        }
        await broker.shutDown()
    }

    @Test func `a producer that is released publishes the accepted records`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        let place = try await {
            let producer = try KafkaProducer(configuration: .init(client: broker.clientConfiguration()), logger: quiet)
            return try await producer.send(record("only"))
        }()
        #expect(place.offset == 0)
        #expect(try await values(on: broker, count: 1) == ["only"])
        await broker.shutDown()
    }

    @Test func `senders do not notice a fatal error`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        let producer = try KafkaProducer(configuration: .init(client: broker.clientConfiguration()), logger: quiet)
        _ = try await producer.send(record("first"))
        try broker.setBroker(isUp: false)
        let sends = (0..<100).map { number in Task { try await producer.send(record("\(number)")).offset } }
        try await eventually { producer.waitingForTest == 100 }
        producer.failForTest("as after a lost batch")
        try broker.setBroker(isUp: true)
        for send in sends { _ = try await send.value }
        _ = try await producer.send(record("last"))
        #expect(try await producer.partitionCount(of: "t") == 1)
        await producer.shutDown(within: .seconds(120))
        // Records that were written before the failure and not acknowledged may be there twice.
        #expect(try await values(on: broker, count: 102).count == 102)
        await broker.shutDown()
    }

    @Test func `all who wait for the partitions of a topic share one request`() async throws {
        let broker = try LocalBroker(topics: ["t": 7])
        let producer = try KafkaProducer(configuration: .init(client: broker.clientConfiguration()), logger: quiet)
        let counts = try await withThrowingTaskGroup(of: Int32.self) { group in
            for _ in 0..<500 { group.addTask { try await producer.partitionCount(of: "t") } }
            return try await group.reduce(into: Set<Int32>()) { $0.insert($1) }
        }
        #expect(counts == [7])
        try broker.setBroker(isUp: false)
        #expect(try await producer.partitionCount(of: "t") == 7)
        await #expect(throws: KafkaError.self) { try await producer.partitionCount(of: "") }
        await producer.shutDown(within: .seconds(120))
        await broker.shutDown()
    }

    @Test func `the embedded broker creates a topic on request`() async throws {
        let broker = try LocalBroker()
        let producer = try KafkaProducer(configuration: .init(client: broker.clientConfiguration()), logger: quiet)
        try await eventually { (try? await producer.partitionCount(of: "new")) == 4 }
        await producer.shutDown(within: .seconds(120))
        await broker.shutDown()
    }

    @Test func `an unconfirmed record is published again`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        var configuration = KafkaProducerConfiguration(client: broker.clientConfiguration())
        configuration.client.properties.merge(oneRecordARequest) { $1 }
        let producer = try KafkaProducer(configuration: configuration, logger: quiet)
        try broker.setLatency(.milliseconds(200))
        broker.inject(errors: [.notLeader], on: .produce)
        async let first = producer.send(record("first"))
        async let second = producer.send(record("second"))
        #expect(try await Set([first.offset, second.offset]) == [0, 1])
        await producer.shutDown(within: .seconds(120))
        #expect(try await Set(values(on: broker, count: 2)) == ["first", "second"])
        await broker.shutDown()
    }

    @Test func `records that keep their order do so when the first is refused, the queue is small and others send`()
        async throws
    {
        let broker = try LocalBroker(topics: ["t": 3])
        var configuration = KafkaProducerConfiguration(client: broker.clientConfiguration())
        configuration.client.properties.merge(oneRecordARequest) { $1 }
        configuration.maximumBufferedRecords = 7
        let producer = try KafkaProducer(configuration: configuration, logger: quiet)
        try broker.setLatency(.milliseconds(20))
        broker.inject(errors: [.notLeader], on: .produce)
        func texts(_ range: Range<Int>) -> [KafkaProducerRecord] {
            range.map { record("\($0)", partition: Int32($0 % 3)) }
        }
        var places = try await producer.send(inOrder: texts(0..<30))
        // These records bypass the producer's thread.
        let others = (0..<20).map { number in Task { try await producer.send(record("other", partition: 2)) } }
        places += try await producer.send(inOrder: texts(30..<60))
        for other in others { _ = try await other.value }
        #expect(places.map(\.partition) == (0..<60).map { Int32($0 % 3) })
        await producer.shutDown(within: .seconds(120))
        let read = try await records(of: "t", on: broker, count: 80)
        for partition in Int32(0)..<3 {
            let values = read.filter { $0.partition == partition }.map {
                String(decoding: $0.value ?? [], as: UTF8.self)
            }
            #expect(values.filter { $0 != "other" } == (0..<60).filter { $0 % 3 == Int(partition) }.map(String.init))
            let offsets = places.filter { $0.partition == partition }.map(\.offset)
            #expect(offsets == offsets.sorted())
        }
        await broker.shutDown()
    }

    @Test func `none of the ordered records is published after a failed one`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        var configuration = KafkaProducerConfiguration(client: broker.clientConfiguration())
        configuration.maximumBufferedRecords = 2
        configuration.client.properties["message.max.bytes"] = "1000"
        let producer = try KafkaProducer(configuration: configuration, logger: quiet)
        let large = record(String(repeating: "x", count: 2_000))
        let failed = await code {
            _ = try await producer.send(inOrder: [record("0"), large, record("2"), record("3")])
        }
        #expect(failed == .messageTooLarge)
        let withoutPartition = await code { _ = try await producer.send(inOrder: [record("4", partition: nil)]) }
        #expect(withoutPartition == .invalidArgument)
        #expect(try await producer.send(inOrder: []) == [])

        try broker.setBroker(isUp: false)
        let cancelled = Task { try await producer.send(inOrder: [record("5"), record("6"), record("7"), record("8")]) }
        try await eventually { producer.waitingForTest == 1 }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(producer.waitingForTest == 0)
        try broker.setBroker(isUp: true)
        #expect(try await producer.send(inOrder: [record("9"), record("10")]).count == 2)
        await producer.shutDown(within: .seconds(120))
        #expect(await code { _ = try await producer.send(inOrder: [record("late")]) } == .destroyed)
        let values = try await records(of: "t", on: broker, count: 3, isDistinct: true)
            .map { String(decoding: $0.value ?? [], as: UTF8.self) }
        #expect(!values.contains("2") && !values.contains("3") && !values.contains("6"))
        #expect(values.filter { $0 != "5" }.prefix(2) == ["0", "9"])
        await broker.shutDown()
    }

    @Test func `a lost acknowledgement loses nothing`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        let producer = try KafkaProducer(configuration: .init(client: broker.clientConfiguration()), logger: quiet)
        _ = try await producer.send(record("first"))
        try broker.loseReply(of: .produce)
        _ = try await producer.send(record("lost"))
        _ = try await producer.send(record("last"))
        await producer.shutDown(within: .seconds(120))
        let read = try await KafkaThread.run(name: "read") {
            let consumer = try KafkaConsumer(configuration: .init(client: broker.clientConfiguration()), logger: quiet)
            try consumer.assign([.init(topic: "t", partition: 0): KafkaOffset.beginning])
            var texts: [String] = []
            _ = try consumer.poll(until: { texts.last == "last" }, { texts.append($0.text) })
            consumer.close(within: .seconds(5))
            return texts
        }
        #expect(read.first == "first" && Set(read) == ["first", "lost", "last"])
        await broker.shutDown()
    }
}
