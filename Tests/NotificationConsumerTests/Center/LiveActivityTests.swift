import NotificationDelivery
import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// Live Activities: start, update and end are request, replacement and removal of one identifier.
@Suite("Live Activities in the center")
struct LiveActivityTests {
    static let start = String(repeating: "5a", count: 32)
    static let token = String(repeating: "ac", count: 32)
    private static let order = #","attributesType":"Order""#
    private static let hour: Int64 = 3_600_000

    static var rules: LifecycleRules {
        var rules = LifecycleRules(retention: 100_000_000)
        rules.channels = ChannelRules(.devices, and: [.devices, .apns, .fcm])
        return rules
    }

    static func device(_ name: String, _ token: String, _ kind: String, _ members: String = "", at time: Int64 = 0)
        throws -> CenterInput
    {
        let json =
            #"{"platform":"apns","token":"\#(token)","kind":"\#(kind)","registeredAt":"\#(at(time).rfc3339)"\#(members)}"#
        return .registration(
            .init(
                key: key(name),
                registration: try DeviceRegistration(json: Array(json.utf8)),
                position: .init(.devices, offset: 0),
                trace: .none,
                timestamp: at(time)
            )
        )
    }

    static func phone(_ name: String = "phone-start", token: String = start) throws -> CenterInput {
        try device(name, token, "liveActivityStart", order)
    }

