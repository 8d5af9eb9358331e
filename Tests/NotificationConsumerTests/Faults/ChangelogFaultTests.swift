import Foundation
import Kafka
import LocalBroker
import Logging
import NotificationModel
import NotificationState
import ServiceSupport
import Testing
import TestSupport

@testable import NotificationConsumer

/// A changelog that is incomplete, invalid or unavailable. One after the other: they mostly wait for groups to form.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ChangelogFaultTests {
    @Test func `a replaced or removed record is not checked, and a record without a key is skipped`()
        async throws
    {
        let kafka = try FaultBroker()
        func stray(_ key: String, _ value: String?) -> FaultBroker.Record {
            let value = value.map { Array($0.utf8) }
            return .init(topic: kafka.topics.state, partition: 2, key: Array(key.utf8), value: value)
        }
        var keyless = stray("", "somebody else's")
        keyless.key = nil
        let entry = kafka.entry(1, in: 2)
        var junk = entry
        junk.value = Array("junk".utf8)
        try await kafka.publish([
            kafka.marker(in: 2), kafka.entry(1, in: 2), kafka.entry(2, in: 2),
            stray("never there", nil), keyless,
            stray("somebody else's", "{}"), stray("somebody else's", "more"), stray("somebody else's", nil),
            junk, entry,
            stray("shop/ana/new", #"{"form":99}"#), stray("shop/ana/new", nil),
            stray("marker", "junk"), stray("marker", #"{"form":99,"offsets":[]}"#), stray("marker", nil),
        ])
        try await consuming(kafka.configuration) { consumer in
            try await eventually("what is left is pending", orSay: { "\(consumer.health.notReady)" }) {
                consumer.metric("carillon_schedule_pending") == 2
            }
            #expect(consumer.metric("carillon_state_records_without_key_total") == 1)
            let errors = consumer.log.lines(.error).filter { $0.contains("records without a key") }
            #expect(errors.count == 1 && errors[0].contains(kafka.topics.state), "\(errors)")
        }
        await kafka.broker.shutDown()
    }

    @Test func `a store on disk filled up to a later offset does not hide an unreadable record`() async throws {
        let kafka = try FaultBroker()
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("carillon-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        var configuration = kafka.configuration
        configuration.store.directory = directory.path
        var stray = kafka.entry(0, in: 1)
        stray.key = [0x66, 0xFF, 0x00]
        // Enough records for the store to get some before the end.
        try await kafka.publish(
            [kafka.marker(in: 1), stray] + (0..<2500).map { kafka.entry($0, in: 1) } + [kafka.marker(in: 1)]
        )
        for _ in 0..<2 {
            let refusal = try await RunningConsumer(configuration).refusal()
            guard case .stateUnreadable(_, let places, _, _) = refusal else {
                Issue.record("\(refusal)")
                continue
            }
            #expect(places == [.init(partition: 1, offset: 1)])
        }
        stray.value = nil
        try await kafka.publish([stray])
        try await consuming(configuration) { consumer in
            try await eventually("all is pending", orSay: { "\(consumer.health.notReady)" }) {
                consumer.metric("carillon_schedule_pending") == 2500
            }
        }
        await kafka.broker.shutDown()
    }

    @Test func `one refusal names all unreadable records, up to a limit`() async throws {
        let kafka = try FaultBroker()
        let strays = (0..<80).map { number in
            let key = Array("stray \(number)".utf8)
            return FaultBroker.Record(topic: kafka.topics.state, partition: Int32(number % 2), key: key, value: key)
        }
        try await kafka.publish(strays)
        let text = try await RunningConsumer(kafka.configuration).refusal().description
        #expect(text.contains("and 79 others"), "\(text)")
        #expect(text.contains("carillon state remove 0:0 0:1 ") && text.contains(" 0:39 1:0 "), "\(text)")
        #expect(text.contains(" 1:9 --topic carillon.state"), "\(text)")
        await kafka.broker.shutDown()
    }

    @Test func `a changelog without its beginning is refused, unless the setting permits it, which logs an error`()
        async throws
    {
        let kafka = try FaultBroker()
        // More than the broker keeps of a partition: the oldest records are deleted.
        let padding = Array((#","padding":""# + String(repeating: "x", count: 2_000) + #""}"#).utf8)
        let large = (0..<5_000).map { number in
            var record = kafka.entry(number, in: 1)
            record.value = (record.value ?? []).dropLast() + padding
            return record
        }
        try await kafka.publish(large + [kafka.marker(in: 1)], compression: "none")
        let consumer = try RunningConsumer(kafka.configuration)
        let refusal = try await consumer.refusal()
        guard case .changelogCut(kafka.topics.state, 1, let low) = refusal, low > 0 else {
            Issue.record("\(refusal)")
            return
        }
        let why = try #require(consumer.health.notReady.first?.why)
        #expect(
            why.contains("part of the changelog was thrown away") && why.contains("`consumer.on-gap` to `continue`")
        )

        var configuration = kafka.configuration
        configuration.lane.gap = .continue
        try await consuming(configuration) { consumer in
            try await consumer.ready()
            let kept = Double(5_000 - low)
            try await eventually("what is left is pending") { consumer.metric("carillon_schedule_pending") == kept }
            #expect(consumer.log.lines(.error).contains { $0.contains("changelog") && $0.contains("\(low)") })
        }
        await kafka.broker.shutDown()
    }

    @Test
    func `deleted requests are refused, readiness names the remedy, and they are skipped if the setting permits it`()
        async throws
    {
        let kafka = try FaultBroker()
        // The topic was created again: its end is before the marker.
        try await kafka.publish([kafka.marker(in: 1, offset: 7), kafka.entry(1, in: 1)])
        let consumer = try RunningConsumer(kafka.configuration)
        let refusal = try await consumer.refusal()
        #expect(refusal == .gap(topic: kafka.topics.requests, partition: 1, marker: 7, low: 0, high: 0))
        let why = try #require(consumer.health.notReady.first?.why)
        #expect(why.contains("requests are missing; set `consumer.on-gap` to `continue`"), "\(why)")

        var configuration = kafka.configuration
        configuration.lane.gap = .continue
        try await consuming(configuration) { consumer in
            try await consumer.ready()
            try await eventually("what was pending is") { consumer.metric("carillon_schedule_pending") == 1 }
            #expect(consumer.log.lines(.error).contains { $0.contains("requests") && $0.contains("lost") })
        }
        await kafka.broker.shutDown()
    }

    /// The entry's applied offset is after the end of the new topic, and it knows ids derived from the old topic's offsets.
    @Test func `a topic of requests that was created again is read from its beginning, as a new one`() async throws {
        let kafka = try FaultBroker()
        let key = key("order", recipient: "r")
        let partition = kafka.partition(of: key)
        var entry = StateEntry()
        entry.applied[.requests].offset = 900
        let now = SystemClock.now()
        for offset in 0..<3 {
            let old = RequestID.derive(topic: kafka.topics.requests, partition: partition, offset: Int64(offset))
            entry.remember(old, at: now, since: now.adding(milliseconds: -1000))
        }
        entry.touched = now
        try await kafka.publish([
            .init(topic: kafka.topics.state, partition: partition, key: key.encoded, value: entry.json),
            kafka.marker(in: partition, offset: 1000),
        ])
        let value = Array(#"{"content":{"title":"T"}}"#.utf8)
        func request() -> FaultBroker.Record {
            .init(topic: kafka.topics.requests, partition: partition, key: key.encoded, value: value)
        }
        try await kafka.publish([request()])
        var configuration = kafka.configuration
        configuration.lane.gap = .continue
        configuration.lane.start = .earliest
        try await consuming(configuration) { consumer in
            try await consumer.ready()
            try await kafka.publish([request()])
            try await eventually("both are delivered") { try await kafka.events(.delivered).count == 2 }
        }
        // The next start finds the new life, and nothing to replay.
        try await consuming(configuration) { consumer in
            try await consumer.ready()
            try await kafka.publish([request()])
            try await eventually("the third is delivered") { try await kafka.events(.delivered).count == 3 }
            #expect(!consumer.log.lines(.error).contains { $0.contains("requests") })
        }
        let markers = try await kafka.records(kafka.topics.state).filter {
            $0.key == StateMarker.key && $0.partition == partition
        }
        let last = try StateMarker(json: try #require(markers.last?.value))
        #expect(last.lives == [kafka.topics.requests: 1] && last.offsets[kafka.topics.requests] == 3)
        await kafka.broker.shutDown()
    }

    @Test func `a restore reports its progress, waits for an unavailable broker, and completes`() async throws {
        let kafka = try FaultBroker()
        let entries = 15_000
        try await kafka.publish((0..<entries).map { kafka.entry($0, in: 3) } + [kafka.marker(in: 3)])
        var configuration = kafka.configuration
        // A slow restore: many small, slow fetches, none ahead of what is read, also where other tests take the time.
        configuration.kafkaProperties["fetch.message.max.bytes"] = "20000"
        configuration.kafkaProperties["queued.min.messages"] = "1"
        try kafka.broker.setLatency(.milliseconds(50))
        try await consuming(configuration) { consumer in
            try await eventually("progress is reported") {
                let remaining = consumer.metric("carillon_restore_remaining_records") ?? 0
                return remaining > 0 && remaining < Double(entries)
                    && consumer.health.notReady.contains { $0.why.contains("0000 of \(entries + 1) offsets") }
            }
            try kafka.broker.setBroker(isUp: false)
            try await Task.sleep(for: .seconds(1))
            #expect(!consumer.health.notReady.isEmpty)
            try kafka.broker.setLatency(.zero)
            try kafka.broker.setBroker(isUp: true)
            try await consumer.ready()
            try await eventually("everything is pending", orSay: { "\(consumer.log.lines(.error))" }) {
                consumer.metric("carillon_schedule_pending") == Double(entries)
                    && consumer.metric("carillon_restore_remaining_records") == 0
            }
        }
        await kafka.broker.shutDown()
    }

    @Test
    func
        `if the whole topic is published again after a restart, all requests are duplicates, without events or changes`()
        async throws
    {
        let kafka = try FaultBroker()
        let requests = (0..<300).map { kafka.request("q\($0)", interval: $0 % 3 == 0 ? 86_400 : nil) }
        var configuration = kafka.configuration
        configuration.lane.start = .earliest
        try await kafka.publish(requests)
        try await consuming(configuration) { consumer in
            try await eventually("all is applied") {
                consumer.metric("carillon_requests_total{outcome=\"applied\"}") == 300
            }
        }
        let events = try await kafka.records(kafka.topics.deliveries).count
        #expect(events == 300)
        try await kafka.publish(requests)
        try await consuming(configuration) { consumer in
            try await eventually("all is known") {
                consumer.metric("carillon_requests_total{outcome=\"duplicate\"}") == 300
            }
            #expect(consumer.metric("carillon_requests_total{outcome=\"applied\"}") ?? 0 == 0)
            let told = consumer.log.lines(.debug).filter { $0.contains("a duplicate is dropped") }
            #expect(told.count == 300 && told[0].contains("request.id") && told[0].contains("q"), "\(told.prefix(1))")
            try await eventually("what was pending is") { consumer.metric("carillon_schedule_pending") == 100 }
        }
        #expect(try await kafka.records(kafka.topics.deliveries).count == events)
        await kafka.broker.shutDown()
    }
}
