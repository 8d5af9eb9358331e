import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// The lifecycle, tested as values.
struct NotificationCenterTests {
    @Test func `a request without a trigger is delivered immediately and closes`() {
        var bench = Bench()
        let events = bench.apply(request("a"))
        #expect(events.summary == ["delivered a!"])
        #expect(events[0].content == content && events[0].channel == "events" && events[0].occurrence == nil)
        #expect(bench.entry(key("order"))?.delivered?.requestID == id("a"))
    }

    @Test func `a newer request replaces the delivered notification and names its request`() {
        var bench = Bench()
        bench.apply(request("a"))
        let events = bench.apply(request("b"), 5)
        #expect(events.summary == ["delivered b!"])
        #expect(events[0].replaces == id("a"))
    }

    @Test func `a scheduled request is sent at its due time, never before, and closes`() {
        var bench = Bench()
        let scheduled = bench.apply(request("a", interval(60)))
        #expect(scheduled.summary == ["scheduled a"])
        #expect(scheduled[0].nextTriggerDate == at(60_000))
        #expect(bench.fire(59_999).isEmpty)
        let fired = bench.fire(60_000)
        #expect(fired.summary == ["delivered a!"])
        #expect(fired[0].occurrence == at(60_000))
        #expect(bench.center.pendingCount == 0)
    }

    @Test func `a newer request replaces a pending one completely`() {
        var bench = Bench()
        bench.apply(request("a", interval(60)))
        let events = bench.apply(request("b", interval(120)), 10)
        #expect(events.summary == ["superseded a!", "scheduled b"])
        #expect(events[0].by == id("b"))
        #expect(events[1].replaces == id("a"))
        #expect(bench.fire(60_000).isEmpty)
        #expect(bench.fire(120_000).summary == ["delivered b!"])
    }

    @Test func `an immediate request supersedes a pending one`() {
        var bench = Bench()
        bench.apply(request("a", interval(60)))
        #expect(bench.apply(request("b"), 10).summary == ["superseded a!", "delivered b!"])
        #expect(bench.fire(60_000).isEmpty)
    }

    @Test func `a known request is a duplicate, whether pending, delivered, superseded or cancelled`() {
        var bench = Bench()
        bench.apply(request("a", interval(60)))
        #expect(bench.apply(request("a", interval(60)), 1).isEmpty)
        bench.apply(request("b", interval(60)), 2)
        #expect(bench.apply(request("a"), 3).isEmpty)
        bench.apply(removal("r", key("order"), .pending), 4)
        #expect(bench.apply(request("b"), 5).isEmpty)
        bench.apply(request("c"), 6)
        #expect(bench.apply(request("c"), 7).isEmpty)
        #expect(bench.outcomes.filter { $0 == .duplicate }.count == 4)
    }

    @Test func `a closed id is forgotten after the retention`() {
        var bench = Bench()
        bench.apply(request("a"))
        bench.apply(request("b"), 1)
        let later = PartitionCenter.Limits().retention + 10
        // The time of its record decides whether it is a repeat, not the time of reading.
        #expect(bench.apply(request("b"), later).isEmpty)
        #expect(bench.apply(request("a").written(at: at(later)), later).summary == ["delivered a!"])
    }

    @Test func `a pending request is cancelled, and the event names the removal`() {
        var bench = Bench()
        bench.apply(request("a", interval(60)))
        let events = bench.apply(removal("r", key("order"), .pending), 1)
        #expect(events.summary == ["cancelled a!"])
        #expect(events[0].by == id("r"))
        #expect(bench.fire(60_000).isEmpty)
    }

    @Test func `a removal that arrives too late reports the known state`() {
        var bench = Bench()
        bench.apply(request("a"))
        let late = bench.apply(removal("r", key("order"), .pending), 1)
        #expect(late.summary == ["cancellation.missed r"] && late[0].known == .delivered)
        let nothing = bench.apply(removal("s", key("other"), .all), 2)
        #expect(nothing.summary == ["cancellation.missed s"] && nothing[0].known == .unknown)
        // Only its id is kept.
        #expect(bench.entry(key("other"))?.known.map(\.id) == [id("s")])
        #expect(bench.entry(key("other"))?.delivered == nil && bench.center.pendingCount == 0)
    }

    @Test func `a removal of delivered notifications keeps pending ones, and vice versa`() {
        var bench = Bench()
        bench.apply(request("a", interval(60, repeats: true)))
        bench.fire(60_000)
        #expect(bench.apply(removal("r", key("order"), .delivered), 60_001).summary == ["removed a"])
        #expect(bench.fire(120_000).summary == ["delivered a"])
        #expect(bench.apply(removal("s", key("order"), .pending), 120_001).summary == ["cancelled a!"])
        #expect(bench.entry(key("order"))?.delivered?.requestID == id("a"))
    }

    @Test func `a removal of all has an event for each of the recipient's notifications, and for no others`() {
        var bench = Bench()
        bench.apply(request("a", key("one"), interval(60)))
        bench.apply(request("b", key("two")))
        bench.apply(request("c", key("one", recipient: "bo"), interval(60)))
        bench.apply(request("d", key("one", application: "bank"), interval(60)))
        #expect(bench.apply(removal("r", key("")), 1).summary == ["cancelled a!", "removed b"])
        #expect(bench.center.pendingCount == 2)
        let again = bench.apply(removal("s", key("")), 2)
        #expect(again.summary == ["cancellation.missed s"])
    }

