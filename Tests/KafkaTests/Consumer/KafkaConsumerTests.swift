import Kafka
import LocalBroker
import Testing
import TestSupport

@Suite(.timeLimit(.minutes(10)))
struct KafkaConsumerTests {
    private let place = KafkaTopicPartition(topic: "t", partition: 0)

    /// Runs the closure on a separate thread with a consumer, and closes the consumer afterwards.
    private func consume<Result: Sendable>(
        from broker: LocalBroker,
        group: String? = nil,
        configure: @escaping @Sendable (inout KafkaConsumerConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (KafkaConsumer) throws -> Result
    ) async throws -> Result {
        var configuration = KafkaConsumerConfiguration(client: broker.clientConfiguration(), groupID: group)
        configure(&configuration)
        return try await KafkaThread.run(name: "consumer") { [configuration] in
            let consumer = try KafkaConsumer(configuration: configuration, logger: quiet)
            defer { consumer.close(within: .seconds(5)) }
            return try body(consumer)
        }
    }

    @Test func `partitions assigned by hand are read from the offset, the beginning or the end`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try await publish(numbers(10), to: "t", on: broker)
        let place = place
        let read = try await consume(from: broker) { consumer in
            try consumer.assign([place: 7])
            #expect(consumer.assignment == [place])
            var read = [try consumer.read(3)]
            try consumer.assign([place: KafkaOffset.beginning])
            read.append(try consumer.read(10))
            // Resolve the end here: the first fetch would race with the next record.
            let end = try consumer.watermarks(of: place, within: .seconds(120))
            #expect(end == (0, 10))
            try consumer.assign([place: KafkaOffset.end])
            _ = try consumer.poll(until: { consumer.cachedWatermarks(of: place)?.high == 10 })
            #expect(try consumer.isQuiet())
            return read
        }
        #expect(read == [numbers(3, from: 7), numbers(10)])
        await broker.shutDown()
    }

