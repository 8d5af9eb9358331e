import NotificationModel
import Testing

@testable import carillon

@Suite("The next occurrences of a trigger")
struct TriggerNextTests {
    private static let anchor = Timestamp(rfc3339: "2026-03-28T00:00:00Z") ?? .earliest

    private func lines(_ trigger: String, _ options: String...) throws -> [String] {
        let arguments = ["trigger", "next", trigger] + options
        let command = try #require(try Carillon.understood(arguments) as? TriggerNextCommand)
        return try command.lines(of: trigger, from: Self.anchor, TimeZones.system(standard: command.timeZone))
    }

    @Test func `a calendar's say what the zone and the policies made of them`() throws {
        let trigger =
            #"{"type":"calendar","dateComponents":{"hour":2,"minute":30},"timeZone":"Europe/Berlin","repeats":true}"#
        #expect(
            try lines(trigger, "--count", "3") == [
                "2026-03-28T01:30:00.000Z  2026-03-28T02:30:00+01:00 CET Europe/Berlin",
                "2026-03-29T01:30:00.000Z  2026-03-29T03:30:00+02:00 CEST Europe/Berlin; "
                    + "2026-03-29T02:30:00 does not exist: forward by 3600 s (gap nextTime)",
                "2026-03-30T00:30:00.000Z  2026-03-30T02:30:00+02:00 CEST Europe/Berlin",
            ]
        )
    }

    @Test func `a trigger without a zone has that of the option`() throws {
        let trigger = #"{"type":"calendar","dateComponents":{"hour":9}}"#
        #expect(try lines(trigger) == ["2026-03-28T09:00:00.000Z  2026-03-28T09:00:00+00:00 UTC UTC"])
        let there = try lines(trigger, "--time-zone", "Asia/Shanghai")
        #expect(there == ["2026-03-28T01:00:00.000Z  2026-03-28T09:00:00+08:00 CST Asia/Shanghai"])
    }

    @Test func `an interval's are instants, and a push is due at once`() throws {
        let interval = #"{"type":"timeInterval","timeInterval":3600,"repeats":true}"#
        #expect(try lines(interval, "--count", "2") == ["2026-03-28T01:00:00.000Z", "2026-03-28T02:00:00.000Z"])
        #expect(try lines(#"{"type":"push"}"#) == ["at once"])
        let region = #""region":{"latitude":1,"longitude":1,"radius":1}"#
        let exit = #"{"type":"location",\#(region),"notifyOnExit":true}"#
        #expect(try lines(exit) == ["when a device leaves the region"])
        #expect(try lines(exit, "--json") == ["[]"])
    }

    @Test func `as JSON they are an array of instants`() throws {
        let hourly = #"{"type":"calendar","dateComponents":{"minute":30},"timeZone":"Asia/Kolkata","repeats":true}"#
        let two = #"["2026-03-28T00:00:00.000Z","2026-03-28T01:00:00.000Z"]"#
        #expect(try lines(hourly, "--count", "3", "--json").count == 1)
        let before = try #require(Timestamp(rfc3339: "2026-03-27T23:59:59Z"))
        let command = try #require(
            try Carillon.understood(["trigger", "next", hourly, "--json", "--count", "2"]) as? TriggerNextCommand
        )
        #expect(try command.lines(of: hourly, from: before, TimeZones.system(standard: "UTC")) == [two])
        #expect(try lines(#"{"type":"push"}"#, "--json") == [#"["2026-03-28T00:00:00.000Z"]"#])
    }

    @Test(arguments: [
        (#"{"type":"calendar","dateComponents":{"month":2,"hour":9}}"#, "dateComponents.day"),
        (#"{"type":"calendar","dateComponents":{"year":2020}}"#, "dateComponents"),
        (#"{"type":"calendar","dateComponents":{"hour":9},"timeZone":"Asia/Beijing"}"#, "timeZone"),
        (#"{"type":"location","region":{"latitude":91,"longitude":1,"radius":1},"notifyOnEntry":true}"#, "latitude"),
        ("{", "invalid"),
    ])
    func `a trigger that never fires is bad data, and says where`(_ trigger: String, _ text: String) {
        let failure = #expect(throws: CommandFailure.self) { _ = try lines(trigger) }
        #expect(failure?.status == ExitStatus.badData && failure?.description.contains(text) == true)
    }
}
