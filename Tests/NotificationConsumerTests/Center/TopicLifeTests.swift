import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// A topic of requests that was created again: its offsets start at 0, and known offsets belong to the previous topic.
struct TopicLifeTests {
    private static func bench(_ life: Int64, over store: MemoryEntryStore) throws -> Bench {
        let rules = LifecycleRules(retention: PartitionCenter.Limits().retention)
        var bench = Bench()
        (bench.store, bench.life) = (store, life)
        bench.center = try PartitionCenter(
            rules: rules,
            limits: .init(),
            store: store,
            zones: zones.database,
            at: at(0)
        )
        return bench
    }

    @Test func `new requests are applied, whatever the offsets of the previous topic`() throws {
        var before = Bench()
        before.offset = 1000
        before.apply(request("a"))
        before.apply(removal("all", key("", recipient: "bo")))
        try before.commit()

        var after = try Self.bench(1, over: before.store)
        #expect(after.apply(request("b")).summary == ["delivered b!"])
        #expect(
            after.entry(key("order"))?.applied[.requests].life == 1
                && after.entry(key("order"))?.applied[.requests].offset == 0
        )
        // Requests with their own ids are still known.
        #expect(after.apply(request("a")).isEmpty)
        after.apply(request("c", key("k", recipient: "bo")))
        #expect(after.apply(removal("all", key("", recipient: "bo"))).isEmpty)
        #expect(after.apply(removal("other", key("", recipient: "bo"))).summary == ["removed c"])
        #expect(after.apply(removal("all", key("", recipient: "bo"))).isEmpty)
        // A repeat in the same topic changes nothing.
        try after.commit()
        var again = try Self.bench(1, over: after.store)
        #expect(again.apply(request("b")).isEmpty)
        let entry = try #require(again.entry(key("order")))
        #expect(try StateEntry(json: entry.json, zones: zones.database) == entry)
    }

    @Test func `an id derived from the position differs after the topic was created again`() {
        let first = RequestID.derive(topic: "requests", partition: 1, offset: 2)
        #expect(first == .derive(topic: "requests", partition: 1, offset: 2, life: 0))
        #expect(first != .derive(topic: "requests", partition: 1, offset: 2, life: 1))
        #expect(first != .derive(topic: "requests", partition: 1, offset: 21))
    }

    @Test func `entries of the first life are written without it`() {
        var bench = Bench()
        bench.apply(request("a"))
        let entry = String(decoding: bench.entry(key("order"))?.json ?? [], as: UTF8.self)
        #expect(!entry.contains("life"))
        let partition = OwnedPartition(
            center: bench.center,
            inputs: .at(1),
            lineage: "l",
            firedThrough: nil,
            hasMarker: true
        )
        _ = partition.takeCut(topics: TopicNames(), partitions: 1, timeZoneDataVersion: "", at: at(0), all: true)
        let marker = String(decoding: partition.marker?.json ?? [], as: UTF8.self)
        #expect(!marker.contains("lives") && !marker.contains("replay"))
    }
}
