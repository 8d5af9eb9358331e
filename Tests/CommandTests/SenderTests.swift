import Kafka
import LocalBroker
import NotificationModel
import ServiceSupport
import Synchronization
import Testing
import TestSupport

@testable import carillon

@Suite("Sending", .timeLimit(.minutes(10)))
struct SenderTests {
    private struct Result: Sendable {
        var summary: SendSummary?
        var acknowledged: [MessageLabel] = []
        var troubles: [String] = []
        var failure: CommandFailure?
    }

    /// Values with the same key, of which some are invalid.
    private static func source(_ count: Int, wrong: Set<Int> = []) -> NumberedMessages {
        NumberedMessages(count: count) { number throws(ModelError) in
            guard !wrong.contains(number) else { throw ModelError(.invalid, field: "f", "is wrong") }
            return OutgoingMessage(
                label: .event(id: "\(number)", source: "/test"),
                partitionKey: Array("key".utf8),
                key: Array("key".utf8),
                value: Array("\(number)".utf8),
                headers: KafkaHeaderBuffer()
            )
        }
    }

    private func send(
        to broker: LocalBroker,
        stop: StopSignal = StopSignal(),
        timeout: Duration = .seconds(30),
        configure: @escaping @Sendable (inout Sender.Configuration) -> Void = { _ in },
        onProgress: @escaping @Sendable (SendSummary) -> Void = { _ in },
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        _ source: @escaping @Sendable () -> NumberedMessages
    ) async throws -> Result {
        let connection = Connection(
            bootstrapServers: broker.bootstrapServers,
            properties: [:],
            topics: TopicNames(),
            defaultApplication: "a",
            timeout: timeout
        )
        return try await KafkaThread.run(name: "send") {
            var configuration = Sender.Configuration(connection: connection, topic: "t")
            configure(&configuration)
            var result = Result()
            do throws(CommandFailure) {
                var acknowledged: [MessageLabel] = []
                var troubles: [String] = []
                let output = Sender.Output(
                    acknowledged: { label, partition, offset in
                        #expect(partition >= 0 && offset >= 0)
                        acknowledged.append(label)
                    },
                    trouble: { troubles.append($0) },
                    progress: onProgress
                )
                var source = source()
                if var sender = try Sender(configuration, stop: stop, output: output, now: now) {
                    result.summary = sender.run(&source)
                }
                (result.acknowledged, result.troubles) = (acknowledged, troubles)
            } catch {
                result.failure = error
            }
            return result
        }
    }

    private func values(_ broker: LocalBroker, _ count: Int) async throws -> [String] {
        let records = KafkaConsumerRecords(
            configuration: .init(client: broker.clientConfiguration()),
            topics: ["t"],
            start: .beginning,
            logger: quiet
        )
        var values: [String] = []
        for try await record in records {
            values.append(String(decoding: record.value ?? [], as: UTF8.self))
            if values.count == count { break }
        }
        return values
    }

    @Test func `records with the same key keep their order, and each is acknowledged`() async throws {
        let broker = try LocalBroker(topics: ["t": 3])
        let result = try await send(to: broker, configure: { $0.maximumInFlight = 100 }) { Self.source(2_000) }
        let summary = try #require(result.summary)
        #expect((summary.sent, summary.acknowledged, summary.failed, summary.refused) == (2_000, 2_000, 0, 0))
        #expect(result.acknowledged.count == 2_000)
        #expect(try await values(broker, 2_000) == (1...2_000).map { "\($0)" })
        await broker.shutDown()
    }

