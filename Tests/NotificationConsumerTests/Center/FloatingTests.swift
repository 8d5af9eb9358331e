import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// Calendar triggers that name no time zone, from their records to their occurrences. It is winter: Los Angeles has -08:00,
/// Berlin +01:00, Shanghai +08:00. The standard zone is UTC.
@Suite("Calendar triggers without a time zone")
struct FloatingTests {
    // MARK: - The zone of a request

    @Test func `a date that is past in the standard zone is due on the clock of the device`() throws {
        var bench = FloatingBench()
        try bench.register("America/Los_Angeles", at: "2027-01-15T09:00:00Z")
        let outcome = try bench.put("a", #"{"year":2027,"month":1,"day":15,"hour":9}"#, at: "2027-01-15T10:00:00Z")
        #expect(outcome == .applied)
        #expect(bench.due("a") == "2027-01-15T17:00:00.000Z")
        #expect(try bench.fire(at: "2027-01-15T16:59:59Z").isEmpty)
        #expect(try bench.fire(at: "2027-01-15T17:00:00Z") == ["a 2027-01-15T17:00:00.000Z"])
    }

    @Test func `a date that is past on the clock of the device is refused, and nothing of it is remembered`() throws {
        var bench = FloatingBench()
        try bench.register("Asia/Shanghai", at: "2027-01-16T01:00:00Z")
        let before = bench.bench.events.count
        let outcome = try bench.put("a", #"{"year":2027,"month":1,"day":16,"hour":9}"#, at: "2027-01-16T03:00:00Z")
        guard case .refused(let error) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(error.reason == .invalid && error.field == "trigger.dateComponents")
        #expect(bench.bench.events.count == before && bench.bench.entry(key("a")) == nil)
        #expect(bench.bench.center.pendingCount == 0)
        // The same id with another date is a new request.
        let again = try bench.put("a", #"{"year":2027,"month":1,"day":17,"hour":9}"#, at: "2027-01-16T03:00:00Z")
        #expect(again == .applied)
        #expect(bench.due("a") == "2027-01-17T01:00:00.000Z")
    }

    @Test func `a refused request leaves what is pending under its identifier, and limits the replay`() throws {
        var bench = FloatingBench()
        try bench.register("Asia/Shanghai", at: "2027-01-16T01:00:00Z")
        try bench.put("a", #"{"hour":9}"#, at: "2027-01-16T02:00:00Z")
        bench.bench.apply(request("now", key("other")), try FloatingBench.milliseconds("2027-01-16T02:00:00Z"))
        let offset = bench.bench.offset
        let date = #"{"year":2027,"month":1,"day":16,"hour":9}"#
        let outcome = try bench.put("b", date, identifier: "a", version: 7, at: "2027-01-16T03:00:00Z")
        guard case .refused = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(bench.bench.entry(key("a"))?.pending?.requestID == id("a"))
        #expect(bench.bench.entry(key("a"))?.version == nil)
        #expect(bench.bench.center.replayEnd(of: .requests) == offset)
    }

    @Test func `a repeat of a known request is a duplicate, also when its date is past by now`() throws {
        var bench = FloatingBench()
        try bench.register("Asia/Shanghai", at: "2027-01-15T09:00:00Z")
        let date = #"{"year":2027,"month":1,"day":16,"hour":9}"#
        #expect(try bench.put("a", date, at: "2027-01-15T10:00:00Z") == .applied)
        #expect(try bench.fire(at: "2027-01-16T01:00:00Z") == ["a 2027-01-16T01:00:00.000Z"])
        #expect(try bench.put("a", date, at: "2027-01-16T03:00:00Z") == .duplicate)
    }

    @Test func `without a device the standard zone counts`() throws {
        var bench = FloatingBench()
        #expect(try bench.put("a", #"{"hour":9}"#, at: "2027-01-15T10:00:00Z") == .applied)
        #expect(bench.due("a") == "2027-01-16T09:00:00.000Z")
        let past = try bench.put("b", #"{"year":2027,"month":1,"day":15,"hour":9}"#, at: "2027-01-15T10:00:00Z")
        guard case .refused(let error) = past else {
            Issue.record("\(past)")
            return
        }
        #expect(error.reason == .invalid && error.field == "trigger.dateComponents")
    }

    @Test(arguments: [
        (#"{"month":9,"hour":9}"#, "trigger.dateComponents.day"), (#"{"hour":24}"#, "trigger.dateComponents.hour"),
    ])
    func `what is wrong in every zone is refused before any zone is known`(components: String, field: String) {
        let trigger = #"{"type":"calendar","dateComponents":\#(components)}"#
        let record = FloatingBench.record("a", trigger, at: at(0))
        let error = #expect(throws: ModelError.self) { try FloatingBench.intake.input(from: record, at: at(0)) }
        #expect(error?.reason == .invalid && error?.field == field)
    }

    // MARK: - A device that moves

    @Test func `the first device that is registered later takes what is pending to its clock`() throws {
        var bench = FloatingBench()
        try bench.put("a", #"{"hour":9}"#, more: #","repeats":true"#, at: "2027-01-15T10:00:00Z")
        try bench.register("America/Los_Angeles", at: "2027-01-15T11:00:00Z")
        #expect(bench.due("a") == "2027-01-15T17:00:00.000Z")
        let event = try #require(bench.bench.events.last)
        #expect(event.name == .scheduled && event.requestID == id("a") && !event.closes)
        #expect(event.nextTriggerDate?.rfc3339 == "2027-01-15T17:00:00.000Z")
        #expect(event.eventID != bench.bench.events.first?.eventID)
        #expect(try bench.fire(at: "2027-01-15T17:00:00Z") == ["a 2027-01-15T17:00:00.000Z"])
        #expect(bench.due("a") == "2027-01-16T17:00:00.000Z")
    }

    @Test func `a repeat goes on at its next time on the new clock, to the east and to the west`() throws {
        var bench = FloatingBench()
        try bench.register("Europe/Berlin", at: "2027-01-15T09:00:00Z")
        try bench.put("a", #"{"hour":9}"#, more: #","repeats":true"#, at: "2027-01-15T10:00:00Z")
        #expect(try bench.fire(at: "2027-01-16T08:00:00Z") == ["a 2027-01-16T08:00:00.000Z"])
        // 20:00 in Shanghai.
        try bench.register("Asia/Shanghai", at: "2027-01-16T12:00:00Z")
        #expect(bench.due("a") == "2027-01-17T01:00:00.000Z")
        #expect(try bench.fire(at: "2027-01-17T01:00:00Z") == ["a 2027-01-17T01:00:00.000Z"])
        // 18:00 of the day before in Los Angeles.
        try bench.register("America/Los_Angeles", at: "2027-01-17T02:00:00Z")
        #expect(bench.due("a") == "2027-01-17T17:00:00.000Z")
        #expect(try bench.fire(at: "2027-01-17T17:00:00Z") == ["a 2027-01-17T17:00:00.000Z"])
        #expect(bench.due("a") == "2027-01-18T17:00:00.000Z")
    }

    @Test func `a one-shot keeps its date and time on the new clock`() throws {
        var bench = FloatingBench()
        try bench.register("Europe/Berlin", at: "2027-01-15T09:00:00Z")
        try bench.put("a", #"{"year":2027,"month":1,"day":18,"hour":9}"#, at: "2027-01-15T10:00:00Z")
        #expect(bench.due("a") == "2027-01-18T08:00:00.000Z")
        try bench.register("America/Los_Angeles", at: "2027-01-15T11:00:00Z")
        #expect(bench.due("a") == "2027-01-18T17:00:00.000Z")
        try bench.register("Asia/Shanghai", at: "2027-01-15T12:00:00Z")
        #expect(bench.due("a") == "2027-01-18T01:00:00.000Z")
        #expect(
            bench.scheduled("a") == [
                "2027-01-18T08:00:00.000Z", "2027-01-18T17:00:00.000Z", "2027-01-18T01:00:00.000Z",
            ]
        )
        #expect(try bench.fire(at: "2027-01-18T01:00:00Z") == ["a 2027-01-18T01:00:00.000Z"])
        #expect(bench.bench.center.pendingCount == 0)
    }

    @Test
    func `a one-shot without a date keeps the date that it has, also when its time comes earlier on the new clock`()
        throws
    {
        var bench = FloatingBench()
        try bench.register("Europe/Berlin", at: "2027-01-15T09:00:00Z")
        try bench.put("a", #"{"hour":9}"#, at: "2027-01-15T10:00:00Z")
        #expect(bench.due("a") == "2027-01-16T08:00:00.000Z")
        // 14:00 of the day before in Los Angeles: after the first 9 o'clock there since the request.
        try bench.register("America/Los_Angeles", at: "2027-01-15T22:00:00Z")
        #expect(bench.due("a") == "2027-01-16T17:00:00.000Z")
        #expect(try bench.fire(at: "2027-01-15T22:00:00Z").isEmpty)
        try bench.register("Asia/Shanghai", at: "2027-01-15T23:00:00Z")
        #expect(bench.due("a") == "2027-01-16T01:00:00.000Z")
    }

    @Test func `one that moves is never due before its notBefore`() throws {
        var bench = FloatingBench()
        try bench.register("America/Los_Angeles", at: "2027-01-15T09:00:00Z")
        let notBefore = #","notBefore":"2027-01-18T12:00:00.000Z""#
        let date = #"{"year":2027,"month":1,"day":18,"hour":9}"#
        try bench.put("a", #"{"hour":9}"#, more: notBefore, at: "2027-01-15T10:00:00Z")
        try bench.put("b", date, more: notBefore, at: "2027-01-15T10:00:00Z")
        #expect(bench.due("a") == "2027-01-18T17:00:00.000Z" && bench.due("b") == "2027-01-18T17:00:00.000Z")
        // 9 o'clock of that day is 01:00Z in Shanghai: the next day, and for a whole date none.
        try bench.register("Asia/Shanghai", at: "2027-01-15T11:00:00Z")
        #expect(bench.due("a") == "2027-01-19T01:00:00.000Z" && bench.due("b") == "2027-01-18T17:00:00.000Z")
    }

    @Test(arguments: [nil, "drop"])
    func `a one-shot that is past on the new clock is due at once, and its misfire policy decides`(
        misfire: String?
    ) throws {
        var bench = FloatingBench()
        try bench.register("America/Los_Angeles", at: "2027-01-15T09:00:00Z")
        let more = misfire.map { #","misfire":"\#($0)""# } ?? ""
        try bench.put("a", #"{"year":2027,"month":1,"day":15,"hour":9}"#, more: more, at: "2027-01-15T10:00:00Z")
        // 20:00 in Shanghai.
        try bench.register("Asia/Shanghai", at: "2027-01-15T12:00:00Z")
        let fired = try bench.fire(at: "2027-01-15T12:00:00Z")
        #expect(fired == (misfire == nil ? ["a 2027-01-15T01:00:00.000Z"] : []))
        #expect(bench.bench.events.last?.name == (misfire == nil ? .delivered : .expired))
        #expect(bench.bench.events.last?.closes == true && bench.bench.center.pendingCount == 0)
    }

    @Test func `one that expires before its time on the new clock ends at once`() throws {
        var bench = FloatingBench()
        try bench.register("Europe/Berlin", at: "2027-01-15T09:00:00Z")
        let more = #"},"expiration":"2027-01-16T12:00:00.000Z""#
        try bench.put("a", #"{"year":2027,"month":1,"day":16,"hour":9}"#, after: more, at: "2027-01-15T10:00:00Z")
        #expect(bench.due("a") == "2027-01-16T08:00:00.000Z")
        try bench.register("America/Los_Angeles", at: "2027-01-15T22:00:00Z")
        #expect(bench.bench.events.last?.name == .expired && bench.bench.events.last?.closes == true)
        #expect(bench.bench.center.pendingCount == 0)
    }

    @Test func `a trigger that names its zone never moves`() throws {
        var bench = FloatingBench()
        try bench.register("Europe/Berlin", at: "2027-01-15T09:00:00Z")
        try bench.put(
            "a",
            #"{"hour":9}"#,
            more: #","timeZone":"Europe/Berlin","repeats":true"#,
            at: "2027-01-15T10:00:00Z"
        )
        try bench.register("Asia/Shanghai", at: "2027-01-15T11:00:00Z")
        #expect(bench.due("a") == "2027-01-16T08:00:00.000Z" && bench.scheduled("a").count == 1)
        try bench.restart(at: "2027-01-15T12:00:00Z")
        try bench.register("America/Los_Angeles", at: "2027-01-15T13:00:00Z")
        #expect(bench.due("a") == "2027-01-16T08:00:00.000Z")
    }

    @Test func `a registration in the same zone, or without one, changes nothing`() throws {
        var bench = FloatingBench()
        try bench.register("Europe/Berlin", at: "2027-01-15T09:00:00Z")
        try bench.put("a", #"{"hour":9}"#, at: "2027-01-15T10:00:00Z")
        for zone in ["Europe/Berlin", nil] { try bench.register(zone, at: "2027-01-15T11:00:00Z") }
        #expect(bench.due("a") == "2027-01-16T08:00:00.000Z" && bench.scheduled("a").count == 1)
        // The clock shows the same in Paris: the zone is written, and nobody needs to know.
        try bench.register("Europe/Paris", at: "2027-01-15T12:00:00Z")
        #expect(bench.due("a") == "2027-01-16T08:00:00.000Z" && bench.scheduled("a").count == 1)
        #expect(bench.zone("a") == "Europe/Paris")
    }

    @Test func `the zone is that of the device that is left, and stays when none is`() throws {
        var bench = FloatingBench()
        try bench.register("Europe/Berlin", device: "tablet", at: "2027-01-15T08:30:00Z")
        try bench.register("Asia/Shanghai", at: "2027-01-15T09:00:00Z")
        try bench.put("a", #"{"hour":9}"#, more: #","repeats":true"#, at: "2027-01-15T10:00:00Z")
        #expect(bench.due("a") == "2027-01-16T01:00:00.000Z")
        try bench.end("phone", at: "2027-01-15T11:00:00Z")
        #expect(bench.due("a") == "2027-01-16T08:00:00.000Z")
        let gone = RetirementSignal(
            device: "tablet",
            token: nil,
            gone: try FloatingBench.instant("2027-01-15T12:00:00Z")
        )
        let now = try FloatingBench.milliseconds("2027-01-15T12:00:00Z")
        bench.bench.apply(DeviceTests.signal(.retirement(gone), at: now), now)
        #expect(bench.due("a") == "2027-01-16T08:00:00.000Z")
        try bench.register("America/Los_Angeles", at: "2027-01-15T13:00:00Z")
        #expect(bench.due("a") == "2027-01-15T17:00:00.000Z")
    }

    @Test func `a retirement takes what is pending to the zone of another device`() throws {
        var bench = FloatingBench()
        try bench.register("Europe/Berlin", device: "tablet", at: "2027-01-15T08:30:00Z")
        try bench.register("Asia/Shanghai", at: "2027-01-15T09:00:00Z")
        try bench.put("a", #"{"hour":9}"#, at: "2027-01-15T10:00:00Z")
        let gone = RetirementSignal(
            device: "phone",
            token: nil,
            gone: try FloatingBench.instant("2027-01-15T11:00:00Z")
        )
        let now = try FloatingBench.milliseconds("2027-01-15T11:00:00Z")
        bench.bench.apply(DeviceTests.signal(.retirement(gone), at: now), now)
        #expect(bench.due("a") == "2027-01-16T08:00:00.000Z")
    }
}
