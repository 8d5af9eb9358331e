import Kafka
import NotificationConsumer
import NotificationModel
import NotificationState

@testable import CarillonSimulation

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

func record(_ key: String, _ value: String?, at timestamp: Int64 = 0) -> LogRecord {
    LogRecord(timestamp: timestamp, key: bytes(key), value: value.map(bytes))
}

extension PartitionLog {
    /// The values for a reader.
    func values(committed: Bool = true, from position: Int64 = 0) -> [String] {
        read(from: position, committed: committed).records.map { String(decoding: $0.value ?? [], as: UTF8.self) }
    }
}

/// A cluster with the topics of the consumer service, and links to it.
struct Cluster {
    let timeline = Timeline(clock: SimulatedClock())
    let broker: SimulatedBroker
    let topics = TopicNames()

    init(partitions: Int32 = 2) {
        broker = SimulatedBroker(timeline: timeline)
        for topic in [topics.requests, topics.state, topics.deliveries, topics.deadLetters] {
            broker.addTopic(topic, partitions: partitions)
        }
        broker.group.partitions = partitions
    }

    func process(_ name: String = "p") -> SimulatedProcess {
        SimulatedProcess(name: name, clock: MachineClock(timeline.clock, error: 0), timeline: timeline)
    }

    func link(
        _ name: String = "a",
        transactionalID: String? = nil,
        process: SimulatedProcess? = nil,
        faults script: [Int: LinkFault] = [:],
        bugs: Set<PlantedBug> = []
    ) -> SimulatedLink {
        var faults = FaultPlan(random: SeededGenerator(seed: 1))
        faults.script = script
        return SimulatedLink(
            name: name,
            configuration: .init(topics: topics, transactionalID: transactionalID, bugs: bugs),
            broker: broker,
            process: process ?? self.process(name),
            faults: faults,
            random: SeededGenerator(seed: 7)
        )
    }

    func state(_ partition: Int32 = 0, committed: Bool = true) -> [String] {
        broker.log(topics.state, partition).values(committed: committed)
    }
}

/// A minimal lane: follows the assignment and keeps the records that it reads.
final class Reader {
    let link: SimulatedLink
    private(set) var owned: [Int32] = []
    private(set) var read: [String] = []
    private(set) var hooks: [String] = []

    init(_ link: SimulatedLink) throws {
        self.link = link
        try link.subscribe(
            onAssign: { [unowned self] partitions in
                owned = partitions
                hooks.append("assign \(partitions)")
                return Dictionary(uniqueKeysWithValues: partitions.map { (InputPartition(.requests, $0), 0) })
            },
            onRevoke: { [unowned self] partitions, lost, _ in
                owned = []
                hooks.append("\(lost ? "lost" : "revoke") \(partitions)")
            }
        )
    }

    /// Polls for a number of seconds.
    func poll(seconds: Int = 1) throws {
        let deadline = link.timeline.now + Int64(seconds) * 1_000_000
        while link.timeline.now < deadline {
            _ = try link.poll(within: .milliseconds(100)) { record, _ in
                read.append(String(decoding: record.value ?? [], as: UTF8.self))
            }
        }
    }
}

extension SimulatedLink {
    func publish(_ key: String, _ value: String?, partition: Int32 = 0, tag: UInt = 1) throws(KafkaError) {
        try enqueue(
            LinkRecord(topic: .state, partition: partition, key: bytes(key), value: value.map(bytes), tag: tag)
        )
    }

    /// Serves reports until none is outstanding.
    @discardableResult
    func settle() -> [KafkaDeliveryReport] {
        var reports: [KafkaDeliveryReport] = []
        for _ in 0..<10_000 where outstanding > 0 { serveReports(within: .seconds(1)) { reports.append($0) } }
        return reports
    }
}
