import HTTPTesting
import Kafka
import LocalBroker
import NotificationModel
import ServiceSupport
import Testing
import TestSupport

@testable import NotificationProducer

@Suite("Faults", .timeLimit(.minutes(10)), .serialized)
struct FaultTests {
    @Test("Without a broker a call gets 503 with Retry-After, and works when the broker is back")
    func callsWithoutBroker() async throws {
        try await ProducerHarness.with(configure: { $0.http.deadline = .seconds(4) }) { harness in
            let target = "/v1/recipients/u/notifications/i"
            let event = #"{"specversion":"1.0","id":"1","source":"/s","type":"t"}"#
            try await eventually("a call that works") {
                try await harness.http.put(target, #"{"content":{"body":"before"}}"#).status == 202
            }
            try harness.broker.setBroker(isUp: false)
            for answer in [
                try await harness.http.put(target, #"{"content":{"body":"away"}}"#),
                try await harness.http.send("DELETE", target),
                try await harness.http.send(
                    "POST",
                    "/v1/events",
                    headers: [("content-type", "application/cloudevents+json")],
                    body: Array(event.utf8)
                ),
            ] {
                #expect(answer.status == 503, "\(answer.text)")
                #expect(answer.headers["content-type"] == "application/problem+json")
                #expect(answer.headers["retry-after"] != nil)
            }
            // Invalid input is still refused without the broker.
            try await eventually("a refusal sooner than the deadline") {
                try await harness.http.put(target, "{}").status == 400
            }
            try harness.broker.setBroker(isUp: true)
            try await eventually("a call that works") {
                try await harness.http.put(target, #"{"content":{"body":"back"}}"#).status == 202
            }
        }
    }

    @Test(
        "A service without a broker is not ready and gives the reason, serves HTTP, and works with the broker"
    )
    func startWithoutBroker() async throws {
        let broker = try ProducerHarness.makeBroker()
        try broker.setBroker(isUp: false)
        try await ProducerHarness.with(
            rules: IngestTests.rules,
            broker: broker,
            configure: { $0.http.deadline = .milliseconds(500) }
        ) { harness in
            let answer = try await harness.http.put("/v1/recipients/u/notifications/i", #"{"content":{"body":"x"}}"#)
            #expect(answer.status == 503)
            try await eventually("the reason") {
                harness.health.notReady.contains {
                    $0.component == "kafka" && $0.why.contains("waiting for the broker")
                }
            }
            try broker.setBroker(isUp: true)
            try await eventually("readiness") { harness.isReady }
            try await harness.produce([IngestTests.shipped(1).record])
            let records = try await harness.records(ProducerHarness.topics.requests, count: 1)
            #expect(records[0].keyText == "shop/user-42/order-1")
        }
        await broker.shutDown()
    }

    @Test("A broker outage while events are read loses none of them")
    func brokerLost() async throws {
        let count = 300
        try await ProducerHarness.with(rules: IngestTests.rules) { harness in
            try await harness.produce((0..<count).map { IngestTests.shipped($0, customer: "c\($0)").record })
            _ = try await harness.records(ProducerHarness.topics.requests, count: 1)
            try harness.broker.setBroker(isUp: false)
            try await eventually("not being ready") { !harness.isReady }
            try harness.broker.setBroker(isUp: true)
            try await eventually("being ready again") { harness.isReady }
            #expect(try await harness.distinctIDs(ProducerHarness.topics.requests, count: count).count == count)
        }
    }

    @Test("Failed produce requests are retried, and the order of a recipient's requests is kept")
    func produceErrors() async throws {
        try await ProducerHarness.with(rules: IngestTests.rules) { harness in
            harness.broker.inject(
                errors: Array(repeating: KafkaError.Code.notLeader, count: 5),
                on: .produce
            )
            let events = (0..<50).map {
                BusinessEvent.sample(id: "\($0)", subject: "one", data: #"{"notify":1,"customer":"c","order":\#($0)}"#)
            }
            try await harness.produce(events.map(\.record))
            let records = try await harness.records(ProducerHarness.topics.requests, count: 50)
            #expect(records.compactMap(\.keyText) == (0..<50).map { "shop/c/order-\($0)" })
        }
    }

    @Test("A small local queue pauses reading and loses nothing")
    func backpressure() async throws {
        let count = 2_000
        try await ProducerHarness.with(rules: IngestTests.rules, configure: { $0.ingestBufferRecords = 10 }) {
            harness in
            try await harness.produceFast((0..<count).map { IngestTests.shipped($0, customer: "c\($0 % 7)").record })
            let records = try await harness.records(ProducerHarness.topics.requests, count: count)
            #expect(Set(records.compactMap { $0.header("ce_id") }).count == count)
            try await eventually("being ready") { harness.isReady }
        }
    }

    @Test("A shutdown under load loses no event: the next service processes the rest")
    func shutdownUnderLoad() async throws {
        let count = 3_000
        let broker = try ProducerHarness.makeBroker()
        let events = (0..<count).map { IngestTests.shipped($0, customer: "c\($0 % 11)") }
        try await ProducerHarness.with(rules: IngestTests.rules, broker: broker) { harness in
            async let produced: Void = harness.produceFast(events.map(\.record))
            _ = try await harness.records(ProducerHarness.topics.requests, count: 200)
            try await harness.stop()
            try await produced
        }
        try await ProducerHarness.with(rules: IngestTests.rules, broker: broker) { harness in
            let wanted = Set(events.map { "shop/\(Self.customer($0))/order-\($0.id.dropFirst("shipped-".count))" })
            let records = try await harness.records(ProducerHarness.topics.requests, count: count)
            #expect(Set(records.compactMap(\.keyText)) == wanted)
            // A drained shutdown commits everything it published, so there are no duplicates.
            #expect(records.count == count)
        }
        await broker.shutDown()
    }

    @Test("Calls in progress are answered when the service stops")
    func callsUnderShutdown() async throws {
        try await ProducerHarness.with { harness in
            let answers = try await withThrowingTaskGroup(of: Int?.self) { group in
                for index in 0..<40 {
                    group.addTask {
                        // Refused connections arrived too late.
                        let target = "/v1/recipients/u\(index)/notifications/i"
                        return try? await harness.http.put(target, #"{"content":{"body":"x"}}"#).status
                    }
                }
                group.addTask {
                    try await harness.stop()
                    return nil
                }
                var statuses: [Int] = []
                for try await status in group {
                    if let status { statuses.append(status) }
                }
                return statuses
            }
            #expect(answers.allSatisfy { $0 == 202 })
            if !answers.isEmpty {
                let records = try await harness.records(ProducerHarness.topics.requests, count: answers.count)
                #expect(records.count == answers.count)
            }
        }
    }

    private static func customer(_ event: BusinessEvent) -> String {
        (try? JSONValue.parse(event.data))?["customer"]?.stringValue ?? ""
    }
}

extension ProducerHarness {
    /// Publishes without waiting for each acknowledgement.
    func produceFast(_ records: [KafkaProducerRecord]) async throws {
        let producer = try KafkaProducer(
            configuration: .init(client: broker.clientConfiguration(clientID: "test")),
            logger: Self.logger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            for record in records {
                group.addTask { _ = try await producer.send(record) }
            }
            try await group.waitForAll()
        }
        await producer.shutDown(within: .seconds(5))
    }
}
