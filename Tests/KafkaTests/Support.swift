import Kafka
import LocalBroker
import Logging
import Synchronization
import Testing
import TestSupport

/// The first records of a topic, in the order of each partition.
///
/// - Parameter isDistinct: count values instead of records, where duplicates are possible.
func records(
    of topic: String,
    on broker: LocalBroker,
    count: Int,
    isDistinct: Bool = false
) async throws -> [KafkaConsumerRecord] {
    let sequence = KafkaConsumerRecords(
        configuration: .init(client: broker.clientConfiguration()),
        topics: [topic],
        start: .beginning,
        logger: quiet
    )
    var read: [KafkaConsumerRecord] = []
    var values: Set<[UInt8]?> = []
    for try await record in sequence {
        read.append(record)
        values.insert(record.value)
        if (isDistinct ? values.count : read.count) == count { break }
    }
    return read
}

/// Publishes texts to a partition, one after the other, in one batch or more.
func publish(_ values: [String], to topic: String, partition: Int32 = 0, on broker: LocalBroker) async throws {
    let configuration = KafkaProducerConfiguration(client: broker.clientConfiguration())
    try await KafkaThread.run(name: "publish") {
        let producer = try KafkaLaneProducer(configuration: configuration, logger: quiet)
        let topic = try producer.topic(topic)
        for value in values {
            try producer.enqueue(
                topic: topic,
                partition: partition,
                key: nil,
                value: Array(value.utf8),
                headers: KafkaHeaderBuffer(),
                tag: 0
            )
        }
        var failed = 0
        #expect(producer.flush(within: .seconds(120), { failed += $0.error == nil ? 0 : 1 }))
        #expect(failed == 0)
        producer.close(within: .seconds(5))
    }
}

/// The texts 0 to `count` - 1.
func numbers(_ count: Int, from first: Int = 0) -> [String] { (first..<first + count).map { "\($0)" } }

extension KafkaMessage {
    /// The value as text.
    var text: String { value().map { String(decoding: $0, as: UTF8.self) } ?? "null" }
}

extension KafkaConsumer {
    /// Polls until the condition holds; false when it does not within five minutes.
    func poll(until condition: () -> Bool, _ body: (borrowing KafkaMessage) throws -> Void = { _ in }) throws -> Bool {
        let deadline = ContinuousClock.now.advanced(by: .seconds(300))
        while !condition() {
            guard ContinuousClock.now < deadline else { return false }
            if let message = try poll(within: .milliseconds(50)) { try body(message) }
        }
        return true
    }

    /// Whether no message arrives in several polls.
    func isQuiet() throws -> Bool {
        for _ in 0..<10 {
            if let message = try poll(within: .milliseconds(20)) {
                Issue.record("a record came: \(message.text)")
                return false
            }
        }
        return true
    }

    /// The next records as texts.
    func read(_ count: Int) throws -> [String] {
        var texts: [String] = []
        _ = try poll(until: { texts.count >= count }, { texts.append($0.text) })
        return texts
    }
}

/// A value that several threads share.
final class Shared<Value: Sendable>: Sendable {
    private let box: Mutex<Value>

    init(_ value: Value) { box = Mutex(value) }

    var value: Value { box.withLock { $0 } }

    func update(_ body: (inout Value) -> Void) {
        box.withLock { value in
            var copy = value
            body(&copy)
            value = copy
        }
    }
}

/// The code of the `KafkaError` that the closure throws; nil when it throws none.
func code(of body: () async throws -> Void) async -> KafkaError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? KafkaError)?.code
    }
}
