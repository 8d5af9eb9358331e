import LocalBroker
import Testing
import TestSupport

@testable import Kafka

/// One request per record, so that several requests can be in flight.
let oneRecordARequest = ["batch.num.messages": "1"]

/// The state of one test, on the thread of its producer and consumer.
final class TransactionDesk {
    static let place = KafkaTopicPartition(topic: "in", partition: 0)

    let producer: KafkaLaneProducer
    let consumer: KafkaConsumer
    let topic: KafkaTopicHandle
    var reports: [KafkaDeliveryReport] = []

    init(
        _ broker: LocalBroker,
        id: String? = "lane-1",
        linger: Duration = .milliseconds(5),
        properties: [String: String] = [:]
    ) throws {
        var configuration = KafkaProducerConfiguration(client: broker.clientConfiguration())
        configuration.client.properties.merge(properties) { $1 }
        configuration.transactionalID = id
        configuration.linger = linger
        configuration.transactionTimeout = max(.seconds(10), linger * 2)
        producer = try KafkaLaneProducer(configuration: configuration, logger: quiet)
        consumer = try KafkaConsumer(
            configuration: .init(client: broker.clientConfiguration(), groupID: "g"),
            logger: quiet
        )
        topic = try producer.topic("t")
        // Assign by hand: joining the mock's groups takes 3 s.
        try consumer.assign([Self.place: 0])
    }

    func close() {
        producer.close(within: .zero) { reports.append($0) }
        consumer.close(within: .seconds(5))
    }

    func put(_ numbers: Range<UInt>) throws {
        for number in numbers {
            try producer.enqueue(
                topic: topic,
                partition: Int32(number % 2),
                key: nil,
                value: Array("\(number)".utf8),
                headers: KafkaHeaderBuffer(),
                tag: number
            )
        }
    }

    /// Puts two records of one partition in flight; the broker refuses the first.
    func putBoth(_ first: UInt, _ second: UInt, refusingFirstOn broker: LocalBroker) throws {
        try broker.setLatency(.milliseconds(200))
        broker.inject(errors: [.notLeader], on: .produce)
        // If the partition knew the producer, the broker would refuse the second too.
        for number in [first, second] { try put(number..<number + 1) }
        #expect(flush())
        try broker.setLatency(.zero)
    }

    func flush() -> Bool { producer.flush(within: .seconds(120)) { reports.append($0) } }

    func perform(
        _ call: KafkaTransactionCall,
        within time: Duration = .seconds(30),
        _ attempt: (Duration) throws(KafkaError) -> Void
    ) throws(KafkaTransactionFailure) {
        try KafkaTransactionPolicy.perform(
            call,
            until: ContinuousClock.now.advanced(by: time),
            now: { .now },
            pause: { producer.serveReports(within: $0) { reports.append($0) } },
            attempt: attempt
        )
    }

    func initialize() throws {
        try perform(.initialize) { left throws(KafkaError) in try producer.initTransactions(within: left) }
    }

    func send(_ offset: Int64) throws {
        try perform(.sendOffsets) { left throws(KafkaError) in
            try producer.sendOffsets([Self.place: offset], of: consumer, within: left)
        }
    }

    func commit(within time: Duration = .seconds(30)) throws {
        try perform(.commit, within: time) { left throws(KafkaError) in
            try producer.commitTransaction(within: left) { reports.append($0) }
        }
    }

    func abort() throws {
        try perform(.abort) { left throws(KafkaError) in
            try producer.abortTransaction(within: left) { reports.append($0) }
        }
    }

    /// A transaction that commits.
    func transaction(_ numbers: Range<UInt>, offset: Int64 = 1) throws {
        try producer.beginTransaction()
        try put(numbers)
        #expect(flush())
        try send(offset)
        try commit()
    }

    /// The code that a call throws; nil when it succeeds or fails fatally.
    func code(_ body: (KafkaLaneProducer) throws -> Void) -> KafkaError.Code? {
        do {
            try body(producer)
            return nil
        } catch {
            let error = error as? KafkaError
            return error?.isFatal == false ? error?.code : nil
        }
    }

    var acknowledged: [UInt] { reports.filter { $0.error == nil }.map(\.tag) }
}

/// Runs the closure on a separate thread with a producer and a consumer on a new broker.
func withDesk(
    id: String? = "lane-1",
    linger: Duration = .milliseconds(5),
    properties: [String: String] = [:],
    _ body: @escaping @Sendable (LocalBroker, TransactionDesk) throws -> Void
) async throws {
    let broker = try LocalBroker(topics: ["t": 2, "in": 1])
    try await KafkaThread.run(name: "lane") {
        let desk = try TransactionDesk(broker, id: id, linger: linger, properties: properties)
        defer { desk.close() }
        try body(broker, desk)
    }
    await broker.shutDown()
}

/// The failure that the closure throws.
func failure(_ body: () throws -> Void) throws -> KafkaTransactionFailure {
    let error = #expect(throws: KafkaTransactionFailure.self, performing: body)
    return try #require(error)
}
