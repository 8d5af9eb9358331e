import NotificationDelivery
import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// What comes back: responses, receipts and reports.
@Suite("Responses, receipts and reports in the center")
struct ResponseTests {
    private static let set = """
        {"categories":[{"identifier":"ORDER","options":["customDismissAction"],"actions":[{"identifier":"track","title":"T"},\
        {"identifier":"reply","title":"R","textInput":{"buttonTitle":"Send","placeholder":"…"}}]},\
        {"identifier":"KEEP","response":"keep","actions":[{"identifier":"like","title":"L"}]},\
        {"identifier":"QUIET","response":"dismiss","actions":[{"identifier":"mute","title":"M"}]}]}
        """
    private static let order = #"{"title":"T","categoryIdentifier":"ORDER"}"#

    private static func bench(_ rules: LifecycleRules? = nil) throws -> Bench {
        var bench = Bench(rules)
        bench.center.categories = CategoryBook(["shop": try CategorySet(json: Array(set.utf8))])
        return bench
    }

    private static func response(
        _ name: String,
        to request: String,
        _ action: String = "default",
        text: String? = nil,
        identifier: String = "order",
        at written: Int64 = 0
    ) -> CenterInput {
        var response = ResponseSignal(
            identifier: identifier,
            requestID: id(request),
            responseID: id(name),
            actionIdentifier: action
        )
        (response.userText, response.device) = (text, "phone")
        return DeviceTests.signal(.response(response), at: written)
    }

    // MARK: - Responses (A6)

