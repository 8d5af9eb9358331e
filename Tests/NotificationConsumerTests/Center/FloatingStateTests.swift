import NotificationModel
import NotificationState
import Testing
import TestSupport

@testable import NotificationConsumer

/// What moves with the recipient when it was stored, is not free to move, or is read again.
@Suite("Moves of calendar triggers without a time zone")
struct FloatingStateTests {
    private static let daily = #"{"hour":9}"#
    private static let repeats = #","repeats":true"#

    @Test func `what only the store has moves, also after restarts, and goes back to the store`() throws {
        var bench = FloatingBench()
        try bench.register("Europe/Berlin", at: "2027-01-15T09:00:00Z")
        try bench.put("a", Self.daily, more: Self.repeats, at: "2027-01-15T10:00:00Z")
        try bench.put("b", #"{"year":2027,"month":1,"day":18,"hour":9}"#, at: "2027-01-15T10:00:00Z")
        try bench.restart(at: "2027-01-15T10:30:00Z")
        #expect(bench.bench.center.residentCount == 0)
        try bench.register("Asia/Shanghai", at: "2027-01-15T11:00:00Z")
        #expect(bench.due("a") == "2027-01-16T01:00:00.000Z" && bench.due("b") == "2027-01-18T01:00:00.000Z")
        try bench.restart(at: "2027-01-15T11:30:00Z")
        #expect(bench.bench.center.residentCount == 0 && bench.bench.center.pendingCount == 2)
        #expect(try bench.fire(at: "2027-01-16T01:00:00Z") == ["a 2027-01-16T01:00:00.000Z"])
        try bench.restart(at: "2027-01-16T01:30:00Z")
        try bench.register("America/Los_Angeles", at: "2027-01-16T02:00:00Z")
        #expect(bench.due("a") == "2027-01-16T17:00:00.000Z" && bench.due("b") == "2027-01-18T17:00:00.000Z")
    }

    @Test func `other recipients and other kinds of triggers stay`() throws {
        var bench = FloatingBench()
        bench.bench.apply(request("i", key("i"), interval(86_400)))
        bench.bench.apply(request("x", key("x", recipient: "anabel"), .floating(.init(dateComponents: .init(hour: 9)))))
        try bench.register("Asia/Shanghai", at: "2027-01-15T11:00:00Z")
        #expect(bench.bench.entry(key("i"))?.pending?.due == at(86_400_000))
        #expect(
            bench.bench.entry(key("x", recipient: "anabel"))?.pending?.due?.rfc3339 == "2027-01-15T09:00:00.000Z"
        )
    }

    @Test func `an occurrence that is overdue stays, and the next one is on the new clock`() throws {
        var bench = FloatingBench()
        try bench.register("Europe/Berlin", at: "2027-01-15T09:00:00Z")
        try bench.put("a", Self.daily, more: Self.repeats, at: "2027-01-15T10:00:00Z")
        try bench.register("Asia/Shanghai", at: "2027-01-16T08:01:00Z")
        #expect(try bench.fire(at: "2027-01-16T08:01:00Z") == ["a 2027-01-16T08:00:00.000Z"])
        #expect(bench.due("a") == "2027-01-17T01:00:00.000Z")
    }

    @Test func `what quiet hours hold back stays, and the next one is on the new clock`() throws {
        var bench = FloatingBench()
        try bench.register("Europe/Berlin", at: "2027-01-15T09:00:00Z")
        let quiet = #"},"quietHours":{"start":"08:00","end":"12:00","policy":"hold","timeZone":"Europe/Berlin"}"#
        try bench.put(
            "a",
            Self.daily,
            more: Self.repeats,
            after: quiet,
            at: "2027-01-15T10:00:00Z"
        )
        #expect(try bench.fire(at: "2027-01-16T08:00:00Z").isEmpty)
        #expect(bench.due("a") == "2027-01-16T11:00:00.000Z")
        try bench.register("Asia/Shanghai", at: "2027-01-16T09:00:00Z")
        #expect(bench.due("a") == "2027-01-16T11:00:00.000Z")
        #expect(try bench.fire(at: "2027-01-16T11:00:00Z") == ["a 2027-01-16T08:00:00.000Z"])
        #expect(bench.due("a") == "2027-01-17T01:00:00.000Z")
    }

    @Test func `what may have been sent stays, and is sent again under the same id`() throws {
        var bench = FloatingBench()
        try bench.register("Europe/Berlin", at: "2027-01-15T09:00:00Z")
        try bench.put("a", Self.daily, more: Self.repeats, at: "2027-01-15T10:00:00Z")
        try bench.restart(at: "2027-01-16T08:00:00Z")
        try bench.register("America/Los_Angeles", at: "2027-01-16T07:59:59Z")
        #expect(bench.due("a") == "2027-01-16T08:00:00.000Z")
        #expect(try bench.fire(at: "2027-01-16T08:00:00Z") == ["a 2027-01-16T08:00:00.000Z"])
        #expect(bench.due("a") == "2027-01-16T17:00:00.000Z")
    }

    // MARK: - Reading again

