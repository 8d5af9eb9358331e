import NotificationDelivery
import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// Live Activities that an owner before may have started.
@Suite("Live Activities in doubt")
struct LiveActivityDoubtTests {
    /// A new owner that reads what the one before may have applied.
    private static func successor(of bench: inout Bench) throws -> Bench {
        try bench.commit()
        var next = Bench(LiveActivityTests.rules, over: bench.store, firedThrough: at(5_000))
        (next.center.holdsTimers, next.offset, next.center.keepsRecipients) = (true, 10, true)
        return next
    }

    @Test func `an activity that may have been started for a request of the backlog is ended on its phone only`() throws
    {
        var bench = Bench(LiveActivityTests.rules)
        bench.apply(try DeviceTests.device())
        bench.apply(try LiveActivityTests.phone())
        var next = try Self.successor(of: &bench)
        next.apply(LiveActivityTests.request("a", LiveActivityTests.content(15), at: 5), 5)
        #expect(next.apply(removal("r", at: at(6)), 6).summary == ["cancelled a!"])
        next.center.holdsTimers = false
        next.fire(7)
        #expect(next.sends.isEmpty)
        next.apply(try LiveActivityTests.activity(at: 5_000), 5_000)
        #expect(next.sends.map { LiveActivityTests.told($0) } == ["end 5"])
    }

    @Test
    func `after a removal of the backlog the former activity is ended again, before the next content starts another`()
        throws
    {
        var bench = try LiveActivityTests.started()
        bench.apply(try LiveActivityTests.activity(at: 1_000), 1_000)
        var next = try Self.successor(of: &bench)
        next.apply(removal("r", at: at(2_000)), 5_100)
        next.apply(LiveActivityTests.request("b", LiveActivityTests.content(9), at: 2_100), 5_100)
        next.center.holdsTimers = false
        next.fire(5_200)
        #expect(next.sends.map { LiveActivityTests.told($0) } == ["end 5"])
        try next.answer(.removed(.requested), 5_300)
        #expect(next.sends.count == 2 && LiveActivityTests.told(next.sends.last).hasPrefix("liveActivityStart "))
    }

    @Test(arguments: [ChannelResult.removed(.requested), .gone(at(2_900))])
    func `each activity is ended that an owner before may have left or started`(_ first: ChannelResult) throws {
        var bench = try LiveActivityTests.endedInDoubt()
        let token = String(repeating: "be", count: 32)
        bench.apply(try LiveActivityTests.activity("phone-second", token: token, at: 2_500), 2_500)
        bench.apply(LiveActivityTests.request("b", LiveActivityTests.content(9), at: 3_000), 3_000)
        #expect(bench.sends.last?.registration?.token == token)
        try bench.answer(first, 3_100)
        #expect(LiveActivityTests.told(bench.sends.last).hasPrefix("end "))
        #expect(bench.sends.last?.registration?.token != token)
        try bench.answer(.removed(.requested), 3_200)
        #expect(LiveActivityTests.told(bench.sends.last).hasPrefix("liveActivityStart "))
        try bench.answer(.accepted, 3_300)
        bench.apply(LiveActivityTests.request("c", LiveActivityTests.content(9), at: 4_000), 4_000)
        #expect(bench.sends.count(where: { $0.kind != .remove && $0.registration?.kind == .liveActivity }) == 0)
    }

    @Test func `an end that is sent again ends what an owner before may have started after it`() throws {
        var bench = try LiveActivityTests.started()
        bench.apply(try LiveActivityTests.activity(at: 1_000), 1_000)
        bench.apply(removal("r", key("order"), at: at(2_000)), 2_000)
        #expect(LiveActivityTests.told(bench.sends.last) == "end 2")
        var next = try Self.successor(of: &bench)
        next.center.holdsTimers = false
        next.fire(6_000)
        #expect(LiveActivityTests.told(next.sends.last) == "end 5")
    }

    @Test func `what follows an end that is sent again with a later timestamp has a later one than that`() throws {
        var bench = Bench(LiveActivityTests.rules)
        bench.apply(try LiveActivityTests.phone())
        bench.apply(try LiveActivityTests.activity())
        bench.apply(LiveActivityTests.request("a", LiveActivityTests.content(9), at: 1_000), 1_000)
        try bench.answer(.unanswered(retryAfter: 60_000), 1_100)
        #expect(bench.apply(removal("r", at: at(1_200)), 1_200).summary == ["cancelled a!"])
        #expect(LiveActivityTests.told(bench.sends.last) == "end 2")
        var next = try Self.successor(of: &bench)
        next.center.holdsTimers = false
        next.fire(5_100)
        #expect(LiveActivityTests.told(next.sends.last) == "end 5")
        try next.answer(.removed(.requested), 5_200)
        next.apply(LiveActivityTests.request("b", LiveActivityTests.content(5), at: 6_100), 6_100)
        #expect(LiveActivityTests.told(next.sends.last).hasSuffix(" 6"))
    }

