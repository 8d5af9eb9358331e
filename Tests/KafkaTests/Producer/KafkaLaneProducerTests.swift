import LocalBroker
import Testing
import TestSupport

@testable import Kafka

@Suite(.timeLimit(.minutes(10)))
struct KafkaLaneProducerTests {
    /// Publishes `count` records on a dedicated thread, as a lane does, and returns the acknowledged tags.
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

    @Test func `every record of ten thousand is reported once and written`() async throws {
        let broker = try LocalBroker(topics: ["t": 4])
        let result = try await publish(10_000, to: broker)
        #expect(result.failed == 0)
        #expect(result.acknowledged.count == 10_000 && Set(result.acknowledged).count == 10_000)
        let read = try await records(of: "t", on: broker, count: 10_000)
        #expect(Set(read.map(\.value)).count == 10_000)
        await broker.shutDown()
    }

    @Test func `a broker outage loses nothing`() async throws {
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

    @Test(arguments: [5, 1])
    func `a record that is refused while the next one is written is not reported as acknowledged`(
        requestsInFlight: Int
    ) async throws {
        let properties = oneRecordARequest.merging(["max.in.flight": "\(requestsInFlight)"]) { $1 }
        try await withDesk(id: nil, properties: properties) { broker, desk in
            try desk.putBoth(0, 2, refusingFirstOn: broker)
            let isAlone = requestsInFlight == 1
            #expect(desk.reports.map(\.tag).sorted() == [0, 2])
            #expect(desk.reports.first { $0.tag == 0 }?.error?.code == (isAlone ? nil : .unconfirmed))
            #expect(desk.reports.first { $0.tag == 2 }?.error == nil)
            try desk.consumer.assign([.init(topic: "t", partition: 0): KafkaOffset.beginning])
            #expect(try desk.consumer.read(isAlone ? 2 : 1) == (isAlone ? ["0", "2"] : ["2"]))
            #expect(try desk.consumer.isQuiet())
        }
    }

    @Test(.timeLimit(.minutes(10))) func `a fatal error replaces the client and loses nothing`() async throws {
        let broker = try LocalBroker(topics: ["t": 4])
        let result = try await publish(1_000, to: broker) { number, producer in
            if number == 500 { producer.failForTest("as after a lost batch") }
        }
        #expect(result.recreations == 1)
        #expect(result.failed == 0 && Set(result.acknowledged).count == 1_000)
        let read = try await records(of: "t", on: broker, count: 1_000, isDistinct: true)
        #expect(Set(read.map(\.value)).count == 1_000)
        await broker.shutDown()
    }

    @Test func `a missing partition is an error of its record, headers and all`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        let code = try await KafkaThread.run(name: "lane") {
            let producer = try KafkaLaneProducer(
                configuration: .init(client: broker.clientConfiguration()),
                logger: quiet
            )
            let topic = try producer.topic("t")
            _ = try producer.partitionCount(of: "t", within: .seconds(120))
            var headers = KafkaHeaderBuffer()
            headers.append("a", "1")
            var code: KafkaError.Code?
            do throws(KafkaError) {
                try producer.enqueue(topic: topic, partition: 7, key: nil, value: [1], headers: headers, tag: 1)
                _ = producer.flush(within: .seconds(120)) { code = $0.error?.code }
            } catch {
                code = error.code
            }
            producer.close(within: .seconds(1))
            return code
        }
        #expect(code == .unknownPartition)
        await broker.shutDown()
    }

