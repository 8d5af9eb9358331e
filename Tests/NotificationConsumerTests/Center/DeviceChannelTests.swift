import NotificationDelivery
import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// Notifications that the service sends to each device itself, by the channel of its platform.
@Suite("Channels to devices")
struct DeviceChannelTests {
    private static let content = #"{"title":"T"}"#
    private static let tokens = ["a1", "b2", "c3"].map { String(repeating: $0, count: 32) }

    private static func rules(_ channel: ChannelName = .devices) -> LifecycleRules {
        var rules = LifecycleRules(retention: 1_000_000)
        rules.channels = ChannelRules(channel, and: [.devices, .apns])
        return rules
    }

    private static func android(_ name: String = "android") throws -> CenterInput {
        .registration(
            .init(
                key: key(name),
                registration: try DeviceRegistration(platform: "fcm", token: "f:1"),
                position: .init(.devices, offset: 0),
                trace: .none,
                timestamp: at(0)
            )
        )
    }

    /// Of Ana, with a phone and a tablet of Apple's.
    private static func bench(_ channel: ChannelName = .devices) throws -> Bench {
        var bench = Bench(rules(channel))
        bench.apply(try DeviceTests.device(token: tokens[0]))
        bench.apply(try DeviceTests.device("tablet", token: tokens[1]))
        return bench
    }

    /// Of Ana, who may have one device: a phone, to which a notification goes.
    private static func benchOfOneDevice() throws -> Bench {
        var rules = rules()
        rules.maximumDevices = 1
        var bench = Bench(rules)
        bench.apply(try DeviceTests.device(token: tokens[0]))
        bench.apply(DeviceTests.request("a", content))
        return bench
    }

    /// With a notification that both show.
    private static func shown() throws -> Bench {
        var bench = try bench()
        bench.apply(DeviceTests.request("a", content))
        try bench.answer(.accepted, number: 0)
        try bench.answer(.accepted, number: 1)
        return bench
    }

    private static func outcomes(_ event: DeliveryEvent?) throws -> [String] {
        try DeviceTests.devices(event).map { device in
            let members = ["device", "outcome", "reason"].compactMap { device[$0]?.stringValue }
            return members.joined(separator: " ")
        }
    }

    @Test
    func `the event of a removal that no device can carry out is published once, also when the removal is read again`()
        throws
    {
        var bench = try Self.benchOfOneDevice()
        try bench.answer(.accepted)
        bench.apply(DeviceTests.signal(.retirement(.init(device: "phone", token: nil, gone: at(9)))))
        // Two are retired since, of which one is kept: nobody knows the phone any more.
        bench.apply(try DeviceTests.device("tablet", token: Self.tokens[1]))
        bench.apply(try DeviceTests.device("laptop", token: String(repeating: "c3", count: 32)))
        try bench.commit()
        let offset = bench.offset
        let events = bench.apply(removal("r"))
        #expect(events.map(\.name) == [.removed])
        var next = Bench(bench.center.rules, over: bench.store)
        try next.center.replay(removal("r").placed(at: offset), at: at(5))
        next.apply(DeviceTests.request("b", Self.content))
        #expect(!next.events.contains { $0.name == .removed })
    }

    // MARK: - Delivery

    @Test func `one notification reaches each device by the channel of its platform`() throws {
        func sent(_ channel: ChannelName?) throws -> [String] {
            var rules = Self.rules()
            rules.channels = ChannelRules(.devices, and: [.apns, .fcm])
            var bench = Bench(rules)
            bench.apply(try DeviceTests.device(token: Self.tokens[0]))
            bench.apply(try Self.android())
            bench.apply(DeviceTests.request("a", Self.content, channel: channel))
            return bench.sends.map { "\($0.channel.rawValue) \($0.registration?.platform ?? "")" }.sorted()
        }
        #expect(try sent(nil) == ["apns apns", "fcm fcm"])
        #expect(try sent(.fcm) == ["fcm fcm"] && sent(.apns) == ["apns apns"])
    }