    @Test func `an older version of a request or removal is superseded on arrival`() {
        var bench = Bench()
        bench.apply(request("a", version: 7, interval(60)))
        let old = bench.apply(request("b", version: 6), 1)
        #expect(old.summary == ["superseded b!"] && old[0].by == id("a"))
        #expect(bench.apply(removal("r", version: 6), 2).summary == ["superseded r!"])
        #expect(bench.apply(removal("s", version: 8), 3).summary == ["cancelled a!"])
        #expect(bench.apply(request("c", version: 7), 4).summary == ["superseded c!"])
    }

    @Test func `a removal with a newer version cancels a request that arrives later`() {
        var bench = Bench()
        bench.apply(removal("r", version: 2))
        #expect(bench.apply(request("a", version: 1), 1).summary == ["superseded a!"])
    }

    @Test func `an expired request is not sent, on arrival, when it is scheduled and when it is due`() {
        var bench = Bench()
        #expect(bench.apply(request("a", expiration: at(0)), 0).summary == ["expired a!"])
        #expect(bench.apply(request("b", interval(60), expiration: at(30_000)), 1).summary == ["expired b!"])
        bench.apply(request("c", interval(60), expiration: at(61_000)), 2)
        #expect(bench.fire(61_000).summary == ["expired c!"])
    }

    @Test func `a repeating request continues without drift and ends at its expiration`() {
        var bench = Bench()
        bench.apply(request("a", interval(60, repeats: true), expiration: at(200_000)))
        let first = bench.fire(60_250)
        #expect(first.summary == ["delivered a"] && first[0].occurrence == at(60_000))
        let second = bench.fire(120_000)
        #expect(second.summary == ["delivered a"] && second[0].replaces == nil)
        #expect(bench.fire(180_000).summary == ["delivered a", "expired a!"])
    }

    @Test func `occurrences missed during an outage are reported once, and the last one fires`() {
        var bench = Bench()
        bench.apply(request("a", interval(60, repeats: true)))
        let events = bench.fire(60_000 * 10 + 5)
        #expect(events.summary == ["missed a", "delivered a"])
        #expect(events[0].first == at(60_000) && events[0].last == at(60_000 * 9) && events[0].count == 9)
        #expect(events[1].occurrence == at(600_000))
    }

    @Test(arguments: [MisfirePolicy.next, .drop])
    func `a repeating request that skips missed occurrences waits for the next`(policy: MisfirePolicy) {
        var bench = Bench()
        bench.apply(request("a", interval(3600, repeats: true, misfire: policy)))
        let events = bench.fire(2 * 3_600_000 + 60_000)
        #expect(events.summary == ["missed a"] && events[0].count == 2)
        #expect(bench.fire(3 * 3_600_000).summary == ["delivered a"])
    }

    @Test func `a repeat without a policy fires once when less than a quarter of an hour late`() {
        var bench = Bench()
        bench.apply(request("a", interval(3600, repeats: true)))
        #expect(bench.fire(3_600_000 + 15 * 60_000 - 1).summary == ["delivered a"])
        #expect(bench.fire(2 * 3_600_000 + 15 * 60_000).summary == ["missed a"])
    }

    @Test func `a request without repeats fires late by default, and closes unsent when its policy drops it`() {
        var bench = Bench()
        bench.apply(request("a", key("one"), interval(60)))
        bench.apply(request("b", key("two"), interval(60, misfire: .drop)))
        bench.apply(request("c", key("three"), interval(60, misfire: .once)))
        let events = bench.fire(3_600_000)
        #expect(
            Set(events.summary) == ["delivered a!", "missed b", "expired b!", "delivered c!"]
        )
    }

    @Test func `a collapse window holds one notification, and newer requests do not move its end`() {
        var bench = Bench()
        let held = bench.apply(request("a", .immediate(collapseWindow: 10_000)))
        #expect(held.summary == ["held a"] && held[0].until == at(10_000) && held[0].reason == .collapseWindow)
        let newer = bench.apply(request("b", .immediate(collapseWindow: 10_000)), 6_000)
        #expect(newer.summary == ["superseded a!", "held b"] && newer[1].until == at(10_000))
        #expect(bench.fire(9_999).isEmpty)
        #expect(bench.fire(10_000).summary == ["delivered b!"])
    }

    @Test func `jitter delays within its limit, by the same time for each attempt, and the occurrence stays nominal`() {
        var bench = Bench()
        let due = bench.apply(request("a", interval(60, jitter: 30)))[0].nextTriggerDate
        #expect(due.map { $0 >= at(60_000) && $0 <= at(90_000) } == true)
        var other = Bench()
        #expect(other.apply(request("a", interval(60, jitter: 30)))[0].nextTriggerDate == due)
        #expect(bench.fire(90_000)[0].occurrence == at(60_000))
    }

    @Test func `a request read long after its trigger was due is sent now`() {
        var bench = Bench()
        #expect(bench.apply(request("a", interval(60)), 100_000).summary == ["delivered a!"])
    }

    @Test
    func `at the limit the entry unused for longest is forgotten, and a new request is capped when all are pending`()
        throws
    {
        var bench = Bench(limits: .init(maximumEntries: 3))
        for (step, name) in ["a", "b", "c", "d"].enumerated() {
            bench.apply(request(name, key(name)), Int64(step * 20))
            try bench.commit()
        }
        #expect(bench.center.entryCount == 3 && bench.entry(key("a"))?.isEmpty != false)
        for (step, name) in ["e", "f", "g"].enumerated() {
            bench.apply(request(name, key(name), interval(60)), Int64(100 + step * 20))
            try bench.commit()
        }
        let capped = bench.apply(request("h", key("h"), interval(60)), 200)
        #expect(capped.summary == ["suppressed h!"] && capped[0].reason == .capped)
        #expect(bench.apply(request("i", key("e"), interval(60)), 201).summary == ["superseded e!", "scheduled i"])
    }
}