    /// Runs the closure on a separate thread with a producer for the topic `t`.
    private func withLane<Result: Sendable>(
        on broker: LocalBroker,
        configure: (inout KafkaProducerConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (KafkaLaneProducer, KafkaTopicHandle) throws -> Result
    ) async throws -> Result {
        var configuration = KafkaProducerConfiguration(client: broker.clientConfiguration())
        configure(&configuration)
        return try await KafkaThread.run(name: "lane") { [configuration] in
            let producer = try KafkaLaneProducer(configuration: configuration, logger: quiet)
            defer { producer.close(within: .seconds(5)) }
            return try body(producer, producer.topic("t"))
        }
    }

    @Test func `after fatal errors the unacknowledged records are published again in their order`() async throws {
        let broker = try LocalBroker(topics: ["t": 2])
        let acknowledged = try await withLane(on: broker) { producer, topic in
            var acknowledged: [UInt] = []
            func put(_ numbers: Range<Int>) throws {
                for number in numbers {
                    try producer.enqueue(
                        topic: topic,
                        partition: Int32(number % 2),
                        key: number % 3 == 0 ? nil : [1],
                        value: Array("\(number)".utf8),
                        headers: KafkaHeaderBuffer(),
                        tag: UInt(number)
                    )
                }
            }
            _ = try producer.partitionCount(of: "t", within: .seconds(120))
            try put(0..<10)
            #expect(producer.flush(within: .seconds(120)) { acknowledged.append($0.tag) })
            try broker.setBroker(isUp: false)
            try put(10..<500)
            producer.failForTest("as after a lost batch")
            // The failed client accepts no records: backpressure, not an error.
            let error = #expect(throws: KafkaError.self) { try put(500..<501) }
            #expect(error?.code == .queueFull)
            while producer.recreations < 1 {
                producer.serveReports(within: .milliseconds(10)) { acknowledged.append($0.tag) }
            }
            #expect(producer.outstanding == 490)
            try put(500..<600)
            producer.failForTest("and once more")
            while producer.recreations < 2 {
                producer.serveReports(within: .milliseconds(10)) { acknowledged.append($0.tag) }
            }
            try broker.setBroker(isUp: true)
            #expect(producer.flush(within: .seconds(120)) { acknowledged.append($0.error == nil ? $0.tag : .max) })
            return acknowledged
        }
        #expect(acknowledged.count == 600 && Set(acknowledged) == Set(0..<600))
        let read = try await records(of: "t", on: broker, count: 600)
        for partition in 0..<2 {
            let texts = read.filter { $0.partition == Int32(partition) }.map {
                String(decoding: $0.value ?? [], as: UTF8.self)
            }
            #expect(texts == stride(from: partition, to: 600, by: 2).map { "\($0)" })
        }
        await broker.shutDown()
    }

    @Test func `recovery from a fatal error does not wait for a silent broker`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try await withLane(on: broker) { producer, topic in
            let empty = KafkaHeaderBuffer()
            _ = try producer.partitionCount(of: "t", within: .seconds(120))
            try producer.enqueue(topic: topic, partition: 0, key: nil, value: [1], headers: empty, tag: 1)
            #expect(producer.flush(within: .seconds(120)) { _ in })
            // Longer than the 60 s after which librdkafka gives up on a request.
            try broker.setLatency(.seconds(3600))
            try producer.enqueue(topic: topic, partition: 0, key: nil, value: [2], headers: empty, tag: 2)
            #expect(!producer.flush(within: .milliseconds(200)) { _ in })
            producer.failForTest("as after a lost batch")
            let deadline = ContinuousClock.now.advanced(by: .seconds(30))
            while producer.recreations == 0, ContinuousClock.now < deadline {
                producer.serveReports(within: .milliseconds(10)) { _ in }
            }
            #expect(producer.recreations == 1 && producer.outstanding == 1)
            try broker.setLatency(.zero)
            var reported: [UInt] = []
            #expect(producer.flush(within: .seconds(120)) { reported.append($0.error == nil ? $0.tag : .max) })
            #expect(reported == [2])
        }
        await broker.shutDown()
    }

    @Test func `records that wait for their batches to fill are sent when nothing else comes`() async throws {
        let broker = try LocalBroker(topics: ["t": 4])
        let reported = try await withLane(on: broker, configure: { $0.linger = .seconds(600) }) { producer, topic in
            _ = try producer.partitionCount(of: "t", within: .seconds(120))
            for number in 0..<4 as Range<Int32> {
                try producer.enqueue(
                    topic: topic,
                    partition: number,
                    key: nil,
                    value: [1],
                    headers: KafkaHeaderBuffer(),
                    tag: UInt(number)
                )
            }
            var reported: Set<UInt> = []
            let deadline = ContinuousClock.now.advanced(by: .seconds(60))
            while producer.outstanding > 0, ContinuousClock.now < deadline {
                producer.endLinger()
                producer.serveReports(within: .milliseconds(10)) { if $0.error == nil { reported.insert($0.tag) } }
            }
            return reported
        }
        #expect(reported == [0, 1, 2, 3])
        await broker.shutDown()
    }

