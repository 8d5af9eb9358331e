import NotificationDelivery
import NotificationModel
import ServiceSupport
import Testing

@testable import NotificationConsumer

/// A lane whose enrichments never end.
struct EnrichmentLaneTests {
    /// Never answers.
    private final class SilentWorker: EnrichmentWorker {
        private(set) var begun = 0
        private(set) var cancelled = 0

        func begin(_ work: Issued<EnrichmentWork>, _ reply: EnrichmentReply) { begun += 1 }

        func decline(_ work: EnrichmentWork) -> EnrichedContent {
            let isKept = work.key.identifier != "secret"
            return EnrichedContent(
                isKept ? .original : .withheld,
                report: ArraySlice(#"{"reason":"overloaded"}"#.utf8.map(\.self))
            )
        }

        func cancel(_ reply: EnrichmentReply) { cancelled += 1 }

        func close() async {}
    }

    private let broker = MemoryBroker(partitions: 1)
    private let worker = SilentWorker()

    private func ask(_ name: String, isMutable: Bool, interval: Int? = nil) {
        let trigger = interval.map { #","trigger":{"type":"timeInterval","timeInterval":\#($0)}"# } ?? ""
        let value = #"{"requestId":"\#(name)","content":{"title":"T","mutableContent":\#(isMutable)}\#(trigger)}"#
        broker.requests[0].records.append((key(name).encoded, Array(value.utf8)))
    }

    private var outcomes: [String] {
        broker.deliveries.compactMap { bytes in
            guard let event = try? JSONValue.parse(bytes), let id = event["requestId"]?.stringValue else { return nil }
            return "\(id) \(event["enrichment"]?["reason"]?.stringValue ?? event["reason"]?.stringValue ?? "-")"
        }
    }

    @Test func `slow media hold neither reading nor timers: without room a notification goes out as its chain says`()
        throws
    {
        let link = MemoryLink(broker)
        let health = Health()
        var configuration = ConsumerServiceConfiguration(bootstrapServers: [])
        (configuration.lanes, configuration.enrichment.outstanding) = (1, 2)
        let lane = Lane.over(
            link,
            .atLeastOnce,
            configuration: configuration,
            enrichment: worker,
            health: health
        )
        try lane.start()
        try lane.turn()
        ask("timer", isMutable: false, interval: 1)
        for name in ["a", "b", "c", "secret", "d"] { ask(name, isMutable: true) }
        ask("plain", isMutable: false)
        let began = link.now
        for _ in 0..<1000 where outcomes.count < 6 { try lane.turn() }
        #expect(link.now - began < .seconds(3), "nothing has waited for the two that were begun")
        #expect(
            Set(outcomes) == ["timer -", "c overloaded", "secret not-enriched", "d overloaded", "plain -"]
        )
        #expect(worker.begun == 2 && !link.isReadingPaused)
        for _ in 0..<1000 where outcomes.count < 8 { try lane.turn() }
        #expect(Set(outcomes).isSuperset(of: ["a gave-up", "b gave-up"]) && worker.cancelled == 2)
        lane.close()
    }
}