    @Test func `each device has an operation of its own, which says how to reach it`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        #expect(bench.sends.map(\.registration?.token) == [Self.tokens[0], Self.tokens[1]])
        #expect(bench.sends.map(\.channel) == [.apns, .apns])
        #expect(bench.sends[0].id != bench.sends[1].id)
    }

    @Test func `the request closes when each device has answered once, with the outcome of each`() throws {
        var bench = try Self.bench()
        bench.apply(try DeviceTests.device("watch", token: Self.tokens[2]))
        bench.apply(DeviceTests.request("a", Self.content))
        #expect(try bench.answer(.rejected(.payloadTooLarge), number: 0).isEmpty)
        #expect(try bench.answer(.failed(retryAfter: nil), number: 1).isEmpty)
        let events = try bench.answer(.accepted, number: 2)
        #expect(events.summary == ["delivered a!"] && events[0].channel == "devices")
        #expect(
            try Self.outcomes(events.first) == [
                "phone rejected payload-too-large", "tablet retrying", "watch accepted",
            ]
        )
        bench.fire(100_000)
        let late = try bench.answer(.accepted, 100_000)
        #expect(late.summary == ["device.attempted a"] && late[0].device == "tablet" && late[0].outcome == .accepted)
    }

    @Test func `a device that has refused it does not get it again when what may be there was taken away`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.unanswered(retryAfter: nil), number: 0)
        try bench.answer(.failed(retryAfter: 60_000), number: 1)
        bench.fire(10_000)
        try bench.answer(.rejected(.payloadTooLarge), 10_001, number: 2)
        #expect(bench.sends.count == 4 && bench.sends[3].kind == .remove)
        try bench.answer(.removed(.requested), 10_002, number: 3)
        #expect(bench.sends.count == 4)
        bench.fire(100_000)
        let events = try bench.answer(.accepted, 100_001, number: 4)
        #expect(events.summary == ["delivered a!"])
        #expect(try Self.outcomes(events.first) == ["phone rejected payload-too-large", "tablet accepted"])
    }

    @Test func `what was delivered goes on to the devices that it was for, and to none that registers then, or again`()
        throws
    {
        var bench = try Self.bench()
        bench.apply(try DeviceTests.device("watch", token: Self.tokens[2]))
        bench.apply(DeviceTests.request("a", #"{"title":"T","badgeIncrement":1}"#))
        try bench.answer(.accepted, number: 0)
        try bench.answer(.failed(retryAfter: nil), number: 1)
        #expect(try bench.answer(.accepted, number: 2).summary == ["delivered a!"])
        bench.apply(DeviceTests.gone("phone", at: 5), 5)
        try bench.answer(.removed(.requested), 6)
        bench.apply(try DeviceTests.device(token: String(repeating: "d4", count: 32), at: 7), 7)
        bench.apply(try DeviceTests.device("laptop", token: String(repeating: "e5", count: 32), at: 7), 7)
        bench.fire(100_000)
        #expect(bench.sends.dropFirst(4).map(\.registration?.token) == [Self.tokens[1]])
        #expect(try bench.answer(.accepted, 100_001).summary == ["device.attempted a"])
        #expect(bench.recipient(key(""))?.registrations.first { $0.name == "laptop" }?.badge ?? 0 == 0)
        #expect(bench.entry(key("order"))?.screen == nil && bench.sends.count == 5)
    }

    @Test func `a device that leaves during a late attempt does not show what it accepts then`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.failed(retryAfter: nil), number: 0)
        try bench.answer(.accepted, number: 1)
        bench.fire(100_000)
        bench.apply(DeviceTests.gone("phone", at: 100_001), 100_001)
        let events = try bench.answer(.accepted, 100_002, number: 2)
        #expect(events.summary == ["device.attempted a"] && events[0].outcome == .accepted)
        #expect(bench.entry(key("order"))?.delivered?.devices == ["tablet"])
        #expect(bench.sends.count == 4 && bench.sends[3].kind == .remove)
        try bench.answer(.removed(.requested), 100_003)
        #expect(bench.entry(key("order"))?.screen == nil)
    }

    @Test func `an answer to what a device goes on showing says that it is gone from there`() throws {
        var bench = try Self.shown()
        bench.apply(DeviceTests.request("b", Self.content), 10)
        try bench.answer(.rejected(.rejected), 20, number: 2)
        try bench.answer(.accepted, 20, number: 3)
        bench.apply(RecallTests.response("open", to: "a", on: "phone"), 30)
        bench.apply(removal("r", key("order"), .delivered, at: at(40)), 40)
        #expect(bench.sends.dropFirst(4).map(\.registration?.token) == [Self.tokens[1]])
    }

    @Test func `when every device has refused it, it has failed for the last reason`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.rejected(.payloadTooLarge), number: 0)
        let events = try bench.answer(.gone(at(5)), number: 1)
        #expect(events.summary == ["failed a!"] && events[0].reason == .unregistered)
    }

    @Test func `a device waits for its next attempt, and the others do not wait for it`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.failed(retryAfter: 60_000), number: 0)
        try bench.answer(.accepted, number: 1)
        bench.apply(DeviceTests.request("b", Self.content), 10)
        #expect(bench.sends.dropFirst(2).map(\.registration?.token) == [Self.tokens[0], Self.tokens[1]])
    }

    @Test func `an answer is expected also while another device waits for long`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.failed(retryAfter: 3_000_000), number: 0)
        try bench.commit()
        #expect(try bench.answer(.accepted, number: 1).summary == ["delivered a!"])
    }

    // MARK: - Which devices

    @Test func `without a registered device nobody gets it`() {
        var bench = Bench(Self.rules())
        let events = bench.apply(DeviceTests.request("a", Self.content))
        #expect(events.summary == ["suppressed a!"] && events[0].reason == .noDevice)
    }

    @Test func `a device that no channel reaches is listed with the reason`() throws {
        var bench = try Self.bench()
        bench.apply(try Self.android())
        bench.apply(DeviceTests.request("a", Self.content))
        #expect(bench.sends.count == 2)
        try bench.answer(.accepted, number: 0)
        let events = try bench.answer(.accepted, number: 1)
        #expect(try Self.outcomes(events.first).contains("android suppressed unsupported-form"))
    }

    @Test func `where no channel reaches any device it is suppressed`() throws {
        var bench = Bench(Self.rules())
        bench.apply(try Self.android())
        let events = bench.apply(DeviceTests.request("a", Self.content))
        #expect(events.summary == ["suppressed a!"] && events[0].reason == .unsupportedForm)
    }

    @Test func `a service without a channel of a platform cannot send to devices`() {
        var bench = Bench(LifecycleRules(retention: 1_000_000))
        let events = bench.apply(DeviceTests.request("a", Self.content, channel: .devices))
        #expect(events.summary == ["failed a!"] && events[0].reason == .unsupportedForm)
    }

    @Test func `under a key a device shows one, whether it was sent to its platform or to all devices`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.accepted, number: 0)
        try bench.answer(.accepted, number: 1)
        bench.apply(DeviceTests.request("b", Self.content, channel: .apns), 1)
        try bench.answer(.accepted, 2, number: 2)
        let events = try bench.answer(.accepted, 2, number: 3)
        #expect(events.summary == ["delivered b!"] && events[0].channel == "apns")
        bench.fire(100_000)
        #expect(bench.sends.count == 4)
    }

    @Test func `each device gets the texts of its own locale, then of a shorter one, then those of the content`() throws
    {
        var bench = Bench(Self.rules())
        let locales = [("a", "de-AT"), ("b", "zh-Hans-CN"), ("c", "fr"), ("d", "DE")]
        for (name, locale) in locales {
            var registration = try DeviceRegistration(platform: "apns", token: String(repeating: name, count: 64))
            registration.locale = locale
            bench.apply(
                .registration(
                    .init(
                        key: key(name),
                        registration: registration,
                        position: .init(.devices, offset: 0),
                        trace: .none,
                        timestamp: at(0)
                    )
                )
            )
        }
        let variants = #"{"zh":{"title":"Z"},"de":{"title":"D"},"zh-Hans":{"title":"S"}}"#
        bench.apply(DeviceTests.request("a", #"{"title":"T","localizations":\#(variants)}"#))
        for number in 0..<4 { try bench.answer(.accepted, number: number) }
        let devices = try DeviceTests.devices(bench.events.last)
        #expect(devices.map { $0["localization"]?.stringValue } == ["de", "zh-Hans", nil, "de"])
        let chosen = bench.sends.map { $0.devices.map { String(decoding: $0, as: UTF8.self) } ?? "" }
        #expect(chosen[0].contains(#""localization":"de""#) && !chosen[2].contains("localization"))
    }

    // MARK: - The end of a registration

    @Test func `a token that is gone is retired by the recipient's own record, as a gateway would report it`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.gone(at(7)), 9, number: 0)
        let signal = try #require(bench.signals.first)
        guard case .retirement(let retirement) = signal.signal else {
            Issue.record("\(signal.signal.type)")
            return
        }
        #expect(signal.recipient == "ana" && retirement.device == "phone" && retirement.gone == at(7))
        #expect(retirement.token == Self.tokens[0] && retirement.application == key("order").application)
        bench.apply(DeviceTests.signal(signal.signal, at: 10), 10)
        #expect(bench.devices.last?.name == .retired && bench.devices.last?.reason == .unregistered)
    }

    @Test func `a device that was registered again since keeps its new token`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        bench.apply(try DeviceTests.device(token: Self.tokens[2], at: 8), 8)
        try bench.answer(.gone(at(9)), 9, number: 0)
        let signal = try #require(bench.signals.first)
        bench.apply(DeviceTests.signal(signal.signal, at: 10), 10)
        #expect(bench.recipient(key(""))?.hasActiveDevice("phone") == true)
    }

    @Test func `a removal is for each device that shows it, also for one that has left`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.accepted, number: 0)
        try bench.answer(.accepted, number: 1)
        bench.apply(DeviceTests.gone("tablet", at: 5), 5)
        let left = try #require(bench.sends.last)
        #expect(bench.sends.count == 3 && left.kind == .remove && left.registration?.token == Self.tokens[1])
        #expect(bench.apply(removal("r", key("order")), 6).isEmpty)
        #expect(bench.sends.count == 4 && bench.sends.last?.registration?.token == Self.tokens[0])
        #expect(try bench.answer(.removed(.requested), 7, number: 2).isEmpty)
        let events = try bench.answer(.removed(.overwritten), 8, number: 3)
        #expect(events.summary == ["removed a"] && events[0].by == id("r"))
        #expect(try Self.outcomes(events.first) == ["phone overwritten", "tablet requested"])
        #expect(bench.entry(key("order"))?.screen == nil)
    }

    @Test func `a device that refuses its removal is told as impossible, with the reason`() throws {
        var bench = try Self.shown()
        bench.apply(removal("r", key("order")), 5)
        try bench.answer(.removed(.requested), 6, number: 2)
        let events = try bench.answer(.gone(at(6)), 6, number: 3)
        #expect(try Self.outcomes(events.first) == ["phone requested", "tablet impossible unregistered"])
    }

    @Test func `the event of a removal comes when each device was tried, and what is tried again is told later`() throws
    {
        var bench = try Self.shown()
        bench.apply(removal("r", key("order")), 5)
        #expect(try bench.answer(.failed(retryAfter: nil), 6, number: 2).isEmpty)
        let events = try bench.answer(.removed(.requested), 7, number: 3)
        #expect(try Self.outcomes(events.first) == ["phone retrying", "tablet requested"])
        bench.fire(100_000)
        let late = try bench.answer(.removed(.overwritten), 100_000)
        #expect(late.summary == ["device.attempted a"] && late[0].device == "phone" && late[0].removal == .overwritten)
        #expect(bench.entry(key("order"))?.isIdle == true)
    }

    @Test func `nothing else is told of the key before a removal that waits for its answers`() throws {
        var bench = try Self.shown()
        bench.apply(removal("r", key("order")), 5)
        bench.apply(DeviceTests.request("b", Self.content), 6)
        try bench.answer(.removed(.requested), 7, number: 2)
        try bench.answer(.removed(.requested), 7, number: 3)
        try bench.answer(.accepted, 8, number: 4)
        try bench.answer(.accepted, 8, number: 5)
        #expect(bench.events.summary.suffix(2) == ["removed a", "delivered b!"])
        let again = bench.apply(removal("s", key("order")), 9) + bench.apply(removal("t", key("order"), .delivered), 9)
        #expect(again.summary == ["removed b", "cancellation.missed t"])
        #expect(try Self.outcomes(again.first) == ["phone retrying", "tablet retrying"])
        #expect(try bench.answer(.removed(.requested), 10, number: 6).summary == ["device.attempted b"])
    }

    @Test func `a removal that waits for its answers survives a restart`() throws {
        var bench = try Self.shown()
        bench.apply(removal("r", key("order")), 5)
        try bench.answer(.removed(.overwritten), 6, number: 2)
        try bench.commit()
        var next = Bench(Self.rules(), over: bench.store, firedThrough: at(10))
        (next.offset, next.center.keepsRecipients) = (10, true)
        #expect(next.fire(20).isEmpty)
        let events = try next.answer(.removed(.requested), 21)
        #expect(events.summary == ["removed a"] && events[0].by == id("r"))
        #expect(try Self.outcomes(events.first) == ["phone overwritten", "tablet requested"])
    }

    @Test func `of what a device got less is told, at once and later`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.failed(retryAfter: nil), number: 0)
        let events = try bench.answer(.reduced([.body, .attachments]), number: 1)
        let devices = try DeviceTests.devices(events.first)
        #expect(
            devices.map { $0["reduced"]?.arrayValue?.compactMap(\.stringValue) } == [nil, ["body", "attachments"]]
        )
        #expect(devices.map { $0["outcome"]?.stringValue } == ["retrying", "accepted"])
        bench.fire(100_000)
        #expect(try bench.answer(.reduced([.body]), 100_000).first?.reduced == [.body])
    }

    @Test func `what a device got less survives a restart`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.reduced([.body]), number: 0)
        try bench.commit()
        var next = Bench(Self.rules(), over: bench.store, firedThrough: at(10))
        (next.offset, next.center.keepsRecipients) = (10, true)
        next.fire(20)
        let devices = try DeviceTests.devices(try next.answer(.accepted, 21).first)
        #expect(devices[0]["reduced"]?.arrayValue?.count == 1 && devices[1]["reduced"] == nil)
    }

    @Test
    func `a tap on a device that has accepted removes it from the other one only, also while that one is tried again`()
        throws
    {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.accepted, number: 0)
        try bench.commit()
        var next = Bench(Self.rules(), over: bench.store, firedThrough: at(10))
        (next.offset, next.center.keepsRecipients) = (10, true)
        next.fire(20)
        #expect(next.sends.map(\.registration?.token) == [Self.tokens[1]])
        next.apply(RecallTests.response("open", to: "a", on: "phone"), 21)
        let events = try next.answer(.accepted, 22)
        #expect(events.summary == ["delivered a!"])
        #expect(next.sends.dropFirst().map(\.registration?.token) == [Self.tokens[1]])
        let removed = try next.answer(.removed(.requested), 23)
        #expect(removed.summary == ["removed a"] && removed[0].device == "phone")
    }

    @Test func `a tap on a device that waits for its next attempt takes away what comes there after the tap`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.unanswered(retryAfter: nil), number: 0)
        bench.apply(RecallTests.response("open", to: "a", on: "phone"), 10)
        bench.fire(100_000)
        #expect(bench.sends.map(\.registration?.token) == [Self.tokens[0], Self.tokens[1], Self.tokens[0]])
        try bench.answer(.accepted, 100_001, number: 2)
        try bench.answer(.accepted, 100_002, number: 1)
        let removals = bench.sends.filter { $0.kind == .remove }
        #expect(Set(removals.map(\.registration?.token)) == [Self.tokens[0], Self.tokens[1]])
    }

    @Test
    func `a device that leaves while an earlier owner may have sent to it removes that, also after the next owner`()
        throws
    {
        func owner(after bench: inout Bench, at now: Int64) throws -> Bench {
            try bench.commit()
            var next = Bench(Self.rules(), over: bench.store, firedThrough: at(6_000))
            (next.offset, next.center.keepsRecipients) = (bench.offset, true)
            next.center.bench.conditions.takenOverAt = at(now)
            try next.center.refill(at: at(now))
            return next
        }
        var first = try Self.bench()
        first.apply(request("a", key("order"), interval(5)))
        // Its clock is behind.
        var second = try owner(after: &first, at: 1_000)
        try second.commit()
        second.apply(DeviceTests.gone("phone", at: 2_000), 2_000)
        #expect(second.sends.isEmpty)
        var third = try owner(after: &second, at: 3_000)
        third.fire(7_000)
        #expect(third.sends.filter { $0.kind == .remove }.map(\.registration?.token) == [Self.tokens[0]])
        #expect(third.sends.filter { $0.kind != .remove }.map(\.registration?.token) == [Self.tokens[1]])
    }

    @Test func `a device that left is asked to remove what it shows also after another one took its place`() throws {
        var bench = try Self.benchOfOneDevice()
        try bench.answer(.accepted)
        // Nothing may begin before the next marker.
        bench.center.sendLimit = at(4)
        bench.apply(DeviceTests.gone(at: 5), 5)
        bench.apply(try DeviceTests.device("tablet", token: Self.tokens[1], at: 6), 6)
        #expect(bench.recipient(key(""))?.registrations.filter(\.isActive).map(\.name) == ["tablet"])
        bench.center.sendLimit = .latest
        bench.fire(10)
        #expect(bench.sends.count == 2 && bench.sends.last?.kind == .remove)
        #expect(bench.sends.last?.registration?.token == Self.tokens[0])
    }

    @Test func `what a device accepts after it has left is removed there, also when its registration is forgotten`()
        throws
    {
        var bench = try Self.benchOfOneDevice()
        bench.apply(DeviceTests.gone(at: 5), 5)
        bench.apply(try DeviceTests.device("tablet", token: Self.tokens[1], at: 6), 6)
        #expect(try bench.answer(.accepted, 7, number: 0).summary == ["delivered a!"])
        try bench.commit()
        bench.fire(10_000)
        #expect(bench.sends.last?.kind == .remove && bench.sends.last?.registration?.token == Self.tokens[0])
        #expect(try bench.answer(.removed(.requested), 10_000).summary == ["removed a"])
        // When it comes back, what is new goes to its new token.
        bench.apply(try DeviceTests.device(token: Self.tokens[2], at: 10_001), 10_001)
        bench.apply(DeviceTests.request("b", Self.content), 10_002)
        try bench.answer(.accepted, 10_003)
        #expect(bench.sends.last?.registration?.token == Self.tokens[2])
    }

    @Test func `a device that makes room for another one is asked to remove what it shows`() throws {
        var bench = try Self.benchOfOneDevice()
        try bench.answer(.accepted)
        let events = bench.apply(try DeviceTests.device("tablet", token: Self.tokens[1], at: 5), 5)
        #expect(events.summary == ["removed a"] && events[0].device == "phone")
        #expect(bench.devices.last?.reason == .capped && bench.devices.last?.shows == ["order"])
        #expect(bench.sends.count == 2 && bench.sends.last?.kind == .remove)
        #expect(bench.sends.last?.registration?.token == Self.tokens[0])
        try bench.answer(.removed(.requested), 6)
        #expect(bench.entry(key("order"))?.isIdle == true)
    }

    @Test func `what was being sent to a device that makes room is removed there`() throws {
        var bench = try Self.benchOfOneDevice()
        bench.apply(try DeviceTests.device("tablet", token: Self.tokens[1], at: 5), 5)
        try bench.answer(.accepted, 7, number: 0)
        #expect(bench.sends.last?.kind == .remove && bench.sends.last?.registration?.token == Self.tokens[0])
    }

    @Test func `what a device accepts after its token has another name is removed there, even later`() throws {
        var bench = try Self.benchOfOneDevice()
        // The app on the phone, installed again.
        bench.apply(try DeviceTests.device("phone-2", token: Self.tokens[0], at: 5), 5)
        #expect(bench.devices.last?.reason == .replaced)
        #expect(try bench.answer(.accepted, 7).summary == ["delivered a!"])
        // One that is retired is kept.
        bench.apply(try DeviceTests.device("tablet", token: Self.tokens[1], at: 8), 8)
        #expect(bench.recipient(key(""))?.registrations.contains { $0.name == "phone" } == false)
        try bench.commit()
        var next = Bench(bench.center.rules, over: bench.store)
        next.offset = bench.offset
        next.apply(removal("r", at: at(9)), 9)
        #expect(next.sends.map(\.kind) == [.remove] && next.sends[0].registration?.token == Self.tokens[0])
    }

    /// A new owner, who reads that devices take the place of the phone before the request that went to it, and its removal.
    private static func takenOver(by devices: [(name: String, token: String)]) throws -> Bench {
        var rules = rules()
        rules.maximumDevices = 1
        var former = Bench(rules)
        former.apply(try DeviceTests.device(token: tokens[0]))
        try former.commit()
        var next = Bench(rules, over: former.store, firedThrough: at(10))
        (next.center.holdsTimers, next.offset, next.center.keepsRecipients) = (true, 10, true)
        for device in devices.prefix(1) {
            next.apply(try DeviceTests.device(device.name, token: device.token, at: 20), 20)
        }
        next.apply(DeviceTests.request("a", content), 20)
        #expect(next.apply(removal("r", at: at(20)), 20).summary == ["cancelled a!"])
        for device in devices.dropFirst() {
            next.apply(try DeviceTests.device(device.name, token: device.token, at: 20), 20)
        }
        next.center.holdsTimers = false
        next.fire(30)
        return next
    }

    @Test func `a device that made room before a request that the former owner may have sent to it removes it`()
        throws
    {
        let next = try Self.takenOver(by: [("tablet", Self.tokens[1])])
        #expect(next.sends.allSatisfy { $0.kind == .remove })
        #expect(Set(next.sends.map(\.registration?.token)) == [Self.tokens[0], Self.tokens[1]])
    }

    @Test func `it is reached also when others have taken its place among those that are retired`() throws {
        let next = try Self.takenOver(by: [("tablet", Self.tokens[1]), ("watch", Self.tokens[2])])
        #expect(next.sends.contains { $0.kind == .remove && $0.registration?.token == Self.tokens[0] })
    }

    // MARK: - A restart

    @Test(arguments: [false, true])
    func `what an owner before may have sent is removed also on a device whose registration is read again`(
        _ isDue: Bool
    )
        throws
    {
        var rules = Self.rules()
        rules.maximumDevices = 2
        var former = Bench(rules)
        former.apply(try DeviceTests.device(token: Self.tokens[0]))
        former.apply(try DeviceTests.device("tablet", token: Self.tokens[1]))
        // The former owner sends it once the watch is registered.
        if isDue {
            former.apply(request("a", key("order"), interval(5)))
        } else {
            former.apply(DeviceTests.request("a", Self.content))
        }
        try former.commit()
        var next = Bench(rules, over: former.store, firedThrough: at(6_000))
        (next.center.holdsTimers, next.offset, next.center.keepsRecipients) = (true, 10, true)
        try next.center.refill(at: at(7_000))
        next.apply(try DeviceTests.device("watch", token: Self.tokens[2], at: 5_500), 7_000)
        let events = next.apply(request("b", key("order"), interval(60, from: at(5_600))), 7_000)
        #expect(events.first?.name == .superseded && events.first?.inDoubt == true)
        next.center.holdsTimers = false
        next.fire(7_001)
        #expect(next.sends.allSatisfy { $0.kind == .remove })
        #expect(Set(next.sends.compactMap(\.registration?.token)) == Set(Self.tokens))
    }

    @Test func `operations of several devices survive a restart, each in doubt by itself`() throws {
        var bench = try Self.bench()
        bench.apply(DeviceTests.request("a", Self.content))
        try bench.answer(.rejected(.payloadTooLarge), number: 0)
        try bench.commit()
        var next = Bench(Self.rules(), over: bench.store, firedThrough: at(10))
        (next.offset, next.center.keepsRecipients) = (10, true)
        next.fire(20)
        #expect(next.sends.map(\.registration?.token) == [Self.tokens[1]])
        #expect(next.sends.map(\.id) == [bench.sends[1].id])
        let events = try next.answer(.accepted, 21)
        #expect(events.summary == ["delivered a!"])
        #expect(try Self.outcomes(events.first) == ["phone rejected payload-too-large", "tablet accepted"])
    }
}
