import NotificationDelivery
import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// The devices of recipients: registrations, what each is given, tokens that move, states of apps.
@Suite("Devices in the center")
struct DeviceTests {
    // MARK: - Inputs

    static let token = String(repeating: "a1", count: 32)

    static func device(
        _ name: String = "phone",
        of recipient: String = "ana",
        token: String = token,
        status: AuthorizationStatus = .authorized,
        settings: [DeviceSettings.Name: NotificationSetting] = [:],
        zone: String? = nil,
        kind: TokenKind = .device,
        at registered: Int64 = 0,
        written: Int64? = nil
    ) throws -> CenterInput {
        var json = #"{"platform":"apns","token":"\#(token)","authorizationStatus":"\#(status.rawValue)""#
        json += #","registeredAt":"\#(at(registered).rfc3339)""#
        if let zone { json += #","timeZone":"\#(zone)""# }
        if kind != .device { json += #","kind":"\#(kind.rawValue)""# }
        if kind == .liveActivityStart { json += #","attributesType":"Order""# }
        let pairs = settings.map { #""\#($0.key.rawValue)":"\#($0.value.rawValue)""# }.sorted()
        json += #","settings":{\#(pairs.joined(separator: ","))}}"#
        return .registration(
            .init(
                key: key(name, recipient: recipient),
                registration: try DeviceRegistration(json: Array(json.utf8)),
                position: .init(.devices, offset: 0),
                trace: .none,
                timestamp: at(written ?? registered)
            )
        )
    }

    static func gone(_ name: String = "phone", of recipient: String = "ana", at written: Int64 = 0) -> CenterInput {
        .registration(
            .init(
                key: key(name, recipient: recipient),
                registration: nil,
                position: .init(.devices, offset: 0),
                trace: .none,
                timestamp: at(written)
            )
        )
    }

    static func signal(_ signal: Signal, of recipient: String = "ana", at written: Int64 = 0) -> CenterInput {
        .signal(
            .init(
                recipient: key("", recipient: recipient),
                signal: signal,
                position: .init(.signals, offset: 0),
                trace: .none,
                timestamp: at(written)
            )
        )
    }

    static func request(
        _ name: String,
        _ content: String,
        _ key: NotificationKey = key("order"),
        channel: ChannelName? = nil
    ) -> CenterInput {
        .request(
            .init(
                id: id(name),
                key: key,
                position: .init(.requests, offset: 0),
                version: nil,
                content: Array(content.utf8)[...],
                plan: .immediate(collapseWindow: 0),
                expiration: nil,
                channel: channel,
                trace: .none,
                timestamp: at(0)
            )
        )
    }

    static func devices(_ event: DeliveryEvent?) throws -> [[String: JSONValue]] {
        guard let json = event?.devices, case .array(let list) = try JSONValue.parse(Array(json)) else { return [] }
        return list.map { value in
            guard case .object(let members) = value else { return [:] }
            return Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value) })
        }
    }

    // MARK: - Kinds of tokens

    @Test(arguments: TokenKind.allCases.filter { $0 != .device })
    func `only the ordinary token of a phone gets notifications`(kind: TokenKind) throws {
        var bench = Bench()
        bench.apply(try Self.device("phone"))
        let events = bench.apply(
            try Self.device("phone-2", token: String(repeating: "b2", count: 32), kind: kind, at: 1)
        )
        #expect(events.isEmpty)
        let delivered = bench.apply(Self.request("a", #"{"title":"T"}"#)).last
        #expect(try Self.devices(delivered).map { $0["device"] } == [.string("phone")])
    }

    @Test func `a recipient who has only tokens of other kinds counts as one without devices`() throws {
        var bench = Bench()
        bench.apply(try Self.device("calls", kind: .voip))
        let delivered = bench.apply(Self.request("a", #"{"title":"T"}"#))
        #expect(delivered.summary == ["delivered a!"] && delivered[0].devices == nil)
        var rules = LifecycleRules(retention: 1_000_000)
        rules.channels = ChannelRules(.devices, and: [.devices, .apns])
        bench = Bench(rules)
        bench.apply(try Self.device("calls", kind: .voip))
        let nobody = bench.apply(Self.request("a", #"{"title":"T"}"#))
        #expect(nobody.summary == ["suppressed a!"] && nobody[0].reason == .noDevice && bench.sends.isEmpty)
    }

    @Test func `the kind outlives the process, in a form that older versions refuse`() throws {
        for kind in [TokenKind.device, .voip] {
            var record = RecipientRecord()
            var registration = try DeviceRegistration(platform: "apns", token: Self.token)
            registration.kind = kind
            _ = record.register("phone", registration, writtenAt: at(0), at: at(0), atMost: 9)
            #expect(try RecipientRecord(json: record.json) == record)
            let form = kind == .device ? 6 : 10
            #expect(String(decoding: record.json, as: UTF8.self).hasPrefix("{\"form\":\(form),"))
        }
    }

    // MARK: - What each device is given

    @Test func `a recipient of whom no device is known gets it without a list of devices`() {
        var bench = Bench()
        let events = bench.apply(Self.request("a", #"{"title":"T"}"#))
        #expect(events.summary == ["delivered a!"] && events[0].devices == nil)
    }

    @Test func `where devices are required, it is suppressed`() {
        var rules = LifecycleRules(retention: 1_000_000)
        rules.requiresDevice = true
        var bench = Bench(rules)
        let events = bench.apply(Self.request("a", #"{"title":"T"}"#))
        #expect(events.summary == ["suppressed a!"] && events[0].reason == .noDevice)
        // A replay could know devices.
        #expect(bench.center.cut(at: at(1)).map(\.key) == [key("order").encoded])
    }

    @Test
    func `a list says how to reach a device, and what it is not given has that too, unless the settings leave it out`()
        throws
    {
        for lists in [true, false] {
            var rules = LifecycleRules(retention: 1_000_000)
            rules.listsRegistrations = lists
            var bench = Bench(rules)
            bench.apply(try Self.device("phone"))
            bench.apply(try Self.device("tablet", token: String(repeating: "b2", count: 32), status: .denied))
            let delivered = try Self.devices(bench.apply(Self.request("a", #"{"title":"T"}"#)).last)
            let removed = try Self.devices(
                bench.apply(removal("r", key("order"), .delivered)).first { $0.name == .removed }
            )
            for (list, count) in [(delivered, 2), (removed, 1)] {
                #expect(list.count == count)
                for device in list {
                    #expect((device["platform"] == .string("apns")) == lists && (device["token"] != nil) == lists)
                }
            }
        }
    }

    @Test func `each active device is listed with what it is given, or why it is left out`() throws {
        var bench = Bench()
        bench.apply(try Self.device("phone", settings: [.sound: .disabled]))
        bench.apply(try Self.device("tablet", token: String(repeating: "b2", count: 32), status: .denied))
        bench.apply(try Self.device("watch", token: String(repeating: "c3", count: 32), status: .provisional))
        let event = bench.apply(Self.request("a", #"{"title":"T","sound":"s","badge":4}"#)).last
        let list = try Self.devices(event)
        #expect(list.map { $0["device"] } == [.string("phone"), .string("tablet"), .string("watch")])
        #expect(list.map { $0["outcome"] } == [.string("accepted"), .string("suppressed"), .string("accepted")])
        #expect(list[0]["presentation"] == .array([.string("banner"), .string("list"), .string("badge")]))
        #expect(list[0]["badge"] == .number("4") && list[1]["reason"] == .string("not-authorized"))
        #expect(event?.closes == true && event?.name == .delivered)
    }

    @Test func `when no device may present it, it is suppressed with the reason and the list`() throws {
        var bench = Bench()
        bench.apply(try Self.device(status: .denied))
        let denied = bench.apply(Self.request("a", #"{"title":"T"}"#))
        #expect(denied.summary == ["suppressed a!"] && denied[0].reason == .notAuthorized && denied[0].devices != nil)
        bench.apply(try Self.device(settings: [.alert: .disabled, .sound: .disabled, .badge: .disabled], at: 10))
        #expect(bench.apply(Self.request("b", #"{"title":"T","sound":"s"}"#))[0].reason == .disabled)
        bench.apply(Self.gone(at: 20))
        #expect(bench.apply(Self.request("c", #"{"title":"T"}"#))[0].reason == .noDevice)
    }

    @Test func `a badge is absolute, or incremented for each device, and outlives the process`() throws {
        var bench = Bench()
        bench.apply(try Self.device())
        bench.apply(Self.request("a", #"{"title":"T","badge":3}"#))
        let event = bench.apply(Self.request("b", #"{"title":"T","badgeIncrement":2}"#)).last
        #expect(try Self.devices(event)[0]["badge"] == .number("5"))
        try bench.commit()
        var next = Bench(over: bench.store)
        next.center.keepsRecipients = true
        next.offset = 10
        let later = next.apply(Self.request("c", #"{"title":"T","badgeIncrement":1}"#)).last
        #expect(try Self.devices(later)[0]["badge"] == .number("6"))
        next.apply(Self.signal(.appState(.init(device: "phone", state: .background, badge: 0)), at: 5), 5)
        let cleared = next.apply(Self.request("d", #"{"title":"T","badgeIncrement":1}"#)).last
        #expect(try Self.devices(cleared)[0]["badge"] == .number("1"))
    }

    @Test func `an app in the foreground presents what the policy says, until it leaves or has been silent for long`()
        throws
    {
        var bench = Bench()
        bench.apply(try Self.device())
        bench.center.categories = CategoryBook([
            "shop": try CategorySet(json: Array(#"{"categories":[{"identifier":"QUIET","presentation":[]}]}"#.utf8))
        ])
        let content = #"{"title":"T","categoryIdentifier":"QUIET"}"#
        func presentation(_ event: DeliveryEvent?) throws -> JSONValue? { try Self.devices(event)[0]["presentation"] }
        let usual = JSONValue.array([.string("banner"), .string("list")])
        #expect(try presentation(bench.apply(Self.request("a", content), 1).last) == usual)
        bench.apply(Self.signal(.appState(.init(device: "phone", state: .foreground)), at: 10), 10)
        let front = bench.apply(Self.request("b", content), 20).last
        #expect(try presentation(front) == .array([]) && Self.devices(front)[0]["decidedBy"] == .string("category"))
        #expect(try presentation(bench.apply(Self.request("c", content), 3_600_011).last) == usual)
        bench.apply(Self.signal(.appState(.init(device: "phone", state: .foreground)), at: 3_700_000), 3_700_000)
        bench.apply(Self.signal(.appState(.init(device: "phone", state: .background)), at: 3_700_001), 3_700_001)
        #expect(try presentation(bench.apply(Self.request("d", content), 3_700_002).last) == usual)
    }

    @Test func `a device is listed as in the foreground for as long as that counts`() throws {
        var bench = Bench()
        bench.apply(try Self.device())
        bench.apply(Self.signal(.appState(.init(device: "phone", state: .foreground)), at: 10), 10)
        func listed(_ time: Int64) throws -> JSONValue? {
            var json: [UInt8] = []
            for device in try bench.center.devices(for: NotificationQuery(key: key("")), at: at(time)) {
                device.write(to: &json, showsToken: true)
            }
            return try JSONValue.parse(json)["foreground"]
        }
        #expect(try listed(3_600_010) == .bool(true))
        #expect(try listed(3_600_011) == nil)
    }

    @Test func `an older state of an app changes nothing`() throws {
        var bench = Bench()
        bench.apply(try Self.device())
        bench.apply(Self.signal(.appState(.init(device: "phone", state: .background)), at: 10), 10)
        bench.apply(Self.signal(.appState(.init(device: "phone", state: .foreground)), at: 9), 11)
        bench.apply(Self.signal(.appState(.init(device: "other", state: .foreground)), at: 12), 12)
        #expect(bench.outcomes.suffix(2) == [.unknown, .unknown])
    }

    // MARK: - Registrations

    @Test func `a registration is announced and claims its token; the same again does neither twice`() throws {
        var bench = Bench()
        bench.apply(try Self.device())
        #expect(bench.devices.map(\.name) == [.registered] && bench.claims.count == 1)
        #expect(bench.claims[0].token.utf8.count == 64 && !bench.claims[0].claim.isReleased)
        bench.apply(try Self.device(at: 5))
        #expect(bench.devices.count == 1 && bench.outcomes.last == .refreshed)
        bench.apply(try Self.device(at: 3))
        #expect(bench.devices.count == 1 && bench.outcomes.last == .refreshed)
    }

    @Test func `a new token releases the former one`() throws {
        var bench = Bench()
        bench.apply(try Self.device())
        bench.apply(try Self.device(token: String(repeating: "b2", count: 32), at: 5))
        #expect(bench.claims.map(\.claim.isReleased) == [false, true, false])
        #expect(Set(bench.claims.map(\.token)).count == 2)
    }

    @Test func `at the bound the device that was registered longest ago is retired`() throws {
        var rules = LifecycleRules(retention: 1_000_000)
        rules.maximumDevices = 3
        var bench = Bench(rules)
        for number in 0..<1000 {
            let token = String(repeating: "0", count: 60) + String(1000 + number)
            bench.apply(try Self.device("d-\(number)", token: token, at: Int64(number)))
        }
        let retired = bench.devices.filter { $0.name == .retired }
        #expect(retired.count == 997 && retired.allSatisfy { $0.reason == .capped })
        #expect(retired.first?.key.identifier == "d-0")
        #expect(try Self.devices(bench.apply(Self.request("a", #"{"title":"T"}"#)).last).count == 3)
    }

    @Test func `a retirement ends an older registration only, and the next registration brings the device back`() throws
    {
        var bench = Bench()
        bench.apply(try Self.device(at: 10))
        bench.apply(Self.signal(.retirement(.init(device: "phone", token: Self.token, gone: at(10)))))
        #expect(bench.outcomes.last == .unknown)
        bench.apply(Self.signal(.retirement(.init(device: "phone", token: "00", gone: at(20)))))
        #expect(bench.outcomes.last == .unknown)
        bench.apply(Self.signal(.retirement(.init(device: "phone", token: Self.token, gone: at(20)))))
        #expect(bench.devices.last?.name == .retired && bench.devices.last?.reason == .unregistered)
        bench.apply(try Self.device(at: 15))
        #expect(bench.outcomes.last == .registered && bench.devices.last?.name == .registered)
    }

    @Test func `a retirement finds the token, however its hexadecimal digits are written`() throws {
        for (own, given) in [("00FFAA", "00ffaa"), ("00ffaa", "00FFAA"), ("Zz:1", "Zz:1")] {
            var bench = Bench()
            var registration = try DeviceRegistration(platform: "fcm", token: own)
            registration.registeredAt = at(0)
            bench.apply(
                .registration(
                    .init(
                        key: key("phone"),
                        registration: registration,
                        position: .init(.devices, offset: 0),
                        trace: .none,
                        timestamp: at(0)
                    )
                )
            )
            bench.apply(Self.signal(.retirement(.init(device: "phone", token: given, gone: at(5)))))
            #expect(bench.devices.last?.reason == .unregistered, "\(own) \(given)")
        }
    }

    @Test func `the end of a registration counts, and so does the next one, whatever the device's clock says`() throws {
        var bench = Bench()
        bench.apply(try Self.device(at: 60_000))
        bench.apply(Self.gone(at: 10), 10)
        #expect(bench.devices.map(\.name) == [.registered, .retired] && bench.claims.last?.claim.isReleased == true)
        #expect(bench.apply(Self.request("a", #"{"title":"T"}"#))[0].reason == .noDevice)
        bench.apply(try Self.device(at: 5), 20)
        #expect(bench.outcomes.last == .registered)
        #expect(bench.apply(Self.request("b", #"{"title":"T"}"#)).summary == ["delivered b!"])
    }

    @Test func `applications are apart`() throws {
        var bench = Bench()
        bench.apply(try Self.device())
        let other = key("order", application: "bank")
        #expect(bench.apply(Self.request("a", #"{"title":"T"}"#, other))[0].devices == nil)
    }

    // MARK: - Tokens

    static func claim(
        _ recipient: String,
        at registered: Int64,
        released: Bool = false
    ) throws -> CenterInput {
        var claim = TokenClaim(owner: key("phone", recipient: recipient), writtenAt: at(registered))
        claim.isReleased = released
        let token = key("", recipient: String(repeating: "0f", count: 32))
        return .claim(.init(token: token, claim: claim, position: .init(.tokens, offset: 0), trace: .none))
    }

    @Test(arguments: [(0, 10), (10, 0), (10, 10)] as [(Int64, Int64)])
    func `of two recipients with one token the registration written later keeps it, in both orders and at once`(
        ana: Int64,
        bob: Int64
    ) throws {
        var bench = Bench()
        bench.apply(try Self.claim("ana", at: ana))
        #expect(bench.signals.isEmpty)
        bench.apply(try Self.claim("bob", at: bob))
        #expect(bench.signals.map(\.recipient) == [bob >= ana ? "ana" : "bob"])
        guard case .retirement(let retirement)? = bench.signals.first?.signal else { return #expect(Bool(false)) }
        let lost = min(ana, bob)
        #expect(
            retirement.device == "phone" && retirement.gone > at(lost) && retirement.token?.hasPrefix("sha256:") == true
        )
    }

    @Test func `a released token belongs to nobody, and only its owner can release it`() throws {
        var bench = Bench()
        bench.apply(try Self.claim("ana", at: 0))
        bench.apply(try Self.claim("bob", at: 5, released: true))
        bench.apply(try Self.claim("ana", at: 6, released: true))
        bench.apply(try Self.claim("bob", at: 7))
        #expect(bench.signals.isEmpty)
    }

    @Test func `who owns a token outlives the process`() throws {
        var bench = Bench()
        bench.apply(try Self.claim("ana", at: 0))
        try bench.commit()
        var next = Bench(over: bench.store)
        next.offset = bench.offset
        next.apply(try Self.claim("bob", at: 5))
        #expect(next.signals.map(\.recipient) == ["ana"])
    }

    @Test func `the first person's notifications leave a phone that changed hands`() throws {
        var rules = LifecycleRules(retention: 1_000_000)
        rules.channels = ChannelRules(.events, and: [.test])
        var bench = Bench(rules)
        bench.apply(try Self.device())
        bench.apply(Self.request("a", #"{"title":"T"}"#, key("one")))
        bench.apply(Self.request("b", #"{"title":"T"}"#, key("two"), channel: .test))
        try bench.answer(.accepted)
        let hash = try #require(bench.claims.first?.token)
        let moved = RetirementSignal(device: "phone", token: "sha256:" + hash, gone: at(9))
        let events = bench.apply(Self.signal(.retirement(moved)))
        #expect(events.summary == ["removed a", "removed b"])
        #expect(bench.devices.last?.reason == .moved && bench.devices.last?.shows == ["one", "two"])
        #expect(bench.sends.last?.kind == .remove)
    }

    @Test func `with another device only the one that changed hands is asked to remove them`() throws {
        var rules = LifecycleRules(retention: 1_000_000)
        rules.channels = ChannelRules(.test)
        var bench = Bench(rules)
        bench.apply(try Self.device())
        bench.apply(try Self.device("tablet", token: String(repeating: "b2", count: 32)))
        bench.apply(Self.request("a", #"{"title":"T"}"#))
        try bench.answer(.accepted)
        let moved = RetirementSignal(device: "phone", gone: at(9))
        bench.apply(
            Self.signal(
                .retirement(
                    .init(device: moved.device, token: "sha256:" + bench.claims[0].token, gone: moved.gone)
                )
            )
        )
        let recall = try #require(bench.sends.last)
        #expect(recall.kind == .remove)
        #expect(
            recall.devices.map { String(decoding: $0, as: UTF8.self) }
                == #"[{"device":"phone","platform":"apns","token":"\#(Self.token)","outcome":"requested"}]"#
        )
        #expect(try bench.center.entry(of: key("order"))?.delivered != nil)
    }

    // MARK: - Categories

    @Test func `the event has the actions of the category, and an unknown category is plain and counted`() throws {
        var bench = Bench()
        let set = #"{"categories":[{"identifier":"ORDER","actions":[{"identifier":"track","title":"Track"}]}]}"#
        bench.center.categories = CategoryBook(["shop": try CategorySet(json: Array(set.utf8))])
        let known = bench.apply(Self.request("a", #"{"title":"T","categoryIdentifier":"ORDER"}"#)).last
        #expect(known?.actions.map { String(decoding: $0, as: UTF8.self).contains("track") } == true)
        #expect(bench.center.unknownCategories == 0)
        #expect(bench.apply(Self.request("b", #"{"title":"T","categoryIdentifier":"NONE"}"#)).last?.actions == nil)
        #expect(bench.center.unknownCategories == 1)
    }

    // MARK: - Threads

    @Test func `the next occurrence of a repeat is an update of its thread`() throws {
        var bench = Bench()
        guard case .request(let input) = NotificationConsumerTests.request("a", interval(60, repeats: true)) else {
            return
        }
        bench.apply(.request(input.with(content: Array(#"{"title":"T","threadIdentifier":"orders"}"#.utf8)[...])))
        for (time, isUpdate) in [(Int64(60_000), false), (120_000, true)] {
            let thread = bench.fire(time).last?.thread.map(Self.text)
            #expect(thread == #"{"identifier":"orders","count":1,"update":\#(isUpdate)}"#)
        }
    }

    @Test func `a delivery tells how many its thread shows, and whether that is an update`() throws {
        var bench = Bench()
        func thread(_ name: String, _ key: NotificationKey) -> String? {
            bench.apply(Self.request(name, #"{"title":"T","threadIdentifier":"orders"}"#, key)).last?.thread.map(
                Self.text
            )
        }
        #expect(thread("a", key("one")) == #"{"identifier":"orders","count":1,"update":false}"#)
        #expect(thread("b", key("two")) == #"{"identifier":"orders","count":2,"update":true}"#)
        #expect(thread("c", key("one")) == #"{"identifier":"orders","count":2,"update":true}"#)
        let escaped = bench.apply(Self.request("z", #"{"title":"T","threadIdentifier":"order\u0073"}"#, key("two")))
            .last
        #expect(
            escaped?.thread.map(Self.text)
                == #"{"identifier":"orders","count":2,"update":true}"#
        )
        bench.apply(removal("r", key("two"), .delivered))
        #expect(thread("d", key("one")) == #"{"identifier":"orders","count":1,"update":true}"#)
        try bench.commit()
        var next = Bench(over: bench.store)
        next.offset = 20
        let event = next.apply(Self.request("e", #"{"title":"T","threadIdentifier":"orders"}"#, key("three"))).last
        #expect(
            event?.thread.map(Self.text)
                == #"{"identifier":"orders","count":2,"update":true}"#
        )
    }

    @Test func `a thread counts all that it shows, also after one has left it`() {
        var index = ThreadIndex()
        index.begin(7)
        #expect((1...3).map { index.note($0, in: 1, of: 7) } == [1, 2, 3])
        #expect(index.note(1, in: nil, of: 7) == 0)
        #expect((4...6).map { index.note($0, in: 1, of: 7) } == [3, 4, 5])
    }

    private static func text(_ thread: DeliveryEvent.Thread) -> String {
        let identifier = String(decoding: thread.identifier, as: UTF8.self)
        return #"{"identifier":"\#(identifier)","count":\#(thread.count),"update":\#(thread.isUpdate)}"#
    }
}
