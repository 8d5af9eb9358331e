import Foundation
import Testing
import TestSupport

/// Calendar triggers through both services. What a clock on the wall shows is computed by Foundation, which has its own time zone
/// data.
extension ServiceScenarios {
    private static let zone = "America/New_York"

    private static func calendar() throws -> Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: zone))
        return calendar
    }

    private static func text(_ date: Date) -> String {
        Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(date)
    }

    /// A one-shot at a full second on the clock in New York.
    ///
    /// - Returns: the body of the request, and the instant.
    private static func oneShot(in seconds: TimeInterval) throws -> (body: String, due: String) {
        let due = Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 + seconds).rounded(.up))
        let parts = try calendar().dateComponents([.year, .month, .day, .hour, .minute, .second], from: due)
        let components: [String: Int?] = [
            "year": parts.year, "month": parts.month, "day": parts.day, "hour": parts.hour, "minute": parts.minute,
            "second": parts.second,
        ]
        let json = JSONLine.text(components.compactMapValues { $0 })
        let trigger = #"{"type":"calendar","dateComponents":\#(json),"timeZone":"\#(zone)"}"#
        return (#"{"content":{"title":"Test"},"trigger":\#(trigger)}"#, text(due))
    }

    @Test("a time on the wall clock of a city is scheduled, and delivered when the clock there shows it")
    func calendarThenDelivered() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        let (body, due) = try Self.oneShot(in: 5)
        let request = try await stack.put(recipient, "order", body)
        #expect(try await stack.event("scheduled", recipient, "order")["nextTriggerDate"] == due)
        let delivered = try await stack.event("delivered", recipient, "order")
        #expect(delivered["requestId"] == request && delivered["occurrence"] == due && delivered["closes"] == "true")
        // Never early, by the owner's clock; both are RFC 3339 in UTC, which compare as texts.
        #expect((delivered.headers["ce_time"] ?? "") >= due)
    }

    @Test("a business event becomes a daily notification, which is pending until it is cancelled")
    func dailyByRule() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        var event = TestEvent(type: "daily", recipient: recipient, identifier: "standup")
        event.data["zone"] = Self.zone
        let before = Date.now
        _ = try await stack.send(event)
        let scheduled = try await stack.event("scheduled", recipient, "standup")
        let time = DateComponents(hour: 9, minute: 30, second: 0)
        // From before the event was sent, or after it was scheduled.
        let expected = try [before, Date.now].compactMap {
            try Self.calendar().nextDate(
                after: $0,
                matching: time,
                matchingPolicy: .nextTimePreservingSmallerComponents
            )
        }
        #expect(expected.map(Self.text).contains(scheduled["nextTriggerDate"] ?? ""), "\(expected)")
        let request = try #require(scheduled["requestId"])
        try await stack.delete(recipient, "standup", state: "pending")
        #expect(try await stack.event("cancelled", recipient, "standup")["requestId"] == request)

        event.data["zone"] = "Asia/Beijing"
        event.id = UUID().uuidString
        let places = try await stack.send(event)
        let letter = try #require(try await stack.deadLetters(of: places).first)
        #expect(letter.text("carillon-reason") == "invalid" && letter.text("carillon-field") == "trigger.timeZone")
    }

    @Test("a calendar trigger outlives the process that planned it")
    func calendarAfterRestart() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        let (body, due) = try Self.oneShot(in: 20)
        let request = try await stack.put(recipient, "order", body)
        try await stack.put(
            recipient,
            "standup",
            #"{"content":{"title":"Test"},"trigger":{"type":"calendar","dateComponents":{"day":31,"hour":9},"missingDay":"previous","repeats":true}}"#
        )
        let planned = try await stack.event("scheduled", recipient, "standup")
        await stack.consumer.child.end()
        try await stack.restartConsumer()
        let delivered = try await stack.event("delivered", recipient, "order")
        #expect(delivered["requestId"] == request && delivered["occurrence"] == due)
        #expect((delivered.headers["ce_time"] ?? "") >= due)
        try await stack.delete(recipient, "standup", state: "pending")
        #expect(try await stack.event("cancelled", recipient, "standup")["requestId"] == planned["requestId"])
    }
}

// With devices.
extension DeviceScenarios {
    /// 9 o'clock in a zone, on a day of the next year.
    private static func nine(in zone: String) throws -> (components: String, date: String) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: zone))
        let year = calendar.component(.year, from: .now) + 1
        let date = try #require(calendar.date(from: DateComponents(year: year, month: 6, day: 15, hour: 9)))
        return (
            #"{"year":\#(year),"month":6,"day":15,"hour":9}"#,
            Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(date)
        )
    }

    @Test("a calendar trigger without a zone is on the clock of the device, and moves with it")
    func floating() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        try await stack.register("phone", of: recipient, settings: #","timeZone":"America/Los_Angeles""#)
        let west = try Self.nine(in: "America/Los_Angeles")
        let body = #"{"content":{"title":"Test"},"trigger":{"type":"calendar","dateComponents":\#(west.components)}}"#
        let request = try await stack.put(recipient, "standup", body)
        let first = try await stack.event("scheduled", recipient, "standup")
        #expect(first["nextTriggerDate"] == west.date && first["closes"] == "false")

        let east = try Self.nine(in: "Asia/Shanghai")
        try await stack.put(
            "phone",
            of: recipient,
            token: "\(recipient)/phone",
            settings: #","timeZone":"Asia/Shanghai""#
        )
        let events = try await stack.events("scheduled", recipient, "standup", count: 2)
        let moved = try #require(events.last)
        #expect(moved["nextTriggerDate"] == east.date && moved["requestId"] == request && moved["closes"] == "false")
        #expect(moved.headers["ce_id"] != first.headers["ce_id"])

        try await stack.delete(recipient, "standup", state: "pending")
        #expect(try await stack.event("cancelled", recipient, "standup")["requestId"] == request)
    }

    @Test("a date that is past on the clock of the device is a dead letter, also where it is not past everywhere")
    func floatingPast() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        try await stack.register("phone", of: recipient, settings: #","timeZone":"Pacific/Kiritimati""#)
        // An hour ago there, and still to come in most zones.
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "Pacific/Kiritimati"))
        let parts = calendar.dateComponents([.year, .month, .day, .hour], from: .now - 3600)
        let components = JSONLine.text(
            ["year": parts.year, "month": parts.month, "day": parts.day, "hour": parts.hour].compactMapValues { $0 }
        )
        let body = #"{"content":{"title":"Test"},"trigger":{"type":"calendar","dateComponents":\#(components)}}"#
        try await stack.put(recipient, "late", body)
        try await stack.put(recipient, "after")
        _ = try await stack.event("delivered", recipient, "after")
        try await eventually("the dead letter") {
            stack.deadLetters.records.contains {
                $0.key == Data("shop/\(recipient)/late".utf8) && $0.text("carillon-reason") == "invalid"
                    && $0.text("carillon-field") == "trigger.dateComponents"
            }
        }
        #expect(!stack.all(recipient).contains { $0["identifier"] == "late" })
    }
}
