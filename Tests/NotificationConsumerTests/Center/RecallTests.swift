import NotificationDelivery
import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// Which devices show a notification, and what becomes of it on each when it ends, or when the device is no longer the
/// recipient's.
@Suite("Recalls in the center")
struct RecallTests {
    private static let content = #"{"title":"T"}"#

    private static var rules: LifecycleRules {
        var rules = LifecycleRules(retention: 1_000_000)
        rules.channels = ChannelRules(.test)
        return rules
    }

    /// Of Ana, with a phone and a tablet.
    private static func bench(_ rules: LifecycleRules = rules) throws -> Bench {
        var bench = Bench(rules)
        bench.apply(try DeviceTests.device())
        bench.apply(try DeviceTests.device("tablet", token: tabletToken))
        return bench
    }

    private static let tabletToken = String(repeating: "b2", count: 32)

    private static func removal(_ name: String, _ scope: RemovalScope = .all) -> CenterInput {
        NotificationConsumerTests.removal(name, key("order"), scope)
    }

    /// Another recipient registered the token of a device.
    private static func moved(_ device: String, _ bench: Bench) throws -> CenterInput {
        let claim = try #require(bench.claims.first { $0.claim.owner.identifier == device })
        return DeviceTests.signal(
            .retirement(.init(device: device, token: RecipientRecord.hashPrefix + claim.token, gone: at(9)))
        )
    }

    static func response(_ name: String, to request: String, on device: String) -> CenterInput {
        var response = ResponseSignal(
            identifier: "order",
            requestID: id(request),
            responseID: id(name),
            actionIdentifier: ResponseSignal.defaultAction
        )
        response.device = device
        return DeviceTests.signal(.response(response))
    }

    /// The last send: `recall` with the names of its devices, or the request.
    private static func last(_ bench: Bench) -> String {
        guard let send = bench.sends.last else { return "" }
        guard send.kind == .remove else { return "\(send.requestID)" }
        guard let json = send.devices, case .array(let list)? = try? JSONValue.parse(Array(json)) else {
            return "recall"
        }
        let names = list.compactMap { $0.objectValue?.first { $0.name == "device" }?.value.stringValue }
        return "recall " + names.joined(separator: " ")
    }

    // MARK: - All of its devices