    @Test func `a tap is forwarded with the request and the content that it answers, and takes the notification away`()
        throws
    {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.order))
        let events = bench.apply(Self.response("r", to: "a"))
        let event = try #require(bench.responses.first)
        #expect(bench.responses.count == 1 && event.matched && event.requestID == id("a") && event.device == "phone")
        #expect(event.categoryIdentifier == "ORDER" && event.content.map { Array($0) } == Array(Self.order.utf8))
        #expect(events.summary == ["removed a"] && events[0].by == id("r"))
        #expect(bench.entry(key("order"))?.delivered == nil)
    }

    @Test func `after a restart the answer to what may have been sent has the category of that time`() throws {
        let rules = LifecycleRules(retention: 1_000_000, channels: ChannelRules(.test))
        var bench = try Self.bench(rules)
        bench.apply(DeviceTests.request("a", Self.order))
        try bench.commit()
        var next = Bench(rules, over: bench.store, firedThrough: at(1_000))
        (next.center.categories, next.offset) = (bench.center.categories, 10)
        next.apply(Self.response("r", to: "a", "track"), 2_000)
        let event = try #require(next.responses.first)
        #expect(event.matched && event.categoryIdentifier == "ORDER" && event.actionIdentifier == "track")
    }

    @Test func `actions and typed text are those of the category; an empty text input is empty text`() throws {
        var bench = try Self.bench()
        for (name, action, text, expected) in [
            ("a", "track", nil, nil), ("b", "reply", "Thank you", "Thank you"), ("c", "reply", nil, ""),
            ("d", "dismiss", nil, nil),
        ] as [(String, String, String?, String?)] {
            bench.apply(DeviceTests.request(name, Self.order))
            bench.apply(Self.response("r-\(name)", to: name, action, text: text))
            #expect(bench.responses.last?.actionIdentifier == action && bench.responses.last?.userText == expected)
            #expect(bench.outcomes.last == .matched)
        }
    }

    @Test(arguments: [
        ("ORDER", "like"), ("ORDER", "mute"), ("NONE", "track"), ("ORDER", "Track"),
    ])
    func `an action that the category does not have is refused and changes nothing`(
        category: String,
        action: String
    ) throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", #"{"title":"T","categoryIdentifier":"\#(category)"}"#))
        #expect(bench.apply(Self.response("r", to: "a", action)).isEmpty && bench.responses.isEmpty)
        guard case .refused(let error)? = bench.outcomes.last else { return #expect(Bool(false)) }
        #expect(error.reason == .unknownAction && error.field == "actionIdentifier")
        #expect(bench.entry(key("order"))?.delivered != nil)
    }

    @Test func `a dismissal removes the notification, and is told only where the category asks for it`() throws {
        for (category, isTold) in [("ORDER", true), ("KEEP", false), ("NONE", false)] {
            var bench = try Self.bench()
            bench.apply(DeviceTests.request("a", #"{"title":"T","categoryIdentifier":"\#(category)"}"#))
            #expect(bench.apply(Self.response("r", to: "a", "dismiss")).summary == ["removed a"])
            #expect(bench.responses.count == (isTold ? 1 : 0) && bench.outcomes.last == .matched)
        }
    }

    @Test func `the category answers here, or lets the notification stay`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", #"{"title":"T","categoryIdentifier":"KEEP"}"#))
        #expect(bench.apply(Self.response("r", to: "a", "like")).isEmpty)
        #expect(
            bench.responses.isEmpty && bench.entry(key("order"))?.delivered != nil && bench.outcomes.last == .matched
        )
        bench.apply(DeviceTests.request("b", #"{"title":"T","categoryIdentifier":"QUIET"}"#))
        #expect(bench.apply(Self.response("s", to: "b", "mute")).summary == ["removed b"])
        #expect(bench.responses.isEmpty)
    }

    @Test func `a response counts once, also after a restart`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", #"{"title":"T","categoryIdentifier":"KEEP"}"#))
        bench.apply(Self.response("r", to: "a"))
        bench.apply(Self.response("r", to: "a"))
        #expect(bench.outcomes.last == .duplicate)
        try bench.commit()
        var next = Bench(over: bench.store)
        next.offset = 10
        next.apply(Self.response("r", to: "a"))
        #expect(next.outcomes == [.duplicate] && next.responses.isEmpty)
    }

    @Test func `what is unknown, superseded or removed is answered without a match, once`() throws {
        var bench = try Self.bench()
        bench.apply(Self.response("r-1", to: "a", identifier: "none"))
        bench.apply(DeviceTests.request("a", Self.order))
        bench.apply(DeviceTests.request("b", Self.order))
        bench.apply(Self.response("r-2", to: "a", "like"))
        bench.apply(removal("x", key("order"), .delivered))
        bench.apply(Self.response("r-3", to: "b"))
        bench.apply(Self.response("r-3", to: "b"))
        #expect(bench.responses.map(\.responseID) == [id("r-1"), id("r-2"), id("r-3")])
        #expect(bench.responses.allSatisfy { !$0.matched && $0.content == nil })
    }

    @Test func `it is checked against the category as it was delivered`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.order))
        bench.center.categories = .empty
        bench.apply(Self.response("r", to: "a", "track"))
        #expect(bench.responses.first?.matched == true)
    }

    @Test func `the category and the content outlive the process`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.order))
        try bench.commit()
        var next = Bench(over: bench.store)
        next.offset = 10
        next.apply(Self.response("r", to: "a", "reply", text: "Hi"))
        #expect(next.responses.first?.matched == true && next.responses.first?.userText == "Hi")
        #expect(next.responses.first?.content.map { Array($0) } == Array(Self.order.utf8))
    }

    @Test func `a response before the channel has answered matches what is being sent`() throws {
        var rules = LifecycleRules(retention: 1_000_000)
        rules.channels = ChannelRules(.test)
        var bench = try Self.bench(rules)
        bench.apply(DeviceTests.request("a", Self.order))
        bench.apply(Self.response("r", to: "a", "track"))
        #expect(bench.responses.first?.matched == true)
        #expect(try bench.answer(.accepted).summary == ["delivered a!", "removed a"])
    }

    @Test func `a response to an occurrence leaves the repeating notification pending`() throws {
        var bench = try Self.bench()
        bench.apply(request("a", interval(60, repeats: true)))
        bench.fire(60_000)
        bench.apply(Self.response("r", to: "a", at: 61_000), 61_000)
        #expect(bench.responses.first?.matched == true && bench.entry(key("order"))?.pending != nil)
        #expect(bench.fire(120_000).summary == ["delivered a"])
    }

    // MARK: - Receipts

    private static func receipt(_ kind: ReceiptSignal.Receipt, _ request: String, _ device: String) -> CenterInput {
        DeviceTests.signal(
            .receipt(.init(identifier: "order", requestID: id(request), device: device, receipt: kind))
        )
    }

    @Test func `each receipt counts once for a device and a request, in any order`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.order))
        bench.events = []
        for kind in [ReceiptSignal.Receipt.opened, .received, .presented, .received, .opened] {
            bench.apply(Self.receipt(kind, "a", "phone"))
        }
        bench.apply(Self.receipt(.received, "a", "tablet"))
        let expected: [DeliveryEventName] = [.deviceOpened, .deviceReceived, .devicePresented, .deviceReceived]
        #expect(bench.events.map(\.name) == expected && bench.events.map(\.device).last == "tablet")
        #expect(bench.events.allSatisfy { !$0.closes && !$0.isLate })
        // The last one is read again.
        bench.offset -= 1
        #expect(bench.apply(Self.receipt(.received, "a", "tablet")).isEmpty && bench.outcomes.last == .duplicate)
        try bench.commit()
        var next = Bench(over: bench.store)
        next.offset = 20
        #expect(next.apply(Self.receipt(.received, "a", "phone")).isEmpty)
    }

    @Test func `a receipt of a superseded request is told apart`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.order))
        bench.apply(DeviceTests.request("b", Self.order))
        let events = bench.apply(Self.receipt(.received, "a", "phone"))
        #expect(events.summary == ["device.received a"] && events[0].isLate && bench.outcomes.last == .unmatched)
    }

    @Test func `a receipt after the answer is not late: nothing else has taken its place`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.order))
        bench.apply(Self.response("r", to: "a"))
        let events = bench.apply(Self.receipt(.opened, "a", "phone"))
        #expect(events.summary == ["device.opened a"] && !events[0].isLate)
        #expect(bench.apply(Self.receipt(.opened, "unknown", "phone"))[0].isLate)
    }

    @Test func `each occurrence of a repeat has its own receipts and reports`() throws {
        var bench = try Self.bench()
        bench.apply(try DeviceTests.device())
        bench.apply(request("a", interval(60, repeats: true)))
        var ids: Set<UUIDValue> = []
        for minute in 1...2 {
            bench.fire(Int64(minute) * 60_000)
            let received = bench.apply(Self.receipt(.received, "a", "phone"), Int64(minute) * 60_000)
            let refused = bench.apply(Self.report(.rejected, "a"), Int64(minute) * 60_000)
            #expect(received.summary == ["device.received a"])
            #expect(refused.summary == ["device.attempted a", "failed a"])
            ids.formUnion((received + refused).map(\.eventID))
        }
        #expect(ids.count == 6)
    }

    @Test func `a receipt of an occurrence that was answered is of that occurrence, and comes once`() throws {
        var bench = try Self.bench()
        bench.apply(request("a", interval(60, repeats: true)))
        #expect(bench.apply(Self.receipt(.received, "a", "phone"))[0].occurrence == nil)
        for minute in Int64(1)...2 {
            let time = minute * 60_000
            bench.fire(time)
            bench.apply(Self.receipt(.received, "a", "phone"), time)
            bench.apply(Self.response("r\(minute)", to: "a", at: time), time)
            #expect(bench.apply(Self.receipt(.opened, "a", "phone"), time).map(\.occurrence) == [at(time)])
            #expect(bench.apply(Self.receipt(.opened, "a", "phone"), time).isEmpty)
        }
    }

    // MARK: - Reports

    private static func report(
        _ outcome: ReportSignal.Outcome,
        _ request: String,
        _ device: String = "phone"
    ) -> CenterInput {
        DeviceTests.signal(
            .report(.init(identifier: "order", requestID: id(request), device: device, outcome: outcome))
        )
    }

    @Test func `a report is an attempt at a device, and without one nothing waits`() throws {
        var bench = try Self.bench()
        bench.apply(try DeviceTests.device())
        bench.apply(DeviceTests.request("a", Self.order))
        let events = bench.apply(Self.report(.accepted, "a"))
        #expect(events.summary == ["device.attempted a"] && events[0].outcome == .accepted)
        #expect(bench.apply(Self.report(.accepted, "a")).isEmpty && bench.entry(key("order"))?.delivered != nil)
    }

    @Test func `when every device has refused it, it has failed and is not shown`() throws {
        var bench = try Self.bench()
        bench.apply(try DeviceTests.device())
        bench.apply(try DeviceTests.device("tablet", token: String(repeating: "b2", count: 32)))
        bench.apply(DeviceTests.request("a", Self.order))
        #expect(bench.apply(Self.report(.rejected, "a")).summary == ["device.attempted a"])
        let events = bench.apply(Self.report(.rejected, "a", "tablet"))
        #expect(events.summary == ["device.attempted a", "failed a"] && events[1].reason == .rejected)
        #expect(bench.entry(key("order"))?.delivered == nil)
    }

    @Test func `a refusal of a device that was not given the notification changes nothing`() throws {
        var bench = try Self.bench()
        bench.apply(try DeviceTests.device())
        bench.apply(try DeviceTests.device("tablet", token: String(repeating: "b2", count: 32), status: .denied))
        bench.apply(DeviceTests.request("a", Self.order))
        for device in ["tablet", "nobody's"] {
            #expect(bench.apply(Self.report(.rejected, "a", device)).summary == ["device.attempted a"])
        }
        #expect(bench.entry(key("order"))?.delivered?.devices == ["phone"])
    }

    @Test func `a device that refused the notification and took it later shows it`() throws {
        var bench = try Self.bench()
        bench.apply(try DeviceTests.device())
        bench.apply(try DeviceTests.device("tablet", token: String(repeating: "b2", count: 32)))
        bench.apply(DeviceTests.request("a", Self.order))
        let events = [ReportSignal.Outcome.rejected, .accepted].flatMap { bench.apply(Self.report($0, "a")) }
        #expect(
            events.summary == ["device.attempted a", "device.attempted a"] && events[0].eventID != events[1].eventID
        )
        #expect(Set(bench.entry(key("order"))?.delivered?.devices ?? []) == ["phone", "tablet"])
    }

    @Test func `reports that come before the channel has accepted it count then`() throws {
        var rules = LifecycleRules(retention: 1_000_000)
        rules.channels = ChannelRules(.test)
        var bench = try Self.bench(rules)
        bench.apply(try DeviceTests.device())
        bench.apply(DeviceTests.request("a", Self.order))
        let events = bench.apply(Self.report(.rejected, "a"))
        #expect(events.summary == ["device.attempted a"] && !events[0].isLate)
        #expect(try bench.answer(.accepted).summary == ["delivered a!", "failed a"])
    }

    @Test func `a device that the gateway calls unregistered is retired, unless it was registered since`() throws {
        var bench = try Self.bench()
        bench.apply(try DeviceTests.device(at: 0))
        bench.apply(DeviceTests.request("a", Self.order), 10)
        bench.apply(try DeviceTests.device(at: 20), 20)
        bench.apply(Self.report(.unregistered, "a"), 30)
        #expect(bench.devices.allSatisfy { $0.name == .registered })
        bench.apply(DeviceTests.request("b", Self.order), 40)
        bench.apply(Self.report(.unregistered, "b"), 50)
        #expect(bench.devices.last?.name == .retired && bench.devices.last?.reason == .unregistered)
        #expect(bench.apply(DeviceTests.request("c", Self.order), 60)[0].reason == .noDevice)
    }
}