    static func activity(
        _ name: String = "phone-order",
        token: String = token,
        of start: String? = "phone-start",
        at time: Int64 = 0
    ) throws -> CenterInput {
        let start = start.map { #","pushToStart":"\#($0)""# } ?? ""
        return try device(name, token, "liveActivity", #","activity":"order"\#(start)"#, at: time)
    }

    /// - Parameter starts: whether it has attributes.
    static func content(_ eta: Int, starts: Bool = true, _ others: String = "") -> String {
        let attributes = starts ? #""attributesType":"Order","attributes":{"order":"1001"},"# : ""
        return #"{"title":"T","body":"B","liveActivity":{\#(attributes)"contentState":{"eta":\#(eta)}\#(others)}}"#
    }

    static func request(
        _ name: String,
        _ content: String,
        at time: Int64 = 0,
        version: Int64? = nil,
        expiration: Timestamp? = nil,
        channel: ChannelName? = nil,
        collapseWindow: Int64 = 0
    ) -> CenterInput {
        .request(
            .init(
                id: id(name),
                key: key("order"),
                position: .init(.requests, offset: 0),
                version: version,
                content: Array(content.utf8)[...],
                plan: .immediate(collapseWindow: collapseWindow),
                expiration: expiration,
                channel: channel,
                trace: .none,
                timestamp: at(time)
            )
        )
    }

    private static func outcomes(_ event: DeliveryEvent?) throws -> [String] {
        try DeviceTests.devices(event).map { device in
            ["device", "kind", "outcome", "reason"].compactMap { device[$0]?.stringValue }.joined(separator: " ")
        }
    }

    /// The kind of the token and the timestamp of a send, after the first instant of the tests.
    static func told(_ send: ChannelSend?) -> String {
        guard let send, let activity = send.activity else { return "no activity" }
        let kind = send.registration?.kind.rawValue ?? ""
        return "\(send.kind == .remove ? "end" : kind) \(activity.timestamp - at(0).rawValue / 1000)"
    }

    /// With an activity whose end got no answer.
    static func endedInDoubt() throws -> Bench {
        var bench = try started()
        bench.apply(try activity(at: 1_000), 1_000)
        bench.apply(removal("r", at: at(2_000)), 2_000)
        try bench.answer(.unanswered(retryAfter: nil), 2_100)
        return bench
    }

    /// With an activity that a push has started, whose token is not known yet.
    static func started(_ content: String = content(15)) throws -> Bench {
        var bench = Bench(rules)
        bench.apply(try phone())
        bench.apply(request("a", content))
        try bench.answer(.accepted, 100)
        return bench
    }

    // MARK: - The life of an activity

    @Test func `the first request starts it, the next ones update it by its own token, and a removal ends it`() throws {
        var bench = Bench(Self.rules)
        bench.apply(try Self.phone())
        bench.apply(Self.request("a", Self.content(15)))
        #expect(bench.sends.count == 1 && bench.sends[0].channel == .apns)
        #expect(bench.sends[0].registration?.token == Self.start)
        #expect(Self.told(bench.sends.last) == "liveActivityStart 0")
        let delivered = try bench.answer(.accepted, 100)
        #expect(delivered.summary == ["delivered a!"])
        #expect(try Self.outcomes(delivered.first) == ["phone-start liveActivityStart accepted"])

        bench.apply(try Self.activity(at: 1_000), 1_000)
        #expect(bench.sends.count == 1)
        bench.apply(Self.request("b", Self.content(5), at: 2_000), 2_000)
        #expect(bench.sends.count == 2 && bench.sends[1].registration?.token == Self.token)
        #expect(Self.told(bench.sends.last) == "liveActivity 2" && bench.sends[1].id != bench.sends[0].id)
        let updated = try bench.answer(.accepted, 2_100)
        #expect(updated.summary == ["delivered b!"] && updated[0].replaces == id("a"))
        #expect(try Self.outcomes(updated.first) == ["phone-start liveActivity accepted"])

        bench.apply(removal("r", at: at(3_000)), 3_000)
        #expect(Self.told(bench.sends.last) == "end 3" && bench.sends[2].registration?.token == Self.token)
        let removed = try bench.answer(.removed(.requested), 3_100)
        #expect(removed.summary == ["removed b"])
        #expect(try Self.outcomes(removed.first) == ["phone-start liveActivityStart requested"])
        #expect(bench.sends.count == 3 && bench.entry(key("order"))?.screen == nil)
    }

    @Test func `the token of an activity that was ended is retired, since APNs goes on accepting what is sent to it`()
        throws
    {
        var bench = try Self.started()
        bench.apply(try Self.activity(at: 1_000), 1_000)
        bench.apply(removal("r", at: at(3_000)), 3_000)
        try bench.answer(.removed(.requested), 3_100)
        #expect(bench.devices.last?.key.identifier == "phone-order" && bench.devices.last?.name == .retired)
        #expect(bench.devices.last?.kind == .liveActivity && bench.devices.last?.reason == .unregistered)
        #expect(bench.claims.last?.claim.isReleased == true)
        bench.apply(Self.request("b", Self.content(9), at: 3_200), 3_200)
        #expect(Self.told(bench.sends.last).hasPrefix("liveActivityStart "))
    }

    @Test(arguments: [true, false])
    func `after an end without an answer another activity is started once the former is ended, or half a minute later`(
        isEnded: Bool
    ) throws {
        var bench = try Self.endedInDoubt()
        bench.apply(Self.request("b", Self.content(9), at: 3_000), 3_000)
        #expect(Self.told(bench.sends.last) == "end 3")
        try bench.answer(isEnded ? .removed(.requested) : .unanswered(retryAfter: 40_000), 3_100)
        if !isEnded {
            #expect(bench.sends.count == 3)
            bench.fire(32_000)
            #expect(bench.sends.count == 3)
            bench.fire(33_000)
        }
        #expect(Self.told(bench.sends.last) == "liveActivityStart 4")
        if !isEnded {
            // It may still be needed to end the former one.
            #expect(bench.devices.last?.name == .registered)
            try bench.answer(.accepted, 33_100)
        }
        #expect(bench.devices.last?.key.identifier == "phone-order" && bench.devices.last?.name == .retired)
    }

    @Test func `content that cannot start an activity follows no end without an answer: the end goes on`() throws {
        var bench = try Self.endedInDoubt()
        #expect(bench.events.last.map { [$0].summary } == ["removed a"])
        let events = bench.apply(Self.request("b", Self.content(9, starts: false), at: 3_000), 3_000)
        #expect(events.summary == ["suppressed b!"] && events[0].reason == .unsupportedForm && !events[0].inDoubt)
        bench.fire(60_000)
        #expect(Self.told(bench.sends.last) == "end 2" && bench.sends.last?.registration?.token == Self.token)
        try bench.answer(.removed(.requested), 60_100)
        #expect(bench.entry(key("order"))?.screen == nil)
    }

    @Test func `an activity that the app has started is updated, and not started once more on the same phone`() throws {
        var bench = Bench(Self.rules)
        bench.apply(try Self.phone())
        bench.apply(try Self.activity())
        bench.apply(try Self.activity("tablet-order", token: String(repeating: "be", count: 32), of: nil))
        bench.apply(Self.request("a", Self.content(15)))
        #expect(bench.sends.map(\.registration?.kind) == [.liveActivity, .liveActivity])
        try bench.answer(.accepted, number: 0)
        let events = try bench.answer(.accepted, number: 1)
        #expect(
            try Self.outcomes(events.first) == [
                "phone-start liveActivity accepted", "tablet-order liveActivity accepted",
            ]
        )
    }

    @Test func `of several tokens of an activity the one that was registered last counts`() throws {
        var bench = try Self.started()
        let next = String(repeating: "cd", count: 32)
        bench.apply(try Self.activity(at: 1_000), 1_000)
        bench.apply(try Self.activity("phone-order-2", token: next, at: 2_000), 2_000)
        bench.apply(Self.request("b", Self.content(5), at: 3_000), 3_000)
        #expect(bench.sends.count == 2 && bench.sends[1].registration?.token == next)
    }

    // MARK: - Before its token is known

    @Test func `an update of what was started waits for the token of the activity`() throws {
        var bench = try Self.started()
        #expect(bench.apply(Self.request("b", Self.content(5), at: 1_000), 1_000).isEmpty)
        #expect(bench.sends.count == 1)
        #expect(bench.apply(try Self.activity(at: 2_000), 2_000).isEmpty)
        #expect(Self.told(bench.sends.last) == "liveActivity 1" && bench.sends.count == 2)
        #expect(try bench.answer(.accepted, 2_100).summary == ["delivered b!"])
    }

    @Test func `what is newer takes the place of an update that waits`() throws {
        var bench = try Self.started()
        bench.apply(Self.request("b", Self.content(5), at: 1_000), 1_000)
        let events = bench.apply(Self.request("c", Self.content(3), at: 2_000), 2_000)
        #expect(events.summary == ["superseded b!"])
        bench.apply(try Self.activity(at: 3_000), 3_000)
        #expect(bench.sends.count == 2 && bench.sends[1].requestID == id("c"))
    }

    @Test func `after twelve hours, as long as an activity lasts, an update that waits is suppressed`() throws {
        var bench = try Self.started()
        bench.apply(Self.request("b", Self.content(5), at: 1_000), 1_000)
        #expect(bench.fire(12 * Self.hour).isEmpty)
        let events = bench.fire(12 * Self.hour + 1_000)
        #expect(events.summary == ["suppressed b!"] && events[0].reason == .noDevice && bench.sends.count == 1)
        #expect(bench.entry(key("order"))?.delivered?.requestID == id("a"))
    }

    @Test func `an update that waits expires before that`() throws {
        var bench = try Self.started()
        bench.apply(Self.request("b", Self.content(5), at: 1_000, expiration: at(9_000)), 1_000)
        #expect(bench.fire(9_000).summary == ["expired b!"])
    }

    @Test func `the phones whose token is known do not wait for the others`() throws {
        var bench = Bench(Self.rules)
        bench.apply(try Self.phone())
        bench.apply(try Self.phone("tablet-start", token: String(repeating: "7a", count: 32)))
        bench.apply(Self.request("a", Self.content(15)))
        try bench.answer(.accepted, number: 0)
        try bench.answer(.accepted, number: 1)
        bench.apply(try Self.activity(at: 1_000), 1_000)
        bench.apply(Self.request("b", Self.content(5), at: 2_000), 2_000)
        let events = try bench.answer(.accepted, 2_100)
        #expect(events.summary == ["delivered b!"])
        #expect(
            try Self.outcomes(events.first) == [
                "phone-start liveActivity accepted", "tablet-start liveActivityStart retrying",
            ]
        )
        let late = bench.fire(12 * Self.hour + 2_000)
        #expect(late.summary == ["device.attempted b"] && late[0].device == "tablet-start")
        #expect(late[0].outcome == .rejected && late[0].reason == .noDevice)
    }