    @Test func `a removal names the devices that show the notification`() throws {
        var bench = Bench(Self.rules)
        bench.apply(try DeviceTests.device())
        bench.apply(try DeviceTests.device("tablet", token: Self.tabletToken, status: .denied))
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.accepted)
        bench.apply(Self.removal("r"))
        #expect(Self.last(bench) == "recall phone")
    }

    @Test func `where no device is known, a removal is for all that the gateway knows`() throws {
        var bench = Bench(Self.rules)
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.accepted)
        bench.apply(Self.removal("r"))
        #expect(Self.last(bench) == "recall")
    }

    @Test
    func `what a device shows that is denied is recalled from it at once, and a newer notification is not for it`()
        throws
    {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.accepted)
        bench.apply(try DeviceTests.device("tablet", token: Self.tabletToken, status: .denied, at: 1))
        #expect(Self.last(bench) == "recall tablet")
        try bench.answer(.accepted)
        bench.apply(DeviceTests.request("b", Self.content))
        try bench.answer(.accepted)
        #expect(Self.last(bench) == "b" && bench.events.last?.name == .delivered)
    }

    @Test
    func
        `a removal that waited for the backlog comes after what the backlog has, for a receiver that ignores older ones`()
        throws
    {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.accepted)
        try bench.commit()
        var next = Bench(Self.rules, over: bench.store, firedThrough: at(1_000))
        (next.center.holdsTimers, next.offset, next.center.keepsRecipients) = (true, 10, true)
        next.apply(try Self.moved("phone", bench), 5)
        next.apply(DeviceTests.request("b", Self.content), 6)
        let newest = next.offset
        next.apply(Self.removal("r", .pending), 7)
        next.center.holdsTimers = false
        next.fire(8)
        let removed = try #require(next.sends.first { $0.kind == .remove })
        #expect(removed.sequence.offset >= newest)
    }

    @Test func `a removal of what is delivered also takes what may be there by an attempt without an answer`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.unanswered(retryAfter: nil), 1)
        bench.apply(Self.removal("r", .delivered), 2)
        bench.fire(100_000)
        #expect(Self.last(bench) == "\(id("a"))")
        #expect(try bench.answer(.accepted, 100_001).summary == ["delivered a!", "removed a"])
        #expect(Self.last(bench) == "recall phone tablet")
    }

    @Test func `what the owner before may have sent is taken back where there is no room for it`() throws {
        let limits = PartitionCenter.Limits(maximumEntries: 1)
        var bench = Bench(Self.rules, over: MemoryEntryStore(), limits: limits, firedThrough: at(1_000))
        bench.apply(request("w", key("other"), interval(60)), 1_001)
        let events = bench.apply(DeviceTests.request("a", Self.content), 1_002)
        #expect(events.summary == ["suppressed a!"] && events[0].inDoubt && events[0].reason == .capped)
        #expect(Self.last(bench) == "recall")
        // The next one waits for its answer.
        bench.apply(DeviceTests.request("b", Self.content), 1_003)
        #expect(bench.sends.count == 1)
        try bench.answer(.removed(.requested), 1_004)
        #expect(Self.last(bench) == "\(id("b"))")
        try bench.answer(.accepted, 1_005)
        #expect(bench.center.inFlight == 0)
    }

    @Test func `what the owner before may have sent, and has expired since, is told as in doubt and taken back`() throws
    {
        func expired(_ plan: CenterInput.Plan, _ expiration: Int64) throws -> (isInDoubt: Bool, sends: Int) {
            var bench = Bench(Self.rules, over: MemoryEntryStore(), firedThrough: at(10_000))
            let events = bench.apply(request("a", plan, expiration: at(expiration)), 30_000)
            #expect(events.summary == ["expired a!"])
            return (try #require(events.first).inDoubt, bench.sends.count)
        }
        #expect(try expired(.immediate(collapseWindow: 0), 20_000) == (true, 1))
        #expect(try expired(interval(5), 20_000) == (true, 1))
        // Its window would end after that.
        #expect(try expired(.immediate(collapseWindow: 5_000), 33_000) == (true, 1))
        // Never due before it expired, or not sent yet.
        #expect(try expired(interval(5), 3_000) == (false, 0))
        #expect(try expired(interval(15), 20_000) == (false, 0))
    }

    @Test(arguments: [11_000, 11_001])
    func `the clock of a producer may be a second ahead of that of the owner before`(time: Int64) throws {
        var bench = Bench(Self.rules, over: MemoryEntryStore(), firedThrough: at(10_000))
        bench.center.holdsTimers = true
        bench.apply(LiveActivityTests.request("a", Self.content, at: time), 20_000)
        let events = bench.apply(Self.removal("r"), 20_000)
        #expect(events.summary == ["cancelled a!"] && events.first?.inDoubt == (time == 11_000))
    }

    @Test func `an answer to what waits in doubt ends what is still being sent`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.commit()
        var next = Bench(Self.rules, over: bench.store, firedThrough: at(1_000))
        (next.offset, next.center.keepsRecipients) = (10, true)
        next.fire(1_001)
        // The owner before may have sent it.
        next.apply(DeviceTests.request("b", Self.content), 1_002)
        #expect(Self.last(next) == "\(id("a"))")
        let events = next.apply(Self.response("r", to: "b", on: "phone"), 1_003)
        #expect(events.summary.prefix(2) == ["superseded a!", "delivered b!"])
    }

    // MARK: - Devices that become known

    @Test func `what all that the gateway knows showed is not taken from the devices that show the next one`() throws {
        var bench = Bench(Self.rules)
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.accepted)
        bench.apply(try DeviceTests.device())
        bench.apply(DeviceTests.request("b", Self.content))
        #expect(try bench.answer(.accepted).summary == ["delivered b!"])
        bench.fire(100_000)
        #expect(Self.last(bench) == "\(id("b"))")
    }

    @Test func `an answer in doubt settles where a notification is: nobody else is asked to remove it`() throws {
        var bench = Bench(Self.rules)
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.unanswered(retryAfter: nil))
        bench.apply(try DeviceTests.device())
        bench.apply(Self.response("r", to: "a", on: "phone"))
        bench.fire(100_000)
        #expect(bench.sends.count == 1 && bench.entry(key("order"))?.screen == nil)
    }

    @Test func `a second answer takes nothing away from those that are still to remove it`() throws {
        var bench = Bench(Self.rules)
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.accepted)
        bench.apply(Self.response("r", to: "a", on: "phone"))
        try bench.answer(.failed(retryAfter: nil))
        bench.apply(Self.response("s", to: "a", on: "tablet"))
        bench.fire(100_000)
        #expect(Self.last(bench) == "recall" && bench.sends.last?.attempt == 2)
    }

    @Test func `a request that one device has answered while others are still to get it is known when it comes again`()
        throws
    {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.unanswered(retryAfter: nil))
        #expect(bench.apply(Self.response("r", to: "a", on: "phone")).summary == ["delivered a!", "removed a"])
        #expect(bench.apply(DeviceTests.request("a", Self.content)).isEmpty && bench.outcomes.last == .duplicate)
    }

    @Test func `where what was delivered cannot be delivered again, one removal ends the doubt`() throws {
        var rules = Self.rules
        rules.keptContentBytes = 0
        var bench = Bench(rules)
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.accepted)
        bench.apply(DeviceTests.request("b", Self.content))
        try bench.answer(.unanswered(retryAfter: nil))
        bench.apply(Self.removal("r", .pending))
        #expect(Self.last(bench) == "recall")
        try bench.answer(.accepted)
        bench.fire(100_000)
        #expect(bench.sends.count == 3 && bench.entry(key("order"))?.isIdle == true)
    }

    // MARK: - A device that changes hands

    @Test func `a removal while a device is asked to remove it reaches the other devices`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.accepted)
        bench.apply(try Self.moved("phone", bench))
        #expect(Self.last(bench) == "recall phone")
        #expect(bench.apply(Self.removal("r")).summary == ["removed a"])
        try bench.answer(.accepted)
        #expect(Self.last(bench) == "recall tablet")
    }

    @Test func `a newer notification does not end the recall from a device that does not get it`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.accepted)
        bench.apply(try Self.moved("phone", bench))
        try bench.answer(.failed(retryAfter: nil))
        bench.apply(DeviceTests.request("b", Self.content))
        #expect(Self.last(bench) == "\(id("b"))")
        #expect(try bench.answer(.accepted).summary == ["delivered b!"])
        bench.fire(100_000)
        #expect(Self.last(bench) == "recall phone")
    }

    @Test func `when all devices change hands, each is asked to remove it, and it is removed`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.accepted)
        #expect(bench.apply(try Self.moved("phone", bench)).isEmpty)
        #expect(bench.apply(try Self.moved("tablet", bench)).summary == ["removed a"])
        #expect(Self.last(bench) == "recall phone")
        try bench.answer(.accepted)
        #expect(Self.last(bench) == "recall tablet")
        #expect(bench.entry(key("order"))?.delivered == nil)
    }

    @Test func `only the devices that show it count: one that was left out does not keep it delivered`() throws {
        var bench = Bench()
        bench.apply(try DeviceTests.device())
        bench.apply(try DeviceTests.device("tablet", token: Self.tabletToken, status: .denied))
        bench.apply(DeviceTests.request("a", Self.content))
        #expect(bench.apply(try Self.moved("phone", bench)).summary == ["removed a"])
        #expect(bench.devices.last?.shows == ["order"])
    }

    @Test func `what was delivered before its first device stays when that device leaves`() throws {
        var bench = Bench()
        bench.apply(DeviceTests.request("a", Self.content))
        bench.apply(try DeviceTests.device())
        #expect(bench.apply(try Self.moved("phone", bench)).isEmpty)
        #expect(bench.devices.last?.shows == [] && bench.entry(key("order"))?.delivered != nil)
    }

    @Test func `a notification in flight to a device that changes hands is withdrawn, or recalled when it is accepted`()
        throws
    {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        bench.apply(try Self.moved("phone", bench))
        #expect(bench.withdrawn == [bench.sends[0].id] && bench.devices.last?.shows == ["order"])
        #expect(try bench.answer(.accepted).summary == ["delivered a!"])
        #expect(Self.last(bench) == "recall phone")
        #expect(bench.entry(key("order"))?.delivered?.devices == ["tablet"])
    }

    @Test func `in flight to the only device, it is delivered, removed and recalled`() throws {
        var bench = Bench(Self.rules)
        bench.apply(try DeviceTests.device())
        bench.apply(DeviceTests.request("a", Self.content))
        bench.apply(try Self.moved("phone", bench))
        #expect(try bench.answer(.accepted).summary == ["delivered a!", "removed a"])
        #expect(Self.last(bench) == "recall phone")
    }

    @Test func `after an attempt without an answer the device that changed hands is recalled, also after a restart`()
        throws
    {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.unanswered(retryAfter: nil))
        bench.apply(try Self.moved("phone", bench))
        try bench.commit()
        var next = Bench(Self.rules, over: bench.store, firedThrough: at(1000))
        next.center.keepsRecipients = true
        next.fire(100_000)
        #expect(try next.answer(.accepted, 100_000).summary == ["delivered a!"])
        #expect(Self.last(next) == "recall phone")
    }

    @Test func `what an owner before may have addressed again is recalled from a device that changed hands`() throws {
        var bench = Bench(Self.rules)
        bench.apply(try DeviceTests.device())
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.commit()
        var next = Bench(Self.rules, over: bench.store, firedThrough: at(1_000))
        (next.center.holdsTimers, next.center.keepsRecipients, next.offset) = (true, true, 10)
        next.apply(try DeviceTests.device("tablet", token: Self.tabletToken, at: 2), 2_000)
        next.apply(try Self.moved("tablet", next), 2_000)
        #expect(next.devices.last?.shows == ["order"])
        next.center.holdsTimers = false
        next.fire(3_000)
        try next.answer(.accepted, 3_100)
        #expect(Self.last(next) == "recall tablet")
    }

    @Test func `what was shown before a newer one that never reached a device is recalled from it`() throws {
        var bench = Bench(Self.rules)
        bench.apply(try DeviceTests.device())
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.accepted)
        bench.apply(DeviceTests.request("b", Self.content))
        try bench.answer(.failed(retryAfter: nil))
        #expect(bench.apply(try Self.moved("phone", bench)).summary == ["removed a", "suppressed b!"])
        #expect(Self.last(bench) == "recall phone")
    }

    @Test func `which devices show a notification outlives the process`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.accepted)
        let moved = try Self.moved("phone", bench)
        try bench.commit()
        var next = Bench(Self.rules, over: bench.store, firedThrough: at(1000))
        next.center.keepsRecipients = true
        next.offset = 20
        next.apply(moved)
        #expect(Self.last(next) == "recall phone" && next.devices.last?.shows == ["order"])
    }

    @Test(arguments: [10, 1_000])
    func `a device whose end was read before a request that the former owner may have sent to it is recalled`(
        firedThrough: Int64
    ) throws {
        var bench = try Self.bench()
        try bench.commit()
        var next = Bench(Self.rules, over: bench.store, firedThrough: at(firedThrough))
        (next.center.holdsTimers, next.offset, next.center.keepsRecipients) = (true, 10, true)
        next.apply(DeviceTests.gone(at: 5), 20)
        next.apply(DeviceTests.request("a", Self.content), 20)
        next.center.holdsTimers = false
        next.fire(30)
        #expect(Self.last(next) == "recall phone" || next.sends.map(\.kind).contains(.remove))
    }

    @Test func `the end of a registration clears the device as well: the next person to sign in sees nothing`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.accepted)
        bench.apply(DeviceTests.gone())
        #expect(bench.devices.last?.name == .retired && bench.devices.last?.shows == ["order"])
        #expect(Self.last(bench) == "recall phone")
    }

    // MARK: - Responses

    @Test func `a tap takes the notification from the other devices`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.accepted)
        #expect(bench.apply(Self.response("r", to: "a", on: "phone")).summary == ["removed a"])
        #expect(Self.last(bench) == "recall tablet")
    }

    @Test func `a tap before the channel has accepted it takes it away when it has`() throws {
        for result in [ChannelResult.accepted, .unanswered(retryAfter: nil), .failed(retryAfter: nil)] {
            var bench = try Self.bench()
            bench.apply(DeviceTests.request("a", Self.content))
            #expect(bench.apply(Self.response("r", to: "a", on: "phone")).isEmpty && bench.responses.count == 1)
            #expect(try bench.answer(result).summary == ["delivered a!", "removed a"])
            #expect(Self.last(bench) == "recall tablet" && bench.entry(key("order"))?.delivered == nil)
        }
    }

    @Test func `a tap between two attempts shows that it was delivered, also after a restart`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.unanswered(retryAfter: nil))
        try bench.commit()
        var next = Bench(Self.rules, over: bench.store, firedThrough: at(0))
        let events = next.apply(Self.response("r", to: "a", on: "phone"))
        #expect(next.responses.first?.matched == true && events.summary == ["delivered a!", "removed a"])
    }

    @Test func `after a restart what was in flight to all is not tried for ever where devices became known meanwhile`()
    {
        let showing = Showing(id("a"), nil)
        let sequence = OperationSequence(life: 0, offset: 0, time: at(0))
        var operation = ScreenOperation(
            .show(showing),
            channel: .test,
            devices: [],
            at: at(0),
            sequence: sequence,
            trace: .none
        )
        operation.phase = .inFlight(since: at(0))
        var screen = Screen()
        (screen.targets, screen.operations) = ([ScreenTarget(.test, "phone", maybes: [showing])], [operation])
        screen.restart(at: at(10), mayHaveBegunThrough: at(10))
        let cause = Screen.Cause(
            now: at(10),
            coming: .init(sequence: sequence, trace: .none),
            correction: .init(sequence: sequence, trace: .none),
            correctionStart: at(10)
        )
        // Its request has ended: nothing is wanted.
        let ready = screen.plan(for: cause, { _ in .all }, wanted: screen.targets.map { _ in .init() })
        #expect(ready == [0] && screen.operations.map(\.goal) == [.remove])
    }

    @Test func `a tap while it is sent once more takes away what comes there after the tap`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.unanswered(retryAfter: nil))
        bench.fire(100_000)
        #expect(bench.sends.count == 2 && bench.sends[1].kind != .remove)
        #expect(bench.apply(Self.response("r", to: "a", on: "phone"), 100_000).isEmpty)
        #expect(try bench.answer(.accepted, 100_000).summary == ["delivered a!", "removed a"])
        #expect(Self.last(bench) == "recall phone tablet")
    }

    @Test func `what all got that the gateway knows is removed by it when the devices that became known have left`()
        throws
    {
        var bench = Bench(Self.rules)
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.accepted)
        bench.apply(try DeviceTests.device())
        bench.apply(try DeviceTests.device("tablet", token: Self.tabletToken))
        bench.apply(DeviceTests.request("b", Self.content), 5)
        try bench.answer(.unanswered(retryAfter: 60_000), 10)
        bench.apply(DeviceTests.gone("tablet", at: 20), 20)
        bench.apply(Self.removal("r", .pending), 30)
        while bench.center.inFlight > 0 { try bench.answer(.accepted, 40) }
        bench.apply(DeviceTests.gone("phone", at: 50), 50)
        let before = bench.sends.count
        #expect(bench.apply(Self.removal("s", .delivered), 60).summary == ["removed a"])
        #expect(bench.sends.count == before + 1 && Self.last(bench) == "recall")
    }

    @Test func `a tap on a notification of the backlog leaves nothing behind that stands for all devices`() throws {
        var former = try Self.bench()
        former.apply(DeviceTests.request("a", Self.content))
        try former.answer(.accepted)
        former.apply(DeviceTests.request("b", Self.content), 5)
        try former.commit()
        var next = Bench(Self.rules, over: former.store, firedThrough: at(1_000))
        (next.center.holdsTimers, next.offset, next.center.keepsRecipients) = (true, 10, true)
        next.apply(Self.removal("t", .pending), 2_000)
        next.apply(Self.response("r", to: "b", on: "phone"), 2_000)
        next.center.holdsTimers = false
        next.fire(2_001)
        while next.center.inFlight > 0 { try next.answer(.accepted, 2_002) }
        #expect(next.sends.allSatisfy { $0.devices != nil })
    }

    @Test func `a device that leaves is asked once that is committed: the next owner may read first that it is back`()
        throws
    {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.accepted)
        bench.center.sendLimit = at(2_000)
        bench.apply(try Self.moved("phone", bench), 10)
        #expect(bench.devices.last?.name == .retired && bench.sends.count == 1)
        bench.center.sendLimit = at(3_000)
        bench.fire(2_001)
        #expect(bench.sends.count == 2 && Self.last(bench) == "recall phone")
    }

    @Test func `a tap during an attempt that the next owner makes again takes away what comes there after the tap`()
        throws
    {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        #expect(bench.apply(Self.response("r", to: "a", on: "phone"), 100).isEmpty)
        try bench.commit()
        var next = Bench(Self.rules, over: bench.store, firedThrough: at(1_000))
        next.center.keepsRecipients = true
        try next.center.refill(at: at(2_000))
        next.fire(2_000)
        #expect(next.sends.count == 1 && next.sends[0].kind != .remove)
        #expect(try next.answer(.accepted, 2_100).summary == ["delivered a!", "removed a"])
        #expect(Self.last(next) == "recall phone tablet")
    }

    @Test func `a tap while a newer one is sent recalls the former one only if the newer one fails`() throws {
        for (result, last) in [(ChannelResult.accepted, "\(id("b"))"), (.rejected(.rejected), "recall tablet")] {
            var bench = try Self.bench()
            bench.apply(DeviceTests.request("a", Self.content))
            try bench.answer(.accepted)
            bench.apply(DeviceTests.request("b", Self.content))
            bench.apply(Self.response("r", to: "a", on: "phone"))
            try bench.answer(result)
            #expect(Self.last(bench) == last)
        }
    }

    // MARK: - Badges

    @Test func `a notification that is never delivered adds nothing to the badge`() throws {
        let counted = #"{"title":"T","badgeIncrement":1}"#
        var bench = Bench(Self.rules)
        bench.apply(try DeviceTests.device())
        bench.apply(DeviceTests.request("a", counted))
        try bench.answer(.rejected(.rejected))
        bench.apply(DeviceTests.request("b", counted, key("next")))
        let json = try #require(bench.sends.last?.devices)
        #expect(String(decoding: json, as: UTF8.self).contains(#""badge":1"#))
    }
}