    @Test func `watermarks are read from the broker, and after a fetch from the cache`() async throws {
        let broker = try LocalBroker(topics: ["t": 2])
        try await publish(numbers(10), to: "t", on: broker)
        let place = place
        try await consume(from: broker) { consumer in
            #expect(try consumer.watermarks(of: place, within: .seconds(120)) == (0, 10))
            #expect(try consumer.partitionCount(of: "t", within: .seconds(120)) == 2)
            let both = Set([place, .init(topic: "t", partition: 1)])
            let all = try consumer.watermarks(of: both, within: .seconds(120))
            #expect(all.count == 2 && all[place] ?? (-1, -1) == (0, 10))
            #expect(all[.init(topic: "t", partition: 1)] ?? (-1, -1) == (0, 0))
            #expect(try consumer.watermarks(of: [], within: .seconds(120)).isEmpty)
            #expect(throws: KafkaError.self) {
                try consumer.watermarks(of: [place, .init(topic: "t", partition: 9)], within: .seconds(2))
            }
            try consumer.assign([place: KafkaOffset.beginning])
            _ = try consumer.read(10)
            let cached = try #require(consumer.cachedWatermarks(of: place))
            #expect(cached == (0, 10))
            #expect(consumer.cachedWatermarks(of: .init(topic: "t", partition: 1)) == nil)
            #expect(consumer.cachedWatermarks(of: .init(topic: "", partition: -7)) == nil)
        }
        await broker.shutDown()
    }

    @Test func `a tombstone is null, an empty value is not`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        let producer = try KafkaProducer(configuration: .init(client: broker.clientConfiguration()), logger: quiet)
        _ = try await producer.send(.init(topic: "t", partition: 0, key: [1], value: nil))
        _ = try await producer.send(.init(topic: "t", partition: 0, key: nil, value: []))
        await producer.shutDown(within: .seconds(120))
        let place = place
        let read = try await consume(from: broker) { consumer in
            try consumer.assign([place: 0])
            var read: [KafkaConsumerRecord] = []
            _ = try consumer.poll(
                until: { read.count == 2 },
                {
                    #expect($0.topic == "t" && $0.timestamp != nil)
                    read.append($0.record())
                }
            )
            return read
        }
        #expect(read.map(\.value) == [nil, []] && read.map(\.key) == [[1], nil])
        await broker.shutDown()
    }

    @Test func `pausing and resuming delivers each record once`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try await publish(numbers(20), to: "t", on: broker)
        let place = place
        let read = try await consume(from: broker) { consumer in
            try consumer.assign([place: 0])
            // Resuming an unpaused partition would rewind in librdkafka 2.0.2.
            consumer.resume([place])
            var read = try consumer.read(5)
            consumer.resume([place])
            read += try consumer.read(5)
            consumer.pause([place])
            consumer.pause([place])
            #expect(try consumer.isQuiet())
            consumer.resume([place])
            consumer.resume([place])
            read += try consumer.read(5)
            consumer.resume([place])
            read += try consumer.read(5)
            for _ in 0..<10 {
                if let message = try consumer.poll(within: .milliseconds(20)) { read.append(message.text) }
            }
            return read
        }
        #expect(read == numbers(20))
        await broker.shutDown()
    }

    @Test func `a paused partition that was revoked and returns is read, and can be paused again`() async throws {
        let broker = try LocalBroker(topics: ["t": 2])
        try await publish(numbers(20), to: "t", on: broker)
        try await publish(numbers(20), to: "t", partition: 1, on: broker)
        let place = place
        let read = try await consume(from: broker) { consumer in
            try consumer.assign([place: 0])
            var read = try consumer.read(5)
            consumer.pause([place])
            try consumer.assign([.init(topic: "t", partition: 1): 0])
            _ = try consumer.read(20)
            try consumer.assign([place: 5])
            read += try consumer.read(5)
            consumer.resume([place])
            consumer.pause([place])
            #expect(try consumer.isQuiet())
            consumer.resume([place])
            read += try consumer.read(10)
            return read
        }
        #expect(read == numbers(20))
        await broker.shutDown()
    }

    @Test func `a partition that the assign hook pauses is not read before it is resumed`() async throws {
        let broker = try LocalBroker(topics: ["t": 2])
        try await publish(numbers(20), to: "t", on: broker)
        try await publish(numbers(20, from: 100), to: "t", partition: 1, on: broker)
        let place = place
        let read = try await consume(from: broker, group: "g") { consumer in
            try consumer.subscribe(
                to: ["t"],
                onAssign: { places in
                    consumer.pause(places)
                    consumer.resume(places.subtracting([place]))
                    return Dictionary(uniqueKeysWithValues: places.map { ($0, 5) })
                }
            )
            var read = try consumer.read(15)
            #expect(try consumer.isQuiet())
            consumer.resume([place])
            read += try consumer.read(15)
            return read
        }
        #expect(read == numbers(15, from: 105) + numbers(15, from: 5))
        await broker.shutDown()
    }

    @Test func `a broker outage while reading loses nothing`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try await publish(numbers(10), to: "t", on: broker)
        let place = place
        let isDown = Shared(false)
        async let read = consume(from: broker) { consumer in
            try consumer.assign([place: 0])
            var read = try consumer.read(10)
            try broker.setBroker(isUp: false)
            isDown.update { $0 = true }
            read += try consumer.read(10)
            return read
        }
        try await eventually { isDown.value }
        try broker.setBroker(isUp: true)
        try await publish(numbers(10, from: 10), to: "t", on: broker)
        #expect(try await read == numbers(20))
        await broker.shutDown()
    }

    @Test func `closing is bounded while the broker is away, and nothing works afterwards`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try await publish(numbers(3), to: "t", on: broker)
        let place = place
        let configuration = KafkaConsumerConfiguration(client: broker.clientConfiguration(), groupID: "g")
        let revoked = Shared(0)
        let took = try await KafkaThread.run(name: "consumer") {
            let consumer = try KafkaConsumer(configuration: configuration, logger: quiet)
            try consumer.subscribe(
                to: ["t"],
                onRevoke: { places, _, deadline in
                    #expect(places == [place] && deadline < .now + .seconds(4))
                    revoked.update { $0 += 1 }
                }
            )
            _ = try consumer.read(3)
            try broker.setBroker(isUp: false)
            let start = ContinuousClock.now
            consumer.close(within: .seconds(3))
            let took = ContinuousClock.now - start
            consumer.close(within: .seconds(3))
            #expect(consumer.assignment == [] && consumer.cachedWatermarks(of: place) == nil)
            consumer.pause([place])
            consumer.resume([place])
            for call in [
                { try consumer.assign([place: 0]) }, { try consumer.subscribe(to: ["t"]) },
                { try consumer.commit([place: 1], within: nil) }, { _ = try consumer.poll(within: .zero) },
                { _ = try consumer.committed([place], within: .zero) },
                { _ = try consumer.watermarks(of: place, within: .zero) },
                { _ = try consumer.partitionCount(of: "t", within: .zero) },
            ] as [() throws -> Void] {
                let error = #expect(throws: KafkaError.self) { try call() }
                #expect(error?.code == .destroyed)
            }
            return took
        }
        // A limit of this test, with much room for a busy machine.
        #expect(took < .seconds(30) && revoked.value == 1)
        await broker.shutDown()
    }

    @Test func `commits take effect with and without a wait, and the group continues after them`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try await publish(numbers(10), to: "t", on: broker)
        let place = place
        try await consume(from: broker, group: "g") { consumer in
            try consumer.subscribe(to: ["t"])
            #expect(try consumer.read(6) == numbers(6))
            #expect(try consumer.committed([place], within: .seconds(120)) == [:])
            try consumer.commit([place: 3], within: .seconds(120))
            #expect(try consumer.committed([place], within: .seconds(120)) == [place: 3])
            try consumer.commit([place: 6], within: nil)
            var committed: Int64?
            #expect(
                try consumer.poll(until: {
                    committed = try? consumer.committed([place], within: .seconds(120))[place]
                    return committed == 6
                })
            )
            try consumer.commit([:], within: .seconds(120))
        }
        let rest = try await consume(from: broker, group: "g") { consumer in
            try consumer.subscribe(to: ["t"])
            return try consumer.read(4)
        }
        #expect(rest == numbers(4, from: 6))
        await broker.shutDown()
    }

    @Test func `a commit without an answer ends at its deadline`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try await publish(numbers(1), to: "t", on: broker)
        let place = place
        let code = try await consume(from: broker, group: "g") { consumer -> KafkaError.Code? in
            try consumer.assign([place: 0])
            _ = try consumer.read(1)
            try broker.setBroker(isUp: false)
            do throws(KafkaError) {
                try consumer.commit([place: 1], within: .milliseconds(300))
                return nil
            } catch {
                #expect(error.isRetriable)
                return error.code
            }
        }
        #expect(code != nil)
        await broker.shutDown()
    }

    @Test func `an assign hook chooses the start offsets; poll throws its error`() async throws {
        struct Refused: Error {}
        let broker = try LocalBroker(topics: ["t": 1])
        try await publish(numbers(10), to: "t", on: broker)
        let place = place
        try await consume(from: broker, group: "g") { consumer in
            var assigned: Set<KafkaTopicPartition> = []
            try consumer.subscribe(
                to: ["t"],
                onAssign: { places in
                    assigned = places
                    return [place: 8, .init(topic: "other", partition: 3): 1]
                }
            )
            #expect(try consumer.read(2) == numbers(2, from: 8))
            #expect(assigned == [place] && consumer.assignment == [place])
        }
        try await consume(from: broker, group: "refusing") { consumer in
            try consumer.subscribe(to: ["t"], onAssign: { _ in throw Refused() })
            #expect(throws: Refused.self) { _ = try consumer.poll(until: { false }) }
            #expect(consumer.assignment == [])
        }
        await broker.shutDown()
    }

    @Test func `on close the revoke hook runs while the partition is owned, and its commit succeeds`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try await publish(numbers(10), to: "t", on: broker)
        let place = place
        let hooks = Shared<[String]>([])
        try await consume(from: broker, group: "g") { consumer in
            var position: Int64 = 0
            try consumer.subscribe(
                to: ["t"],
                onRevoke: { places, lost, deadline in
                    do throws(KafkaError) {
                        try consumer.commit([place: position], within: deadline - .now)
                        hooks.update { $0.append("\(places) \(lost) \(consumer.assignment == [place])") }
                    } catch {
                        hooks.update { $0.append("\(error)") }
                    }
                }
            )
            #expect(try consumer.poll(until: { position == 5 }, { position = $0.offset + 1 }))
            consumer.close(within: .seconds(120))
        }
        #expect(hooks.value == ["[t[0]] false true"])
        let rest = try await consume(from: broker, group: "g") { consumer in
            try consumer.subscribe(to: ["t"])
            return try consumer.read(5)
        }
        #expect(rest == numbers(5, from: 5))
        await broker.shutDown()
    }

    @Test func `when another member joins, the revoke hook runs before that member reads the partition`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try await publish(numbers(10), to: "t", on: broker)
        let place = place
        let isReading = Shared(false)
        let events = Shared<[String]>([])
        async let first: Int64 = consume(from: broker, group: "g") { consumer in
            var (position, committed): (Int64, Int64) = (0, 0)
            try consumer.subscribe(
                to: ["t"],
                onRevoke: { places, lost, deadline in
                    guard places.contains(place), !lost else { return }
                    events.update { $0.append("revoked") }
                    do throws(KafkaError) {
                        try consumer.commit([place: position], within: deadline - .now)
                        committed = position
                    } catch {
                        // The embedded broker refuses commits during a rebalance; a real one accepts them.
                        #expect(error.code == .rebalanceInProgress)
                    }
                }
            )
            #expect(try consumer.poll(until: { position == 5 }, { position = $0.offset + 1 }))
            consumer.pause([place])
            isReading.update { $0 = true }
            // Polls until the revocation, and then leaves.
            #expect(try consumer.poll(until: { !events.value.isEmpty }))
            return committed
        }
        try await eventually { isReading.value }
        async let second = consume(from: broker, group: "g") { consumer in
            try consumer.subscribe(to: ["t"])
            let read = try consumer.read(1)
            events.update { $0.append("read") }
            return try read + consumer.read(4)
        }
        let committed = try await Int(first)
        #expect(try await second == numbers(5, from: committed))
        #expect(events.value == ["revoked", "read"])
        await broker.shutDown()
    }

    @Test func `without a valid offset poll throws if configured so`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try await publish(numbers(3), to: "t", on: broker)
        let place = place
        try await consume(from: broker, configure: { $0.offsetReset = .error }) { consumer in
            try consumer.assign([place: 1_000])
            let error = #expect(throws: KafkaError.self) { _ = try consumer.poll(until: { false }) }
            #expect(error?.code == .autoOffsetReset)
        }
        await broker.shutDown()
    }

    @Test func `a subscription needs a topic`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try await consume(from: broker, group: "g") { consumer in
            #expect(throws: KafkaError.self) { try consumer.subscribe(to: []) }
            #expect(throws: KafkaError.self) { try consumer.subscribe(to: [""]) }
            #expect(throws: KafkaError.self) { try consumer.subscribe(to: ["a\0b"]) }
        }
        await broker.shutDown()
    }
}