    @Test func `an end waits for the token, too, and its event does not`() throws {
        var bench = try Self.started()
        let events = bench.apply(removal("r", at: at(1_000)), 1_000)
        #expect(events.summary == ["removed a"] && bench.sends.count == 1)
        #expect(try Self.outcomes(events.first) == ["phone-start liveActivityStart retrying"])
        bench.apply(try Self.activity(at: 2_000), 2_000)
        #expect(bench.sends.count == 2 && Self.told(bench.sends.last).hasPrefix("end "))
        let late = try bench.answer(.removed(.requested), 2_100)
        #expect(late.summary == ["device.attempted a"] && late[0].removal == .requested)
    }

    @Test func `what waits for a token survives a restart, in a form that older versions refuse`() throws {
        var bench = try Self.started()
        bench.apply(Self.request("b", Self.content(5), at: 1_000), 1_000)
        try bench.commit()
        let stored = try #require(bench.store.entry(of: key("order").encoded)).value
        #expect(String(decoding: stored, as: UTF8.self).hasPrefix(#"{"form":11,"#))
        var next = Bench(Self.rules, over: bench.store, firedThrough: at(1_500))
        (next.offset, next.center.keepsRecipients) = (10, true)
        #expect(next.fire(1_600).isEmpty && next.sends.isEmpty)
        next.apply(try Self.activity(at: 2_000), 2_000)
        #expect(next.sends.count == 1 && Self.told(next.sends.last) == "liveActivity 1")
        #expect(try next.answer(.accepted, 2_100).summary == ["delivered b!"])
    }