    @Test(arguments: [false, true])
    func `what was cancelled and may have been ended is ended again, and not updated`(isRead: Bool) throws {
        var bench = Bench(LiveActivityTests.rules)
        bench.apply(try LiveActivityTests.phone())
        bench.apply(try LiveActivityTests.activity())
        bench.apply(LiveActivityTests.request("a", LiveActivityTests.content(9), at: 1_000), 1_000)
        try bench.answer(.unanswered(retryAfter: 60_000), 1_100)
        // The removal is read by one owner, or again by the next one.
        if isRead {
            bench = try Self.successor(of: &bench)
        }
        #expect(bench.apply(removal("r", at: at(1_200)), isRead ? 5_100 : 1_200).summary == ["cancelled a!"])
        if !isRead { try bench.answer(.unanswered(retryAfter: 60_000), 1_300) }
        bench.apply(LiveActivityTests.request("b", LiveActivityTests.content(5), at: 1_400), 5_200)
        bench.center.holdsTimers = false
        bench.fire(5_300)
        #expect(LiveActivityTests.told(bench.sends.last).hasPrefix("end "))
        try bench.answer(.removed(.requested), 5_400)
        #expect(LiveActivityTests.told(bench.sends.last).hasPrefix("liveActivityStart "))
    }

    @Test func `an end after the others has the same date of dismissal`() throws {
        var bench = Bench(LiveActivityTests.rules)
        bench.apply(try LiveActivityTests.phone())
        bench.apply(try LiveActivityTests.device("match", "dHN0LWNobmw=", "broadcastChannel"))
        let date = at(3_600_000)
        let content = LiveActivityTests.content(15, #","dismissalDate":"\#(date)""#)
        bench.apply(LiveActivityTests.request("a", content))
        #expect(bench.sends.map { LiveActivityTests.told($0) } == ["liveActivityStart 0", "broadcastChannel 0"])
        try bench.answer(.accepted, 100, number: 0)
        try bench.answer(.deferred(retryAfter: 1_000), 200, number: 1)
        bench.apply(try LiveActivityTests.activity(at: 1_000), 1_000)
        bench.fire(10_000)
        // The channel has not answered when the activity is removed.
        bench.apply(removal("r", key("order"), .delivered, at: at(11_000)), 11_000)
        try bench.answer(.removed(.requested), 11_100)
        try bench.answer(.accepted, 12_000, number: 2)
        let ends = bench.sends.filter { $0.kind == .remove }
        #expect(ends.map { $0.registration?.kind } == [.liveActivity, .broadcastChannel])
        #expect(ends.map { $0.activity?.dismissalDate } == [date, date])
    }

    @Test func `a version before the time of what an owner before may have pushed is outdated`() throws {
        var bench = Bench(LiveActivityTests.rules)
        bench.apply(try LiveActivityTests.phone())
        var next = try Self.successor(of: &bench)
        next.apply(LiveActivityTests.request("a", LiveActivityTests.content(15), at: 4_000), 6_000)
        let version = at(0).rawValue / 1000
        let older = LiveActivityTests.request("b", LiveActivityTests.content(9), at: 4_100, version: version + 3)
        #expect(next.apply(older, 6_000).summary == ["superseded b!"])
        let newer = LiveActivityTests.request("c", LiveActivityTests.content(9), at: 4_200, version: version + 4)
        #expect(next.apply(newer, 6_000).summary == ["superseded a!"])
    }

    @Test func `what caused an end without a removal comes with a later timestamp than the end`() throws {
        var bench = try LiveActivityTests.started()
        bench.apply(try LiveActivityTests.activity(at: 1_000), 1_000)
        bench.apply(LiveActivityTests.request("b", LiveActivityTests.content(9), at: 2_000), 2_000)
        try bench.answer(.failed(retryAfter: 60_000), 2_100)
        bench.apply(removal("r", key("order"), .delivered, at: at(2_500)), 2_500)
        let next = LiveActivityTests.request("c", LiveActivityTests.content(5), at: 3_000, collapseWindow: 5_000)
        bench.apply(next, 3_000)
        #expect(LiveActivityTests.told(bench.sends.last) == "end 3")
        try bench.answer(.rejected(.rejected), 3_100)
        bench.fire(8_000)
        #expect(LiveActivityTests.told(bench.sends.last) == "liveActivity 8")
    }

    @Test func `a version that is the timestamp of the push before is that of no other push`() throws {
        var bench = try LiveActivityTests.started()
        bench.apply(try LiveActivityTests.activity(at: 1_000), 1_000)
        let version = at(0).rawValue / 1000
        bench.apply(LiveActivityTests.request("b", LiveActivityTests.content(9), at: 0, version: version), 1_100)
        #expect(LiveActivityTests.told(bench.sends.last) == "liveActivity 1")
        try bench.answer(.accepted, 1_200)
        bench.apply(removal("r", version: version + 1, at: at(1_300)), 1_300)
        #expect(LiveActivityTests.told(bench.sends.last) == "end 2")
    }

    @Test func `what could only have updated an activity that no phone shows is removed nowhere`() throws {
        var bench = Bench(LiveActivityTests.rules)
        bench.apply(try DeviceTests.device())
        var next = try Self.successor(of: &bench)
        next.apply(LiveActivityTests.request("a", LiveActivityTests.content(15, starts: false), at: 5), 5)
        #expect(next.apply(removal("r", at: at(6)), 6).summary == ["cancelled a!"])
        next.center.holdsTimers = false
        next.fire(7)
        #expect(next.sends.isEmpty)
    }

    @Test(arguments: [false, true])
    func `the token of an activity that was started after an end in doubt is of that one`(isRestarted: Bool) throws {
        var bench = try LiveActivityTests.endedInDoubt()
        bench.apply(LiveActivityTests.request("b", LiveActivityTests.content(9), at: 3_000), 3_000)
        try bench.answer(.unanswered(retryAfter: 40_000), 3_100)
        bench.fire(33_000)
        #expect(LiveActivityTests.told(bench.sends.last) == "liveActivityStart 4")
        try bench.answer(.unanswered(retryAfter: nil), 33_100)
        if isRestarted {
            bench = try Self.successor(of: &bench)
            bench.center.holdsTimers = false
        }
        let token = String(repeating: "be", count: 32)
        bench.apply(try LiveActivityTests.activity("phone-second", token: token, at: 34_000), 34_000)
        bench.fire(90_000)
        #expect(LiveActivityTests.told(bench.sends.last) == "liveActivity 4")
        #expect(bench.sends.last?.registration?.token == token)
    }

    /// With an activity that could not be ended, and a start of another one; neither got an answer.
    private static func startedAgain() throws -> Bench {
        var bench = try LiveActivityTests.endedInDoubt()
        bench.apply(LiveActivityTests.request("b", LiveActivityTests.content(9), at: 3_000), 3_000)
        try bench.answer(.unanswered(retryAfter: 40_000), 3_100)
        bench.fire(33_000)
        #expect(LiveActivityTests.told(bench.sends.last).hasPrefix("liveActivityStart "))
        try bench.answer(.unanswered(retryAfter: nil), 33_100)
        return bench
    }

    @Test func `what could not be ended before another start is ended after it, and then what was started`() throws {
        var bench = try Self.startedAgain()
        bench.apply(removal("s", key("order"), at: at(34_000)), 34_000)
        bench.fire(90_000)
        #expect(LiveActivityTests.told(bench.sends.last).hasPrefix("end "))
        #expect(bench.sends.last?.registration?.token == LiveActivityTests.token)
        let count = bench.sends.count
        try bench.answer(.removed(.requested), 90_100)
        bench.fire(600_000)
        #expect(bench.sends.count == count)
        let token = String(repeating: "be", count: 32)
        bench.apply(try LiveActivityTests.activity("phone-second", token: token, at: 600_100), 600_100)
        #expect(bench.sends.count == count + 1 && LiveActivityTests.told(bench.sends.last).hasPrefix("end "))
        #expect(bench.sends.last?.registration?.token == token)
        try bench.answer(.removed(.requested), 600_200)
        #expect(bench.entry(key("order"))?.isIdle == true)
    }

    @Test func `a token that is registered once more is not of the activity that was started since`() throws {
        var bench = try Self.startedAgain()
        bench.apply(try LiveActivityTests.activity(at: 34_000), 34_000)
        bench.apply(LiveActivityTests.request("c", LiveActivityTests.content(5), at: 35_000), 35_000)
        bench.fire(90_000)
        #expect(LiveActivityTests.told(bench.sends.last).hasPrefix("end "))
        #expect(bench.sends.last?.registration?.token == LiveActivityTests.token)
    }

    @Test func `a removal of what is pending that is read again leaves an activity that is shown as it is`() throws {
        var bench = try LiveActivityTests.started()
        bench.apply(try LiveActivityTests.activity(at: 200), 200)
        bench.apply(LiveActivityTests.request("b", LiveActivityTests.content(9), at: 500, collapseWindow: 4_000), 500)
        var next = try Self.successor(of: &bench)
        #expect(next.apply(removal("r", key("order"), .pending, at: at(5_000)), 5_100).summary == ["cancelled b!"])
        next.center.holdsTimers = false
        next.fire(5_200)
        // It may show what is cancelled.
        #expect(next.sends.map { LiveActivityTests.told($0).hasPrefix("liveActivity ") } == [true])
    }

    @Test func `an app that takes back the token of the former activity says nothing of the one that was started`()
        throws
    {
        var bench = try Self.startedAgain()
        bench.apply(DeviceTests.gone("phone-order", at: 34_000), 34_000)
        bench.apply(removal("s", key("order"), at: at(35_000)), 35_000)
        let count = bench.sends.count
        bench.fire(90_000)
        #expect(bench.sends.count == count)
        let token = String(repeating: "be", count: 32)
        bench.apply(try LiveActivityTests.activity("phone-second", token: token, at: 90_100), 90_100)
        #expect(LiveActivityTests.told(bench.sends.last).hasPrefix("end "))
        #expect(bench.sends.last?.registration?.token == token)
    }

    @Test func `an end that has waited for its token waits for the commit of its decision`() throws {
        var bench = try LiveActivityTests.started()
        bench.center.sendLimit = at(5_000)
        bench.apply(removal("r", key("order"), at: at(3_000)), 3_000)
        bench.apply(try LiveActivityTests.activity(at: 4_000), 4_000)
        #expect(bench.sends.count == 1)
        bench.center.sendLimit = at(7_000)
        bench.fire(5_001)
        #expect(LiveActivityTests.told(bench.sends.last).hasPrefix("end "))
    }

    @Test func `an end that waits for its token was not sent by an owner before`() throws {
        var bench = try LiveActivityTests.started()
        bench.center.sendLimit = at(2_500)
        bench.apply(removal("r", key("order"), at: at(3_000)), 3_000)
        #expect(bench.sends.count == 1)
        var next = try Self.successor(of: &bench)
        next.center.holdsTimers = false
        next.apply(LiveActivityTests.request("b", LiveActivityTests.content(9), at: 6_000), 6_000)
        next.fire(60_000)
        #expect(next.sends.isEmpty)
        next.apply(try LiveActivityTests.activity(at: 61_000), 61_000)
        #expect(next.sends.map { LiveActivityTests.told($0) } == ["liveActivity 6"])
    }

    @Test func `what waited for its time may have been started by an owner before, and is not started twice at once`()
        throws
    {
        var bench = Bench(LiveActivityTests.rules)
        bench.apply(try LiveActivityTests.phone())
        bench.apply(LiveActivityTests.request("a", LiveActivityTests.content(15), collapseWindow: 4_000))
        var next = try Self.successor(of: &bench)
        next.center.holdsTimers = false
        next.fire(5_100)
        #expect(next.sends.isEmpty)
        next.apply(try LiveActivityTests.activity(at: 6_000), 6_000)
        #expect(next.sends.map { LiveActivityTests.told($0).hasPrefix("liveActivity ") } == [true])
    }

    @Test func `an end by a removal ends also what an owner before may have sent after the removal`() throws {
        var bench = try LiveActivityTests.started()
        bench.apply(try LiveActivityTests.activity(at: 1_000), 1_000)
        let version = at(3_000).rawValue / 1000
        var next = try Self.successor(of: &bench)
        next.apply(LiveActivityTests.request("b", LiveActivityTests.content(9), at: 2_380), 6_000)
        next.apply(removal("r", key("order"), .delivered, version: version, at: at(2_390)), 6_000)
        next.apply(LiveActivityTests.request("c", LiveActivityTests.content(3, starts: false), at: 3_000), 6_000)
        next.center.holdsTimers = false
        next.fire(6_000)
        let end = try #require(next.sends.first?.activity?.timestamp)
        #expect(next.sends.first?.kind == .remove && end > version + 1)
    }

    @Test func `without a token to start another one, too, what may have been ended is not updated`() throws {
        var bench = try LiveActivityTests.started()
        bench.apply(try LiveActivityTests.activity(at: 1_000), 1_000)
        var next = try Self.successor(of: &bench)
        next.apply(removal("r", key("order"), .delivered, at: at(2_000)), 5_100)
        next.apply(DeviceTests.gone("phone-start", at: 3_000), 5_100)
        next.apply(LiveActivityTests.request("b", LiveActivityTests.content(9, starts: false), at: 3_100), 5_100)
        next.center.holdsTimers = false
        #expect(next.fire(5_200).summary.contains("suppressed b!"))
        #expect(next.sends.map { LiveActivityTests.told($0).hasPrefix("end ") } == [true])
    }
}
