import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// The recipients' records in memory, from a change to the commit of its cut.
struct RecipientSetTests {
    private static let ana = key("", recipient: "ana")

    private static func record(_ count: Int) -> RecipientRecord {
        var record = RecipientRecord()
        record.removals = (0..<count).map { .init(id: id("r\($0)"), offset: Int64($0), closed: at(0)) }
        return record
    }

    private static func cut(_ set: inout RecipientSet) -> [Int] {
        var found: [Int] = []
        set.cut { _, record in found.append(record.removals.count) }
        return found
    }

    @Test func `a change is in one cut, and may be evicted after its commit`() {
        var set = RecipientSet()
        #expect(set.set(Self.record(1), of: Self.ana).entries == 1)
        #expect(set.set(Self.record(2), of: Self.ana).entries == 0)
        #expect(Self.cut(&set) == [2])
        #expect(Self.cut(&set) == [])
        set.evict(beyond: 0)
        #expect(set.record(of: Self.ana)?.removals.count == 2)
        set.noteCommitted()
        set.evict(beyond: 0)
        #expect(set.record(of: Self.ana) == nil && set.count == 0)
    }

    @Test func `a center lets its records go once their changes are committed`() throws {
        var bench = Bench(LifecycleRules(retention: 86_400_000))
        bench.apply(try DeviceTests.device())
        bench.center.recipients.evict(beyond: 0)
        #expect(bench.center.recipients.count > 0)
        try bench.commit()
        bench.center.recipients.evict(beyond: 0)
        #expect(bench.center.recipients.count == 0)
    }

    @Test func `a record that changes during its cut remains, and is in the next cut`() {
        var set = RecipientSet()
        _ = set.set(Self.record(1), of: Self.ana)
        #expect(Self.cut(&set) == [1])
        #expect(set.set(Self.record(3), of: Self.ana).entries == 0)
        set.noteCommitted()
        #expect(set.record(of: Self.ana)?.removals.count == 3)
        set.evict(beyond: 0)
        #expect(Self.cut(&set) == [3])
    }

    @Test func `the changelog gets a tombstone only for a record that it contains`() {
        var set = RecipientSet()
        _ = set.set(Self.record(1), of: Self.ana)
        #expect(set.set(Self.record(0), of: Self.ana).entries == -1)
        #expect(Self.cut(&set) == [])
        set.noteCommitted()
        set.evict(beyond: 0)
        set.load(Self.ana, Self.record(2))
        #expect(set.set(Self.record(0), of: Self.ana).entries == -1)
        #expect(Self.cut(&set) == [0])
    }

    @Test func `records that were only read are evicted above the limit`() {
        var set = RecipientSet()
        set.load(Self.ana, Self.record(1))
        set.evict(beyond: 1)
        #expect(set.count == 1)
        set.evict(beyond: 0)
        #expect(set.count == 0)
    }
}