    /// With a start that may have been made.
    private static func doubted(expiration: Timestamp? = nil) throws -> Bench {
        var bench = Bench(rules)
        bench.apply(try phone())
        bench.apply(request("a", content(15), expiration: expiration))
        try bench.answer(.unanswered(retryAfter: nil), 100)
        // The pause before the second attempt.
        bench.fire(2_000)
        #expect(bench.sends.count == 1)
        return bench
    }

    @Test func `a start without an answer that was made is followed by an update: its app registers the token`() throws
    {
        var bench = try Self.doubted()
        bench.apply(try Self.activity(at: 5_000), 5_000)
        #expect(bench.sends.count == 2 && Self.told(bench.sends[1]) == "liveActivity 0")
        #expect(bench.sends[1].registration?.token == Self.token && bench.sends[1].id != bench.sends[0].id)
        #expect(try bench.answer(.accepted, 5_100).summary == ["delivered a!"])
    }

    @Test func `a start without an answer is made again when no token comes: two are better than none`() throws {
        var bench = try Self.doubted()
        bench.fire(31_999)
        #expect(bench.sends.count == 1)
        bench.fire(32_000)
        #expect(bench.sends.count == 2 && bench.sends[1].id == bench.sends[0].id)
        #expect(Self.told(bench.sends[1]) == Self.told(bench.sends[0]))
        #expect(try bench.answer(.accepted, 32_100).summary == ["delivered a!"])
    }

    @Test func `what takes the place of a start without an answer waits for the token, too, and is not late`() throws {
        var bench = try Self.doubted()
        bench.apply(Self.request("b", Self.content(9), at: 3_000), 3_000)
        #expect(bench.sends.count == 1)
        bench.apply(try Self.activity(at: 5_000), 5_000)
        #expect(bench.sends.count == 2 && Self.told(bench.sends[1]) == "liveActivity 3")
        // No longer than until it expires.
        bench = try Self.doubted(expiration: at(10_000))
        #expect(bench.fire(10_000).map(\.name).contains(.expired) && bench.sends.count == 1)
    }

    @Test func `a start that a crash has interrupted waits for the token of the activity`() throws {
        var bench = Bench(Self.rules)
        bench.apply(try Self.phone())
        bench.apply(Self.request("a", Self.content(15)))
        #expect(bench.sends.count == 1)
        try bench.commit()
        for isRegistered in [true, false] {
            var next = Bench(Self.rules, over: bench.store, firedThrough: at(1_500))
            (next.offset, next.center.keepsRecipients) = (10, true)
            next.fire(2_000)
            #expect(next.sends.isEmpty)
            if isRegistered { next.apply(try Self.activity(at: 5_000), 5_000) } else { next.fire(32_000) }
            let kind = isRegistered ? "liveActivity" : "liveActivityStart"
            #expect(next.sends.count == 1 && Self.told(next.sends.last) == "\(kind) 0")
        }
    }

    // MARK: - Which devices

