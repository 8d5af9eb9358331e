import Foundation
import Kafka
import NotificationModel
import ServiceSupport
import Synchronization
import Testing

@testable import NotificationProducer

@Suite("Reloading rules while the service runs", .timeLimit(.minutes(10)))
struct RuleReloadTests {
    /// A rule file that a test rewrites.
    private final class File {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("carillon-\(UUID().uuidString).yaml")
            .path

        init(_ text: String) throws {
            try write(text)
        }

        deinit {
            try? FileManager.default.removeItem(atPath: path)
        }

        func write(_ text: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
        }
    }

    /// Two rules for one event that name their file.
    private static func rules(_ mark: String) -> String {
        """
        rules:
          - {event: com.example.order.shipped, name: a, recipient: ana, identifier: "a-{{id}}", content: {title: \(mark)}}
          - {event: com.example.order.shipped, name: b, recipient: ben, identifier: "b-{{id}}", content: {title: \(mark)}}
        """
    }

    private static func events(_ range: Range<Int>) -> [KafkaProducerRecord] {
        range.map { BusinessEvent.sample(id: "\($0)", data: "{}").record }
    }

    @Test("Under load every event sees one set of rules, none is lost, and an invalid file changes nothing")
    func underLoad() async throws {
        let file = try File(Self.rules("first"))
        try await ProducerHarness.with(configure: { $0.rulesFile = file.path }) { harness in
            try await harness.produce(Self.events(0..<50))
            _ = try await harness.records(ProducerHarness.topics.requests, count: 100)

            let isDone = Atomic(false)
            let service = harness.service
            async let load: Void = {
                try await harness.produce(Self.events(50..<550))
                isDone.store(true, ordering: .releasing)
            }()
            var reloads = 0
            while !isDone.load(ordering: .acquiring) {
                reloads += 1
                try file.write(Self.rules("mark-\(reloads)"))
                #expect(await service.reloadRules())
                try file.write("rules: [")
                #expect(await !service.reloadRules())
            }
            try await load
            #expect(harness.isReady)
            try file.write(Self.rules("last"))
            #expect(await service.reloadRules())
            try await harness.produce(Self.events(550..<600))

            let records = try await harness.records(ProducerHarness.topics.requests, count: 1_200)
            var marks: [String: Set<String>] = [:]
            for record in records {
                let value = try JSONValue.parse(record.value ?? [])
                let identifier = try #require(value["identifier"]?.stringValue)
                let mark = try #require(value.value(at: "content.title")?.stringValue)
                marks[String(identifier.dropFirst(2)), default: []].insert(mark)
            }
            #expect(marks.count == 600)
            #expect(marks.values.allSatisfy { $0.count == 1 })
            for id in 0..<50 { #expect(marks["\(id)"] == ["first"]) }
            for id in 550..<600 { #expect(marks["\(id)"] == ["last"]) }
            #expect(Set(marks.values.joined()).count > 2, "no reload fell into the load")
        }
    }

    @Test("A missing or oversized file leaves the rules unchanged")
    func unusable() async throws {
        let file = try File(Self.rules("first"))
        try await ProducerHarness.with(configure: { $0.rulesFile = file.path }) { harness in
            try FileManager.default.removeItem(atPath: file.path)
            #expect(await !harness.service.reloadRules())
            try file.write(Self.rules("first") + String(repeating: "\n# filler", count: 200_000))
            #expect(await !harness.service.reloadRules())
            try await harness.produce(Self.events(0..<1))
            let records = try await harness.records(ProducerHarness.topics.requests, count: 2)
            #expect(records.allSatisfy { $0.valueText?.contains("first") == true })
        }
    }

    @Test("A service without rules has none to reload")
    func noRules() async throws {
        try await ProducerHarness.with { harness in
            #expect(await !harness.service.reloadRules())
        }
    }
}
