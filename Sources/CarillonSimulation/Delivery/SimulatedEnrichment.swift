import NotificationConsumer
import NotificationDelivery
import NotificationModel
import NotificationState
import ServiceSupport

/// Enriches contents after a while, or too late, or never, and sometimes forbids the delivery.
///
/// It belongs to a process and outlives its lanes, so a result may arrive for a lane that has ended.
final class SimulatedEnrichment: EnrichmentWorker {
    /// In milliseconds.
    static let times = (deadline: Int64(6_000), lead: Int64(4_000))

    private let process: SimulatedProcess
    private let timeline: Timeline
    private var random: SeededGenerator
    private let bugs: Set<PlantedBug>
    /// What was last enriched for each key, for a planted bug.
    private var before: [NotificationKey: ArraySlice<UInt8>] = [:]
    /// Nothing is lost, late or forbidden any more.
    var isCalm = false
    private let note: (String) -> Void

    init(
        process: SimulatedProcess,
        timeline: Timeline,
        random: SeededGenerator,
        bugs: Set<PlantedBug>,
        note: @escaping (String) -> Void
    ) {
        (self.process, self.timeline, self.random, self.bugs, self.note) = (process, timeline, random, bugs, note)
    }

    /// The content that results from a request's.
    static func enriched(_ content: String) -> String { "{\"subtitle\":\"enriched\",\(content.dropFirst())" }

    func begin(_ work: Issued<EnrichmentWork>, _ reply: EnrichmentReply) {
        guard !process.isDead else { return }
        var content = work.content
        if bugs.contains(.mixesEnrichments) { content = before.updateValue(content, forKey: work.key) ?? content }
        let text = "\(work.requestID.text.prefix(8)) \(work.key.text)"
        note("enriches \(text) until \(work.end)")
        let isLost = random.chance(100)
        let drawn = random.chance(600) ? random.number(1_000...50_000) : random.number(1_000...9_000_000)
        let verdict = verdict(of: content)
        guard !isLost || isCalm else { return }
        for time in 0..<(random.chance(50) ? 2 : 1) {
            timeline.add(after: (isCalm ? 1_000 : drawn) + Int64(time) * 1_000) { [process, note] in
                guard !process.isDead else { return }
                note("has enriched \(text)")
                reply(EnrichedContent(verdict, report: ArraySlice(Array(#"{"milliseconds":1}"#.utf8))))
            }
        }
    }

    private func verdict(of content: ArraySlice<UInt8>) -> EnrichedContent.Verdict {
        switch random.index(10) {
        case 0 where !isCalm: .withheld
        case 1, 2: .original
        default: .modified(ArraySlice(Array(Self.enriched(String(decoding: content, as: UTF8.self)).utf8)))
        }
    }

    func decline(_ work: EnrichmentWork) -> EnrichedContent {
        EnrichedContent(.original, report: ArraySlice(Array(#"{"reason":"overloaded"}"#.utf8)))
    }

    func cancel(_ reply: EnrichmentReply) {}

    func close() async {}
}
