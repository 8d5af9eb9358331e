import Foundation
import Kafka
import LocalBroker
import Logging
import NotificationModel
import NotificationState
import ServiceSupport
import Synchronization
import Testing
import TestSupport

@testable import NotificationConsumer

/// The service on the embedded broker, in this process.
@Suite(.timeLimit(.minutes(10)))
struct ConsumerServiceTests {
    private static let topics = TopicNames()
    private static let partitions = 4

    private static func broker(partitions: Int = partitions) throws -> LocalBroker {
        try LocalBroker(topics: [
            topics.requests: partitions, topics.signals: partitions, topics.devices: partitions,
            topics.tokens: partitions, topics.state: partitions, topics.deliveries: 3,
            topics.deadLetters: 2,
        ])
    }

    private static func configuration(_ broker: LocalBroker) -> ConsumerServiceConfiguration {
        var configuration = ConsumerServiceConfiguration(bootstrapServers: broker.bootstrapServers)
        configuration.kafkaProperties = LocalBroker.recommendedConsumerProperties
        configuration.lanes = 1
        configuration.lane.start = .earliest
        configuration.drainTimeout = .seconds(10)
        return configuration
    }

    /// Runs the service while the body runs, then shuts it down.
    private static func serving<Result: Sendable>(
        _ configuration: ConsumerServiceConfiguration,
        health: Health = Health(),
        registry: PrometheusRegistry = PrometheusRegistry(),
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let service = try ConsumerService(
            configuration: configuration,
            health: health,
            registry: registry,
            logger: quiet
        )
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                try await service.run()
                return nil
            }
            group.addTask { try await body() }
            var result: Result?
            for try await ended in group {
                guard let ended else { break }
                result = ended
                group.cancelAll()
            }
            return try #require(result)
        }
    }

    private static func record(
        _ name: String,
        _ key: NotificationKey,
        _ json: String?,
        headers: [KafkaHeader] = [],
        partition: Int32? = nil
    ) -> KafkaProducerRecord {
        KafkaProducerRecord(
            topic: topics.requests,
            partition: partition ?? KafkaPartitioner.partition(forKey: key.recipientBytes, count: Int32(partitions)),
            key: key.encoded,
            value: json.map { Array(#"{"requestId":"\#(name)",\#($0)}"#.utf8) },
            headers: headers
        )
    }

    private static func publish(_ records: [KafkaProducerRecord], on broker: LocalBroker) async throws {
        let producer = try KafkaProducer(
            configuration: .init(client: broker.clientConfiguration(), deliveryTimeout: .seconds(60)),
            logger: quiet
        )
        for record in records { _ = try await producer.send(record) }
        await producer.shutDown(within: .seconds(120))
    }

    /// Reads until the predicate holds.
    private static func read(
        _ topic: String,
        on broker: LocalBroker,
        until isEnough: @Sendable ([KafkaConsumerRecord]) -> Bool
    ) async throws -> [KafkaConsumerRecord] {
        let sequence = KafkaConsumerRecords(
            configuration: .init(client: broker.clientConfiguration()),
            topics: [topic],
            start: .beginning,
            logger: quiet
        )
        var read: [KafkaConsumerRecord] = []
        for try await record in sequence {
            read.append(record)
            if isEnough(read) { break }
        }
        return read
    }

    @Test func `a request becomes a delivered event with its headers, key, partition and trace`() async throws {
        let broker = try Self.broker()
        let key = try NotificationKey(application: "shop", recipient: "ana/1", identifier: "order%1")
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        try await Self.publish(
            [
                Self.record(
                    "a",
                    key,
                    #""content":{"title":"Größe \"42\"","userInfo":{"x":[1,2.50,null]}}"#,
                    headers: [.init(name: "traceparent", text: trace), .init(name: "tracestate", text: "v=1")]
                )
            ],
            on: broker
        )
        let events = try await Self.serving(Self.configuration(broker)) {
            try await Self.read(Self.topics.deliveries, on: broker) { $0.count == 1 }
        }
        let event = events[0]
        #expect(event.key == key.encoded && event.key == Array("shop/ana%2F1/order%251".utf8))
        #expect(event.partition == KafkaPartitioner.partition(forKey: Array("ana/1".utf8), count: 3))
        #expect(event.header("ce_specversion") == "1.0")
        #expect(event.header("ce_type") == "carillon.notification.delivered.v1")
        #expect(event.header("ce_source") == "/carillon/default")
        #expect(event.header("ce_subject") == "shop/ana%2F1/order%251")
        #expect(event.header("content-type") == "application/json")
        #expect(event.header("traceparent") == trace && event.header("tracestate") == "v=1")
        #expect(event.header("ce_time").flatMap(Timestamp.init(rfc3339:)) != nil)
        let read = try DeliveryEvent(json: event.value ?? [], name: .delivered)
        #expect(event.header("ce_id") == read.eventID.description)
        #expect(read.requestID == id("a") && read.closes && read.key == key)
        let text = String(decoding: event.value ?? [], as: UTF8.self)
        #expect(text.contains(#""content":{"title":"Größe \"42\"","userInfo":{"x":[1,2.50,null]}}"#))
        await broker.shutDown()
    }

    @Test func `an invalid record becomes a dead letter with the original bytes and Spring's headers`() async throws {
        let broker = try Self.broker()
        let key = key("order")
        let right = KafkaPartitioner.partition(forKey: key.recipientBytes, count: Int32(Self.partitions))
        try await Self.publish(
            [
                KafkaProducerRecord(topic: Self.topics.requests, partition: 1, key: nil, value: Array("x".utf8)),
                Self.record("m", key, #""content":{"title":"T"}"#, partition: (right + 1) % Int32(Self.partitions)),
                KafkaProducerRecord(
                    topic: Self.topics.requests,
                    partition: right,
                    key: key.encoded,
                    value: [0x7b, 0x22, 0xff, 0x22],
                    headers: [.init(name: "mine", text: "kept")]
                ),
                Self.record("ok", key, #""content":{"title":"T"}"#),
            ],
            on: broker
        )
        let letters = try await Self.serving(Self.configuration(broker)) {
            _ = try await Self.read(Self.topics.deliveries, on: broker) { $0.count == 1 }
            return try await Self.read(Self.topics.deadLetters, on: broker) { $0.count == 3 }
        }
        #expect(Set(letters.compactMap { $0.header("carillon-reason") }) == ["invalid", "misrouted", "not-utf8"])
        let letter = try #require(letters.first { $0.header("carillon-reason") == "not-utf8" })
        #expect(letter.value == [0x7b, 0x22, 0xff, 0x22] && letter.key == key.encoded)
        #expect(letter.header("mine") == "kept")
        #expect(letter.header("kafka_dlt-original-topic") == Self.topics.requests)
        let partition = letter.headers.first { $0.name == "kafka_dlt-original-partition" }?.value
        #expect(partition == withUnsafeBytes(of: right.bigEndian) { Array($0) })
        #expect(letter.headers.first { $0.name == "kafka_dlt-original-offset" }?.value?.count == 8)
        #expect(letter.headers.first { $0.name == "kafka_dlt-original-timestamp" }?.value?.count == 8)
        #expect(letter.header("kafka_dlt-original-consumer-group") == "carillon-consumer")
        #expect(letter.header("kafka_dlt-exception-message")?.isEmpty == false)
        await broker.shutDown()
    }

    @Test func `a restart resumes at the marker, without repeats or losses`() async throws {
        let broker = try Self.broker()
        let first = (0..<300).map {
            Self.record("a\($0)", key("i\($0)", recipient: "r\($0 % 9)"), #""content":{"title":"T"}"#)
        }
        let second = (0..<300).map {
            Self.record("b\($0)", key("j\($0)", recipient: "r\($0 % 9)"), #""content":{"title":"T"}"#)
        }
        var configuration = Self.configuration(broker)
        try await Self.publish(first, on: broker)
        try await Self.serving(configuration) {
            _ = try await Self.read(Self.topics.deliveries, on: broker) { $0.count == 300 }
        }
        try await Self.publish(second, on: broker)
        // The start needs no setting now, because there is a marker.
        configuration.lane.start = .refuse
        let events = try await Self.serving(configuration) {
            try await Self.read(Self.topics.deliveries, on: broker) { $0.count >= 600 }
        }
        let ids = events.map { $0.header("ce_id") }
        #expect(ids.count == 600 && Set(ids).count == 600)
        await broker.shutDown()
    }

    @Test func `a partition without a marker gets one before any request is read`() async throws {
        let broker = try Self.broker()
        let markers = try await Self.serving(Self.configuration(broker)) {
            try await Self.read(Self.topics.state, on: broker) { $0.count == Self.partitions }
        }
        for record in markers {
            let marker = try StateMarker(json: record.value ?? [])
            #expect(record.key == Array("marker".utf8))
            let inputs = InputTopic.allCases.map { (Self.topics[$0], Int64(0)) }
            #expect(
                marker.offsets == Dictionary(uniqueKeysWithValues: inputs)
                    && marker.partitions == Int32(Self.partitions)
            )
        }
        #expect(Set(markers.map(\.partition)).count == Self.partitions)
        await broker.shutDown()
    }

    @Test func `a marker with another number of partitions prevents the start`() async throws {
        let broker = try Self.broker()
        let marker = StateMarker(
            offsets: [Self.topics.requests: 0],
            wallTime: at(0),
            partitions: 8,
            timeZoneDataVersion: "2025b"
        )
        try await Self.publish(
            (0..<4).map {
                KafkaProducerRecord(
                    topic: Self.topics.state,
                    partition: $0,
                    key: Array("marker".utf8),
                    value: marker.json
                )
            },
            on: broker
        )
        await #expect(throws: ConsumerRefusal.self) {
            try await Self.serving(Self.configuration(broker)) { try await Task.sleep(for: .seconds(120)) }
        }
        await broker.shutDown()
    }

    /// The store at the restart: none, its own files, or files of another cluster.
    enum Store: CaseIterable {
        case memory, disk, deleted, foreign
    }

    @Test(arguments: Store.allCases)
    func `pending, delivered and closed requests survive a restart`(store: Store) async throws {
        let broker = try Self.broker()
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("carillon-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        var configuration = Self.configuration(broker)
        if store != .memory { configuration.store.directory = directory.path }
        if store == .foreign {
            let other = try Self.broker()
            var elsewhere = Self.configuration(other)
            elsewhere.store.directory = directory.path
            try await Self.publish([Self.record("x", key("other"), #""content":{"title":"T"}"#)], on: other)
            _ = try await Self.serving(elsewhere) {
                try await Self.read(Self.topics.deliveries, on: other) { $0.count == 1 }
            }
            await other.shutDown()
        }
        @Sendable func timer(_ seconds: Int) -> String {
            #""trigger":{"type":"timeInterval","timeInterval":\#(seconds)},"content":{"title":"T"}"#
        }
        let first = [
            Self.record("soon", key("soon"), timer(5)), Self.record("late", key("late"), timer(86_400)),
            Self.record("sent", key("sent"), #""content":{"title":"T"}"#),
            Self.record("gone", key("gone"), timer(86_400)), Self.record("r", key("gone"), #""remove":"pending""#),
        ]
        try await Self.publish(first, on: broker)
        _ = try await Self.serving(configuration) {
            try await Self.read(Self.topics.deliveries, on: broker) { $0.count == 5 }
        }
        if store == .deleted { try FileManager.default.removeItem(at: directory) }
        configuration.lane.start = .refuse
        let registry = PrometheusRegistry()
        // Repeats are duplicates; a newer request names the one delivered before.
        try await Self.publish(first + [Self.record("new", key("sent"), #""content":{"title":"T"}"#)], on: broker)
        let events = try await Self.serving(configuration, registry: registry) {
            let read = try await Self.read(Self.topics.deliveries, on: broker) { events in
                events.contains {
                    $0.header("ce_subject") == "shop/ana/soon" && $0.header("ce_type")?.contains("delivered") == true
                }
                    && events.contains {
                        String(decoding: $0.value ?? [], as: UTF8.self).contains(#""requestId":"new""#)
                    }
            }
            while !registry.exposition().contains("carillon_schedule_pending 1") {
                try await Task.sleep(for: .milliseconds(50))
            }
            return read
        }
        #expect(Set(events.map { $0.header("ce_id") }).count == events.count)
        let new = events.first { String(decoding: $0.value ?? [], as: UTF8.self).contains(#""requestId":"new""#) }
        let text = String(decoding: new?.value ?? [], as: UTF8.self)
        #expect(text.contains(#""replaces":"sent""#))
        #expect(registry.exposition().contains(#"carillon_requests_total{outcome="duplicate"} 5"#))
        await broker.shutDown()
    }

    @Test func `a broker failure under load loses no request`() async throws {
        let broker = try Self.broker()
        let records = (0..<2_000).map {
            Self.record("a\($0)", key("i\($0)", recipient: "r\($0 % 50)"), #""content":{"title":"T"}"#)
        }
        try await Self.publish(records, on: broker)
        let events = try await Self.serving(Self.configuration(broker)) {
            _ = try await Self.read(Self.topics.deliveries, on: broker) { $0.count >= 100 }
            try broker.setBroker(isUp: false)
            try await Task.sleep(for: .seconds(2))
            try broker.setBroker(isUp: true)
            return try await Self.read(Self.topics.deliveries, on: broker) { events in
                Set(events.map { $0.header("ce_id") }).count == 2_000
            }
        }
        #expect(Set(events.map { $0.header("ce_id") }).count == 2_000)
        await broker.shutDown()
    }

    @Test func `the categories are known before the lanes begin, and followed`() async throws {
        let broker = try Self.broker()
        try broker.createTopic(Self.topics.categories, partitions: 2)
        let set = try CategorySet(body: Array(#"{"categories":[{"identifier":"ORDER"}]}"#.utf8))
        func record(_ application: String) -> KafkaProducerRecord {
            .init(topic: Self.topics.categories, key: Array(application.utf8), value: set.json)
        }
        try await Self.publish([record("shop")], on: broker)
        let consumer = try RunningConsumer(Self.configuration(broker))
        while !consumer.service.isReady { try await Task.sleep(for: .milliseconds(5)) }
        #expect(consumer.service.categories.snapshot() == ["shop": set])
        #expect(consumer.health.readiness["categories"] == true)
        try await Self.publish([record("bank")], on: broker)
        while consumer.service.categories.set(of: "bank") != set { try await Task.sleep(for: .milliseconds(5)) }
        await consumer.stop()
        await broker.shutDown()
    }

    @Test func `every component goes on beating or rests, however much time passes`() async throws {
        let broker = try Self.broker()
        let ahead = Atomic<Int64>(0)
        let health = Health { .now + .seconds(ahead.load(ordering: .relaxed)) }
        try await Self.serving(Self.configuration(broker), health: health) {
            while !health.notReady.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            for _ in 0..<3 {
                ahead.add(3_600, ordering: .relaxed)
                while !health.notLive.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            }
        }
        await broker.shutDown()
    }

    @Test func `readiness reports the reason until partitions are assigned, and metrics report the work`() async throws
    {
        let broker = try Self.broker()
        let (health, registry) = (Health(), PrometheusRegistry())
        #expect(health.notReady.isEmpty)
        try await Self.publish(
            [
                Self.record(
                    "a",
                    key("order"),
                    #""trigger":{"type":"timeInterval","timeInterval":3600},"content":{"title":"T"}"#
                )
            ],
            on: broker
        )
        try broker.setBroker(isUp: false)
        let page = try await Self.serving(Self.configuration(broker), health: health, registry: registry) {
            while health.notReady.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            #expect(health.notReady.map(\.component).contains("lane-0"))
            try broker.setBroker(isUp: true)
            _ = try await Self.read(Self.topics.deliveries, on: broker) { $0.count == 1 }
            #expect(health.notReady.isEmpty)
            while true {
                let page = registry.exposition()
                if page.contains("carillon_schedule_pending 1") { return page }
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        #expect(page.contains(#"carillon_notification_events_total{name="scheduled"} 1"#))
        #expect(page.contains(#"carillon_requests_total{outcome="applied"} 1"#))
        #expect(page.contains("carillon_consumer_lag_records{"))
        await broker.shutDown()
    }
}