    @Test func `an ordinary token gets no activity, and the token of an activity no notification`() throws {
        var bench = Bench(Self.rules)
        bench.apply(try DeviceTests.device())
        bench.apply(try Self.phone())
        bench.apply(Self.request("a", Self.content(15)))
        #expect(bench.sends.map(\.registration?.kind) == [.liveActivityStart])
        let events = try bench.answer(.accepted)
        #expect(
            try Self.outcomes(events.first) == [
                "phone-start liveActivityStart accepted", "phone suppressed unsupported-form",
            ]
        )
        bench.apply(DeviceTests.request("b", #"{"title":"T"}"#, key("other")))
        #expect(bench.sends.count == 2 && bench.sends[1].registration?.kind == .device)
        #expect(bench.sends[1].activity == nil)
    }

    @Test func `in the place of an activity a notification ends it`() throws {
        var bench = try Self.started()
        bench.apply(try Self.activity(at: 1_000), 1_000)
        bench.apply(try DeviceTests.device())
        bench.apply(Self.request("b", #"{"title":"Delivered"}"#, at: 2_000), 2_000)
        #expect(bench.sends.count == 2 && bench.sends[1].registration?.kind == .device)
        try bench.answer(.accepted, 2_100)
        #expect(bench.sends.count == 3 && Self.told(bench.sends.last).hasPrefix("end "))
    }

    @Test func `nobody gets it where nothing can be started or updated`() throws {
        func reason(_ devices: [CenterInput], _ content: String, channel: ChannelName? = nil) -> ReasonCode? {
            var bench = Bench(Self.rules)
            for device in devices { bench.apply(device) }
            let events = bench.apply(Self.request("a", content, channel: channel))
            #expect(events.summary == ["suppressed a!"] && bench.sends.isEmpty)
            return events.first?.reason
        }
        #expect(reason([], Self.content(15)) == .noDevice)
        #expect(reason([try DeviceTests.device()], Self.content(15)) == .unsupportedForm)
        // Without attributes nothing starts; the token is for another type.
        #expect(reason([try Self.phone()], Self.content(15, starts: false)) == .noDevice)
        let other = try Self.device("phone-start", Self.start, "liveActivityStart", #","attributesType":"Match""#)
        #expect(reason([other], Self.content(15)) == .noDevice)
        let elsewhere = try Self.device("phone-x", Self.token, "liveActivity", #","activity":"other""#)
        #expect(reason([elsewhere], Self.content(15)) == .noDevice)
        // A gateway would take it for a notification.
        var rules = Self.rules
        rules.channels = ChannelRules(.events, and: [.devices, .apns])
        var bench = Bench(rules)
        #expect(bench.apply(Self.request("a", Self.content(15))).first?.reason == .unsupportedForm)
    }

    // MARK: - The end of a token

    @Test func `when the token of an activity is gone the activity is over, and the next request starts another one`()
        throws
    {
        var bench = try Self.started()
        bench.apply(try Self.activity(at: 1_000), 1_000)
        bench.apply(Self.request("b", Self.content(5), at: 2_000), 2_000)
        let events = try bench.answer(.gone(at(1_500)), 2_100)
        #expect(events.summary == ["failed b!", "removed a"] && events[0].reason == .unregistered)
        #expect(events[1].device == "phone-start" && bench.sends.count == 2)
        let signal = try #require(bench.signals.first)
        bench.apply(DeviceTests.signal(signal.signal, at: 2_200), 2_200)
        #expect(bench.devices.last?.key.identifier == "phone-order" && bench.devices.last?.name == .retired)
        bench.apply(Self.request("c", Self.content(3), at: 3_000), 3_000)
        #expect(bench.sends.count == 3 && Self.told(bench.sends.last) == "liveActivityStart 3")
    }

    @Test func `an app that has ended an activity removes its token, and nothing is sent to it`() throws {
        var bench = try Self.started()
        bench.apply(try Self.activity(at: 1_000), 1_000)
        let events = bench.apply(DeviceTests.gone("phone-order", at: 2_000), 2_000)
        #expect(events.summary == ["removed a"] && events[0].device == "phone-start" && bench.sends.count == 1)
        #expect(bench.entry(key("order"))?.delivered == nil)
        let missed = bench.apply(removal("r", at: at(3_000)), 3_000)
        #expect(missed.summary == ["cancellation.missed r"] && bench.sends.count == 1)
    }

    @Test func `an update that waits in the lane when its activity ends starts another one`() throws {
        var bench = try Self.started()
        bench.apply(try Self.activity(at: 1_000), 1_000)
        bench.apply(Self.request("b", Self.content(5), at: 2_000), 2_000)
        #expect(Self.told(bench.sends.last) == "liveActivity 2" && bench.withdrawn.isEmpty)
        bench.apply(DeviceTests.gone("phone-order", at: 2_100), 2_100)
        #expect(bench.withdrawn == [try #require(bench.sends.last).id])
        try bench.answer(.deferred(retryAfter: nil), 2_200)
        bench.fire(100_000)
        #expect(bench.sends.count == 3 && Self.told(bench.sends.last) == "liveActivityStart 2")
    }

    @Test func `the end of one token of an activity is not the end of the activity while another is registered`() throws
    {
        let next = String(repeating: "cd", count: 32)
        var bench = try Self.started()
        bench.apply(try Self.activity(at: 1_000), 1_000)
        bench.apply(Self.request("b", Self.content(5), at: 2_000), 2_000)
        bench.apply(try Self.activity("phone-order-2", token: next, at: 2_050), 2_050)
        #expect(try bench.answer(.gone(at(1_500)), 2_100).summary == ["failed b!"])
        #expect(bench.apply(DeviceTests.gone("phone-order", at: 2_200), 2_200).isEmpty)
        bench.apply(Self.request("c", Self.content(3), at: 3_000), 3_000)
        #expect(bench.sends.count == 3 && bench.sends[2].registration?.token == next)
    }

    @Test func `a phone that leaves is asked to end what it shows`() throws {
        var bench = try Self.started()
        bench.apply(try Self.activity(at: 1_000), 1_000)
        bench.apply(DeviceTests.gone("phone-start", at: 2_000), 2_000)
        #expect(bench.sends.count == 2 && Self.told(bench.sends.last).hasPrefix("end "))
        #expect(bench.sends[1].registration?.token == Self.token)
    }

    @Test func `a phone that leaves is asked to end what it shows also when its app registers the token later`() throws
    {
        var bench = try Self.started()
        let events = bench.apply(DeviceTests.gone("phone-start", at: 1_000), 1_000)
        #expect(events.summary == ["removed a"] && bench.sends.count == 1)
        bench.apply(try Self.activity(at: 60_000), 60_000)
        #expect(bench.sends.count == 2 && Self.told(bench.sends.last).hasPrefix("end "))
        #expect(bench.sends.last?.registration?.token == Self.token)
    }

    @Test func `a phone that has left and comes back gets another activity: its app may have ended the first`() throws {
        var bench = try Self.started()
        bench.apply(DeviceTests.gone("phone-start", at: 1_000), 1_000)
        bench.apply(try Self.device("phone-start", Self.start, "liveActivityStart", Self.order, at: 2_000), 2_000)
        bench.apply(Self.request("b", Self.content(9), at: 3_000), 3_000)
        bench.fire(40_000)
        #expect(bench.sends.count == 2 && Self.told(bench.sends.last).hasPrefix("liveActivityStart "))
    }

    // MARK: - Timestamps and dates

    @Test func `the timestamp is the version, and else a time that grows`() throws {
        var bench = try Self.started()
        bench.apply(try Self.activity(at: 200), 200)
        for (number, name) in ["b", "c", "d"].enumerated() {
            let time = 300 + Int64(number)
            bench.apply(Self.request(name, Self.content(number), at: time), time)
            #expect(Self.told(bench.sends.last) == "liveActivity \(number + 1)")
            try bench.answer(.accepted, time)
        }
        let version = at(0).rawValue / 1000 + 50
        bench.apply(Self.request("e", Self.content(1), at: 9_000, version: version), 9_000)
        #expect(Self.told(bench.sends.last) == "liveActivity 50")
        try bench.answer(.accepted, 9_100)
        #expect(
            bench.apply(Self.request("f", Self.content(1), version: version - 1), 9_200).summary == ["superseded f!"]
        )
        bench.apply(removal("r", at: at(9_300)), 9_300)
        #expect(Self.told(bench.sends.last) == "end 51")
        try bench.answer(.removed(.requested), 9_400)
        bench.apply(Self.request("g", Self.content(1), at: 100_000), 100_000)
        #expect(Self.told(bench.sends.last) == "liveActivityStart 100")
    }

    @Test func `all phones get one timestamp, and each attempt has that of the first`() throws {
        var bench = Bench(Self.rules)
        bench.apply(try Self.phone())
        bench.apply(try Self.phone("tablet-start", token: String(repeating: "7a", count: 32)))
        bench.apply(Self.request("a", Self.content(15), at: 5_000), 5_000)
        try bench.answer(.failed(retryAfter: nil), 5_100, number: 0)
        bench.fire(100_000)
        #expect(bench.sends.map(Self.told) == Array(repeating: "liveActivityStart 5", count: 3))
    }

    @Test func `an end has the date at which the activity disappears, of the content that was shown last`() throws {
        for (date, expected) in [("", nil), (#","dismissalDate":"\#(at(60_000).rfc3339)""#, at(60_000))] {
            var bench = try Self.started(Self.content(15, date))
            bench.apply(try Self.activity(at: 1_000), 1_000)
            bench.apply(removal("r", at: at(2_000)), 2_000)
            #expect(bench.sends.last?.kind == .remove && bench.sends.last?.activity?.dismissalDate == expected)
            try bench.commit()
            var next = Bench(Self.rules, over: bench.store, firedThrough: at(2_500))
            (next.offset, next.center.keepsRecipients) = (10, true)
            next.fire(9_000)
            #expect(next.sends.last?.activity?.dismissalDate == expected && next.sends.last?.id == bench.sends.last?.id)
            #expect(next.sends.last?.activity?.timestamp == bench.sends.last?.activity?.timestamp)
        }
    }

    // MARK: - Broadcast channels

    @Test func `a broadcast channel gets each state once, and no start`() throws {
        var bench = Bench(Self.rules)
        bench.apply(try Self.device("match", "dHN0LWNobmw=", "broadcastChannel"))
        bench.apply(Self.request("a", Self.content(1, starts: false)))
        #expect(Self.told(bench.sends.last) == "broadcastChannel 0" && bench.sends.count == 1)
        #expect(try bench.answer(.accepted, 100).summary == ["delivered a!"])
        bench.apply(Self.request("b", Self.content(2, starts: false), at: 1_000), 1_000)
        #expect(Self.told(bench.sends.last) == "broadcastChannel 1")
        try bench.answer(.accepted, 1_100)
        bench.apply(removal("r", at: at(2_000)), 2_000)
        #expect(Self.told(bench.sends.last) == "end 2" && bench.sends.last?.registration?.kind == .broadcastChannel)
        try bench.answer(.removed(.requested), 2_100)
        #expect(bench.signals.isEmpty && bench.recipient(key(""))?.hasActiveDevice("match") == true)
    }

    @Test func `an activity that follows a channel gets no updates of its own, and does not wait for a token`() throws {
        var bench = try Self.started(Self.content(15, #","broadcastChannel":"dHN0LWNobmw=""#))
        let events = bench.apply(Self.request("b", Self.content(5), at: 1_000), 1_000)
        #expect(events.summary == ["suppressed b!"] && events[0].reason == .unsupportedForm)
    }

    // MARK: - Registrations

    @Test func `tokens of single activities make room before the phone's other tokens`() throws {
        var record = RecipientRecord()
        func register(_ name: String, _ kind: TokenKind, _ time: Int64) throws -> [String] {
            var registration = try DeviceRegistration(
                platform: "apns",
                token: String(repeating: "0\(time)", count: 32),
                kind: kind
            )
            if kind == .liveActivity { registration.liveActivity = .activity(identifier: name, pushToStart: nil) }
            switch record.register(name, registration, writtenAt: at(time), at: at(time), atMost: 2) {
            case .changed(_, let dropped): return dropped.map(\.name)
            case .refreshed: return []
            }
        }
        #expect(try register("phone", .device, 1).isEmpty && register("a", .liveActivity, 2).isEmpty)
        #expect(try register("b", .liveActivity, 3) == ["a"])
        #expect(try register("calls", .voip, 4) == ["b"])
        #expect(try register("widget", .widget, 5) == ["phone"])
    }

    @Test(arguments: [
        (#""kind":"liveActivityStart","attributesType":"Order""#, 11), (#""kind":"liveActivity""#, 10),
        (#""kind":"liveActivity","activity":"order","pushToStart":"s""#, 11),
    ])
    func `a registration for activities outlives the process, in a form that older versions refuse`(
        _ members: String,
        _ form: Int
    ) throws {
        var record = RecipientRecord()
        let json = #"{"platform":"apns","token":"\#(Self.token)",\#(members)}"#
        let registration = try DeviceRegistration(json: Array(json.utf8))
        _ = record.register("phone", registration, writtenAt: at(0), at: at(0), atMost: 9)
        #expect(try RecipientRecord(json: record.json) == record)
        #expect(String(decoding: record.json, as: UTF8.self).hasPrefix("{\"form\":\(form),"))
    }
}
