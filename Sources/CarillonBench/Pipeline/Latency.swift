import Foundation
import Kafka
import NotificationModel
import Synchronization

/// Both services together: business events at a steady rate, and the time of each until its delivery event is read.
///
/// The rate is independent of the services, and time starts when an event was due to be published: a stall counts for
/// every event that it delays.
struct LatencyBenchmark {
    var eventsPerSecond: Double
    var duration: Duration
    var partitions: Int32
    var workbench: Workbench

    private static let warmUp = 2_000

    /// - Throws: ``BenchmarkError`` when an event does not arrive.
    func run() throws -> FigureRow {
        let events = Int(eventsPerSecond * (duration / .seconds(1)))
        workbench.report("latency at \(Int(eventsPerSecond)) events a second for \(duration)")
        return try BenchmarkBroker.with(partitions: partitions, logger: workbench.logger) { broker in
            let work = broker.work(properties: ["fetch.wait.max.ms": "5", "compression.type": "lz4"])
            let producer = try Subject.producer().start(work, on: workbench)
            let consumer = try Subject.carillon().start(work, on: workbench)
            defer {
                producer.stop()
                consumer.stop()
            }
            let reader = try LatencyReader(of: broker)
            defer { reader.close() }
            // The arrival of these events shows that both services have joined their groups.
            try Self.publish(0..<Self.warmUp, at: nil, to: broker)
            try reader.read(Self.warmUp, within: .seconds(60), alive: [producer, consumer])

            let (pace, range) = (UInt64(1e9 / eventsPerSecond), Self.warmUp..<Self.warmUp + events)
            let outcome = Mutex<Result<Void, any Error>>(.success(()))
            let isDone = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                let result = Result<Void, any Error> { try Self.publish(range, at: pace, to: broker) }
                outcome.withLock { $0 = result }
                isDone.signal()
            }
            let latencies = Result {
                try reader.read(events, within: duration + .seconds(30), alive: [producer, consumer])
            }
            isDone.wait()
            try outcome.withLock { try $0.get() }
            let milliseconds = Distribution(try latencies.get().map { Double($0) / 1e6 })
            return FigureRow(
                "latency_ms",
                title: "ms from business event to delivery event",
                [Figure("events_per_second", "events/s", eventsPerSecond, as: .whole)]
                    + milliseconds.figures(as: .decimals)
            )
        }
    }

    /// - Parameter pace: nanoseconds between two events; nil for no delay.
    private static func publish(_ range: Range<Int>, at pace: UInt64?, to broker: BenchmarkBroker) throws {
        var feed = try RecordFeed(broker.topics.businessEvents, of: broker)
        var headers = KafkaHeaderBuffer()
        let start = DispatchTime.now().uptimeNanoseconds
        for index in range {
            var due = start
            if let pace {
                due += UInt64(index - range.lowerBound) * pace
                var now = DispatchTime.now().uptimeNanoseconds
                while due > now {
                    try feed.serve(within: .milliseconds(1))
                    now = DispatchTime.now().uptimeNanoseconds
                }
            }
            EventWorkload.writeHeaders(of: index, into: &headers)
            let key = EventWorkload.key(of: index)
            try feed.put(
                key,
                EventWorkload.data(of: index, sent: due),
                headers,
                partition: KafkaPartitioner.partition(forKey: key, count: broker.partitions)
            )
        }
        try feed.finish()
    }
}

/// Reads delivery events, and the age of the due time of each business event.
private struct LatencyReader {
    private static let field = Array("\"sent\":\"".utf8)

    private let consumer: KafkaConsumer

    init(of broker: BenchmarkBroker) throws {
        consumer = try broker.consumer(fetchWait: 5)
        let topic = broker.topics.deliveries
        let places = (0..<broker.partitions).map { (KafkaTopicPartition(topic: topic, partition: $0), Int64(0)) }
        try consumer.assign(Dictionary(uniqueKeysWithValues: places))
    }

    /// - Returns: nanoseconds, in the order of arrival.
    @discardableResult
    func read(_ count: Int, within time: Duration, alive: [SubjectProcess]) throws -> [UInt64] {
        var latencies: [UInt64] = []
        latencies.reserveCapacity(count)
        let deadline = ContinuousClock.now.advanced(by: time)
        while latencies.count < count {
            guard let message = try consumer.poll(within: .milliseconds(100)) else {
                for process in alive { _ = try process.sample() }
                guard ContinuousClock.now < deadline else {
                    throw BenchmarkError("\(count - latencies.count) of \(count) events did not arrive")
                }
                continue
            }
            let now = DispatchTime.now().uptimeNanoseconds
            guard let value = message.value(), let sent = Self.sent(value) else {
                throw BenchmarkError("a delivery event without the time at which its event was due")
            }
            latencies.append(now - min(now, sent))
        }
        return latencies
    }

    func close() { consumer.close(within: .seconds(2)) }

    private static func sent(_ value: [UInt8]) -> UInt64? {
        guard value.count > field.count + 20 else { return nil }
        for start in 0..<value.count - field.count - 20
        where value[start] == field[0] && value[start..<start + field.count].elementsEqual(field) {
            let digits = value[start + field.count..<start + field.count + 20]
            return digits.reduce(UInt64?(0)) { number, byte in
                guard let number, (0x30...0x39).contains(byte) else { return nil }
                return number &* 10 &+ UInt64(byte - 0x30)
            }
        }
        return nil
    }
}