    @Test func `sending stops at the first invalid message, and the earlier ones are acknowledged`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        let result = try await send(to: broker) { Self.source(10, wrong: [4, 6]) }
        #expect(result.summary?.acknowledged == 3)
        #expect(result.summary?.refused == 1)
        #expect(result.summary?.unsent == 6)
        #expect(result.summary?.hasRest == false)
        #expect(result.troubles == ["number 4: invalid at f: is wrong"])
        #expect(try await values(broker, 3) == ["1", "2", "3"])
        await broker.shutDown()
    }

    @Test func `or it continues, and reports each`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        let result = try await send(to: broker, configure: { $0.keepsGoing = true }) { Self.source(7, wrong: [4, 6]) }
        #expect(result.summary?.acknowledged == 5)
        #expect(result.summary?.refused == 2)
        #expect(result.summary?.unsent == 0)
        #expect(result.troubles.count == 2)
        #expect(try await values(broker, 5) == ["1", "2", "3", "5", "7"])
        await broker.shutDown()
    }

    @Test func `a record that the broker refuses counts as failed, is reported, and stops sending`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        broker.inject(errors: [.messageTooLarge], on: .produce)
        let result = try await send(to: broker, configure: { $0.maximumInFlight = 1 }) { Self.source(1_000) }
        let summary = try #require(result.summary)
        #expect(summary.failed == 1)
        #expect(summary.acknowledged == summary.sent - 1)
        #expect(summary.sent < 1_000)
        #expect(summary.sent + summary.unsent == 1_000)
        #expect(result.troubles.count == 1)
        #expect(result.troubles.first?.contains("event 1 of /test") == true)
        await broker.shutDown()
    }

    @Test func `the rate is limited`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        // A clock that advances by a millisecond at each reading.
        let begin = ContinuousClock.now
        let looks = Atomic(0)
        // The time of the last handover; the machine determines how long its acknowledgement takes.
        let lastSent = Mutex<Duration?>(nil)
        let result = try await send(
            to: broker,
            configure: { $0.rate = 40 },
            onProgress: { summary in
                if summary.sent == 21 { lastSent.withLock { $0 = $0 ?? summary.elapsed } }
            },
            now: { begin + .milliseconds(looks.add(1, ordering: .relaxed).newValue) }
        ) { Self.source(21) }
        let summary = try #require(result.summary)
        #expect(summary.acknowledged == 21)
        // One immediately, twenty more at 25 ms each, of which a burst can save two.
        let took = try #require(lastSent.withLock { $0 })
        #expect((.milliseconds(450) ... .milliseconds(1_000)).contains(took), "\(took)")
        await broker.shutDown()
    }

    @Test func `after a stop request it ends with the records sent until then`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        let stop = StopSignal()
        let result = try await send(
            to: broker,
            stop: stop,
            configure: { $0.rate = 1_000 },
            onProgress: { if $0.acknowledged > 0 { stop.request() } }
        ) { Self.source(1_000_000) }
        let summary = try #require(result.summary)
        #expect(summary.acknowledged > 0 && summary.acknowledged == summary.sent)
        #expect(summary.sent < 1_000_000)
        #expect(summary.sent + summary.unsent == 1_000_000)
        await broker.shutDown()
    }

    @Test func `a broker that does not answer in time is unavailable, and a stop has priority`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try broker.setBroker(isUp: false)
        let result = try await send(to: broker, timeout: .milliseconds(200)) { Self.source(1) }
        #expect(result.failure?.status == 69)
        #expect(result.failure?.description.contains(broker.bootstrapServers[0]) == true)
        let stop = StopSignal()
        stop.request()
        let stopped = try await send(to: broker, stop: stop) { Self.source(1) }
        #expect(stopped.failure == nil && stopped.summary == nil)
        await broker.shutDown()
    }

    @Test func `when a broker goes down, unacknowledged records fail in time`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        let isDown = Atomic(false)
        let result = try await send(
            to: broker,
            timeout: .seconds(1),
            configure: { $0.rate = 1_000 },
            onProgress: { summary in
                guard summary.acknowledged > 0, !isDown.exchange(true, ordering: .relaxed) else { return }
                #expect(throws: Never.self) { try broker.setBroker(isUp: false) }
            }
        ) { Self.source(1_000_000) }
        let summary = try #require(result.summary)
        #expect(summary.failed > 0)
        #expect(summary.acknowledged + summary.failed == summary.sent)
        #expect(result.troubles.count <= 11)
        await broker.shutDown()
    }

    @Test func `a property that librdkafka does not know is invalid usage`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        let result = try await send(to: broker, configure: { $0.connection.properties["no.such"] = "1" }) {
            Self.source(1)
        }
        #expect(result.failure?.status == 64)
        #expect(result.failure?.description.contains("no.such") == true)
        await broker.shutDown()
    }
}