    @Test func `a registration that is read again moves what is not committed, and announces nothing twice`() throws {
        var bench = FloatingBench()
        try bench.register("Europe/Berlin", at: "2027-01-15T09:00:00Z")
        for name in ["a", "b", "c"] { try bench.put(name, Self.daily, at: "2027-01-15T10:00:00Z") }
        try bench.bench.commit()
        try bench.register("Asia/Shanghai", at: "2027-01-15T11:00:00Z")
        // A crash: of the cut only the first entry was written.
        let changes = bench.bench.center.cut(at: at(0))
        #expect(changes.count == 4 && changes.last?.key == key("").encoded)
        let position = StorePosition(lineage: "test", offset: 2, writtenAt: at(0))
        bench.bench.store.write(Array(changes.prefix(1)), position: position)
        try bench.takeOver(firedThrough: "2027-01-15T11:00:01Z")
        let before = bench.bench.events.count
        let again = try bench.register("Asia/Shanghai", at: "2027-01-15T11:00:00Z")
        #expect(again.map(\.name) == [.scheduled, .scheduled] && bench.bench.events.count == before + 2)
        for name in ["a", "b", "c"] {
            #expect(bench.due(name) == "2027-01-16T01:00:00.000Z")
            #expect(Set(bench.events(name).map(\.eventID)).count == 2)
        }
        #expect(try bench.register("Asia/Shanghai", at: "2027-01-15T11:00:00Z").isEmpty)
    }

    @Test func `what a previous owner may have moved and sent is in doubt`() throws {
        var bench = FloatingBench()
        try bench.register("America/Los_Angeles", at: "2027-01-15T09:00:00Z")
        try bench.put("a", #"{"year":2027,"month":1,"day":15,"hour":9}"#, at: "2027-01-15T10:00:00Z")
        try bench.bench.commit()
        try bench.register("Asia/Shanghai", at: "2027-01-15T12:00:00Z")
        #expect(try bench.fire(at: "2027-01-15T12:00:00Z") == ["a 2027-01-15T01:00:00.000Z"])
        let first = try #require(bench.bench.events.last)
        #expect(!first.inDoubt)
        // A crash before anything of it was committed.
        try bench.takeOver(firedThrough: "2027-01-15T12:00:01Z")
        try bench.register("Asia/Shanghai", at: "2027-01-15T12:00:00Z")
        #expect(try bench.fire(at: "2027-01-15T12:00:05Z") == ["a 2027-01-15T01:00:00.000Z"])
        let second = try #require(bench.bench.events.last)
        #expect(second.inDoubt && second.eventID == first.eventID)
    }

    @Test func `a request at whose position the entry is stays applied when the recipient has moved since`() throws {
        var bench = FloatingBench()
        try bench.register("America/Los_Angeles", at: "2027-01-15T09:00:00Z")
        let (date, offset) = (#"{"year":2027,"month":1,"day":15,"hour":9}"#, bench.bench.offset)
        #expect(try bench.put("a", date, at: "2027-01-15T10:00:00Z") == .applied)
        try bench.register("Asia/Shanghai", at: "2027-01-15T12:00:00Z")
        bench.bench.offset = offset
        #expect(try bench.put("a", date, at: "2027-01-15T10:00:00Z") == .duplicate)
        #expect(bench.bench.center.pendingCount == 1)
    }

    // MARK: - Bounds

    @Test func `a registration moves the entries in pieces, and the record that has the new zone is in the last`()
        throws
    {
        var bench = FloatingBench(limits: .init(entriesPerPiece: 2))
        try bench.register("Europe/Berlin", at: "2027-01-15T09:00:00Z")
        for name in ["a", "b", "c", "d"] {
            try bench.put(name, Self.daily, more: Self.repeats, at: "2027-01-15T10:00:00Z")
        }
        try bench.register("Asia/Shanghai", at: "2027-01-15T11:00:00Z")
        #expect(bench.bench.outcomes.last == .unfinished)
        #expect(bench.bench.recipient(key(""))?.timeZone == "Europe/Berlin")
        var pieces = 1
        while bench.bench.outcomes.last == .unfinished {
            bench.bench.proceed(try FloatingBench.instant("2027-01-15T11:00:00Z").rawValue - at(0).rawValue)
            pieces += 1
        }
        #expect(pieces >= 2 && bench.bench.recipient(key(""))?.timeZone == "Asia/Shanghai")
        #expect(["a", "b", "c", "d"].allSatisfy { bench.zone($0) == "Asia/Shanghai" })
    }

    @Test func `the bytes of what moved count for the next cut`() throws {
        var bench = FloatingBench()
        try bench.register("Europe/Berlin", at: "2027-01-15T09:00:00Z")
        try bench.put("a", Self.daily, at: "2027-01-15T10:00:00Z")
        _ = bench.bench.center.cut(at: try FloatingBench.instant("2027-01-15T10:00:01Z"), all: true)
        _ = bench.bench.center.takeCharge()
        try bench.register("Asia/Shanghai", at: "2027-01-15T11:00:00Z")
        #expect(bench.bench.center.takeCharge() > 512)
    }
}