    @Test func `with a delivery timeout, endless fatal errors fail the record`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try broker.setBroker(isUp: false)
        let codes = try await withLane(on: broker, configure: { $0.deliveryTimeout = .seconds(2) }) { producer, topic in
            var codes: [KafkaError.Code?] = []
            try producer.enqueue(
                topic: topic,
                partition: 0,
                key: nil,
                value: [1],
                headers: KafkaHeaderBuffer(),
                tag: 7
            )
            while codes.isEmpty {
                producer.failForTest("again")
                producer.serveReports(within: .milliseconds(20)) { codes.append($0.error?.code) }
            }
            return codes
        }
        #expect(codes == [.messageTimedOut])
        await broker.shutDown()
    }

    @Test func `closing without a broker reports every record once, and then every call fails`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try await withLane(on: broker) { producer, topic in
            let empty = KafkaHeaderBuffer()
            func put(_ tag: UInt) throws(KafkaError) {
                try producer.enqueue(topic: topic, partition: 0, key: nil, value: [1], headers: empty, tag: tag)
            }
            _ = try producer.partitionCount(of: "t", within: .seconds(120))
            try broker.setBroker(isUp: false)
            for tag in 0..<100 as Range<UInt> { try put(tag) }
            producer.failForTest("so that some wait to be published again")
            while producer.recreations < 1 { producer.serveReports(within: .milliseconds(10)) { _ in } }
            var reported: [UInt] = []
            producer.close(within: .zero) {
                reported.append($0.tag)
                #expect($0.error?.code == .purgedFromQueue || $0.error?.code == .purgedInFlight)
            }
            #expect(reported.count == 100 && Set(reported) == Set(0..<100))
            #expect(producer.outstanding == 0)
            for call in [
                { try put(1) }, { _ = try producer.topic("u") },
                { _ = try producer.partitionCount(of: "t", within: .zero) },
            ] as [() throws -> Void] {
                let error = #expect(throws: KafkaError.self) { try call() }
                #expect(error?.code == .destroyed)
            }
            producer.serveReports(within: .zero) { _ in Issue.record("a report after the end") }
            #expect(producer.flush(within: .zero) { _ in })
            producer.close(within: .seconds(1))
        }
        await broker.shutDown()
    }

    @Test func `a record that can never be sent is an error of the call`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try await withLane(on: broker) { producer, topic in
            func code(partition: Int32, bytes: Int) -> KafkaError.Code? {
                do throws(KafkaError) {
                    try producer.enqueue(
                        topic: topic,
                        partition: partition,
                        key: nil,
                        value: [UInt8](repeating: 0, count: bytes),
                        headers: KafkaHeaderBuffer(),
                        tag: 0
                    )
                    return nil
                } catch {
                    return error.code
                }
            }
            #expect(code(partition: -2, bytes: 1) == .unknownPartition)
            #expect(code(partition: 0, bytes: 2_000_000) == .messageTooLarge)
            #expect(throws: KafkaError.self) { try producer.topic("") }
            #expect(throws: KafkaError.self) { try producer.topic("t\0u") }
            #expect(producer.outstanding == 0)
        }
        await broker.shutDown()
    }

    @Test func `headers that a closure cut off are omitted, and nothing is read past their end`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try await withLane(on: broker) { producer, topic in
            var headers = KafkaHeaderBuffer()
            headers.append("a", Array("first".utf8))
            headers.append("b") { $0.removeAll() }
            headers.append("c", "3")
            try producer.enqueue(topic: topic, partition: 0, key: nil, value: nil, headers: headers, tag: 0)
            #expect(producer.flush(within: .seconds(120)) { _ in })
        }
        let read = try await records(of: "t", on: broker, count: 1)
        #expect(read.first?.header("a") == nil && read.first?.header("c") == "3")
        await broker.shutDown()
    }

    @Test func `outstanding records keep their tags and their order, and slots are reused`() {
        var records = OutstandingRecords()
        let slots = (0..<100).map { records.insert(tag: UInt($0) * 7) }
        #expect(records.remove(slots[3])?.tag == 21)
        #expect(records.remove(slots[3]) == nil)
        #expect(records.remove(1_000_000) == nil)
        let first = records.remove(slots[0])
        #expect(first?.sequence == 0 && records.count == 98)
        #expect(Set([records.insert(tag: 1), records.insert(tag: 0, sequence: 0)]) == [slots[0], slots[3]])
        let all = records.removeAll()
        #expect(all.first?.sequence == 0 && all.last?.tag == 1 && all.count == 100)
        #expect(all.map(\.sequence) == all.map(\.sequence).sorted())
        #expect(records.count == 0)
    }
}
