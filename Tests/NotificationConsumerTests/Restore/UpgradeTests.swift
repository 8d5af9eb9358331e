import NotificationDelivery
import NotificationModel
import NotificationState
import TestSupport
import Testing

@testable import NotificationConsumer

/// A center takes over what the commit aeb27f3 has written in its simulation: sends, doubts, recalls, digests.
struct UpgradeTests {
    private static let rules = LifecycleRules(
        retention: 1000 * 86_400_000,
        channels: ChannelRules(.webhook, and: [.events, .webhook, .test])
    )

    /// The entries, with their keys.
    private static func written() throws -> [(key: NotificationKey, json: [UInt8])] {
        try WrittenState.records(of: "aeb27f3").compactMap { record in
            guard record.key != StateMarker.key else { return nil }
            let key = try NotificationKey(encoded: record.key)
            return key.isWholeRecipient ? nil : (key, record.value)
        }
    }

    /// A center that has taken the entry over.
    private static func takeOver(_ key: NotificationKey, _ json: [UInt8]) throws -> Bench {
        let head = try StateEntry.head(of: json)
        let store = MemoryEntryStore()
        store.write(
            [StoreChange(key: key.encoded, value: json, due: head.due, touched: head.touched, open: head.open)],
            position: StorePosition(lineage: "test", offset: 1, writtenAt: at(0))
        )
        return Bench(Self.rules, over: store, firedThrough: head.touched)
    }

    /// Lets time pass until nothing is open that ends by itself. Whatever is asked of channels and enrichment is answered.
    private static func finish(_ bench: inout Bench, from start: Timestamp) throws {
        var (sends, enrichments) = (0, 0)
        var now = start.rawValue - at(0).rawValue
        for pause: Int64 in [0, 1000, 60_000, 3_600_000, 86_400_000, 40 * 86_400_000, 400 * 86_400_000] {
            now += pause
            repeat {
                while try bench.center.refill(at: at(now)) > 0 {}
                bench.fire(now)
                for send in bench.sends[sends...] { _ = try bench.center.apply(.accepted, to: send, at: at(now)) }
                sends = bench.sends.count
                for work in bench.enrichments[enrichments...] {
                    _ = try bench.center.apply(.init(.original, report: []), to: work, at: at(now))
                }
                enrichments = bench.enrichments.count
                bench.fire(now)
            } while bench.sends.count > sends || bench.enrichments.count > enrichments
        }
    }

    @Test("each request that was open ends once, and what is written of its entry is read again")
    func open() throws {
        let written = try Self.written()
        #expect(written.count > 100)
        for (key, json) in written {
            let entry = try StateEntry(json: json, zones: zones.database)
            var bench = try Self.takeOver(key, json)
            try Self.finish(&bench, from: entry.touched)
            let closings = bench.events.filter(\.closes).map(\.requestID)
            #expect(Set(closings).count == closings.count, "\(String(decoding: json, as: UTF8.self))")
            for id in Self.ending(entry) {
                #expect(closings.contains(id), "\(id) of \(String(decoding: json, as: UTF8.self))")
            }
            try bench.commit()
            let left = bench.entry(key)
            #expect(try left.map { try StateEntry(json: $0.json, zones: zones.database) } == left)
        }
    }

    /// The requests of an entry that end by themselves: no repeats, and none that waits for a region.
    private static func ending(_ entry: StateEntry) -> [RequestID] {
        var ids: [RequestID] = []
        if let handover = entry.handover, handover.closes { ids.append(handover.showing.requestID) }
        if let pending = entry.pending {
            switch pending.timer {
            case .scheduled(let schedule, _) where schedule.repeats: break
            case .region: break
            case .held, .turn, .digest, .scheduled: ids.append(pending.requestID)
            }
        }
        return ids
    }
}
