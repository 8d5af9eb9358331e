import NotificationModel
import Testing

@testable import APNsSimulator

/// What devices show, and what APNs keeps for them.
struct DeviceTests {
    private static func text(_ text: String) -> String { #"{"aps":{"alert":"\#(text)"}}"# }

    @Test func `a push with the collapse id of a shown one takes its place, at the top`() throws {
        var desk = try Desk()
        for (id, collapseID) in [("1", "a"), ("2", "b"), ("3", "a")] {
            _ = desk.push(Self.text(id)) { $0.collapseID = collapseID }
        }
        #expect(desk.shown == ["b", "a"])
        #expect(desk.lastEffect == .replaced)
        let payload = desk.phone?.shown(by: Desk.topic).last?.payload
        #expect(payload.map { String(decoding: $0, as: UTF8.self) } == Self.text("3"))
    }

    @Test func `without a collapse id each push is a notification of its own`() throws {
        var desk = try Desk()
        let ids = (0..<3).compactMap { _ in desk.push { $0.id = nil }?.id }
        #expect(desk.shown == ids)
        #expect(desk.lastEffect == .shown)
    }

    @Test func `the badge is that of the last push with one`() throws {
        var desk = try Desk()
        for payload in [#"{"aps":{"badge":7}}"#, Self.text("x")] { #expect(desk.said(payload) == "200") }
        #expect(desk.phone?.badge(of: Desk.topic) == 7)
        #expect(desk.said(#"{"aps":{"badge":0}}"#) == "200")
        #expect(desk.phone?.badge(of: Desk.topic) == 0)
        #expect(desk.shown.count == 1)
    }

    @Test func `for a device that is offline the newest push of each topic waits`() throws {
        var desk = try Desk()
        let voip = String(repeating: "cd", count: 32)
        try desk.register(voip, topic: "\(Desk.topic).voip")
        #expect(desk.state.setOnline(false, "phone", at: desk.now) == true)
        for id in ["a", "b"] {
            #expect(desk.said { $0.collapseID = id } == "200")
            desk.pass(.seconds(1))
        }
        #expect(desk.said(to: voip) { ($0.topic, $0.pushType) = ("\(Desk.topic).voip", "voip") } == "200")
        #expect(desk.shown.isEmpty)
        #expect(desk.phone?.storedIDs.keys.sorted() == [Desk.topic, "\(Desk.topic).voip"])
        #expect(desk.state.setOnline(true, "phone", at: desk.now) == true)
        #expect(desk.shown == ["b"])
        #expect(desk.phone?.receivedCount == 2)
        #expect(desk.phone?.droppedCount == 1)
        #expect(desk.phone?.storedIDs.isEmpty == true)
    }

    @Test(arguments: [("0", false), ("1795000100", true), ("1795000059", false), (nil, true)])
    func `a push waits until it expires, and not at all with 0`(_ expiration: String?, _ isShown: Bool) throws {
        var desk = try Desk()
        _ = desk.state.setOnline(false, "phone", at: desk.now)
        #expect(desk.said { $0.expiration = expiration } == "200")
        desk.pass(.seconds(60))
        _ = desk.state.setOnline(true, "phone", at: desk.now)
        #expect(desk.shown.isEmpty == !isShown)
        #expect(desk.phone?.droppedCount == (isShown ? 0 : 1))
    }

    @Test func `what may be tried only once reaches a device that is online`() throws {
        var desk = try Desk()
        #expect(desk.said { $0.expiration = "0" } == "200")
        #expect(desk.shown.count == 1)
    }

    @Test func `nothing waits longer than 30 days`() throws {
        var desk = try Desk()
        _ = desk.state.setOnline(false, "phone", at: desk.now)
        #expect(desk.said() == "200")
        desk.pass(.seconds(30 * 86_400 + 1))
        _ = desk.state.setOnline(true, "phone", at: desk.now)
        #expect(desk.shown.isEmpty)
    }

    // MARK: Tokens that end

    @Test func `an uninstalled app shows nothing, and its token is gone since then`() throws {
        var desk = try Desk()
        #expect(desk.said() == "200")
        let gone = desk.now
        #expect(desk.state.devices.uninstall(Desk.topic, from: "phone", toldAfter: 0, at: gone) == true)
        desk.pass(.seconds(100))
        let answer = desk.push()
        #expect(answer?.status == 410)
        #expect(
            answer?.json.map { String(decoding: $0, as: UTF8.self) }
                == #"{"reason":"Unregistered","timestamp":1795000000000}"#
        )
        #expect(desk.shown.isEmpty)
        #expect(desk.state.devices.uninstall(Desk.topic, from: "phone", toldAfter: 0, at: gone) == false)
    }

    @Test func `APNs may tell it late, with the time at which it happened`() throws {
        var desk = try Desk()
        let gone = desk.now
        _ = desk.state.devices.uninstall(Desk.topic, from: "phone", toldAfter: 3_000, at: gone)
        desk.pass(.seconds(2_999))
        #expect(desk.said() == "200")
        desk.pass(.seconds(1))
        #expect(desk.push()?.timestamp == gone)
        #expect(desk.phone?.receivedCount == 0)
    }

    @Test func `a token that is registered again is good again`() throws {
        var desk = try Desk()
        #expect(desk.state.devices.end(Desk.token, of: "phone", toldAfter: 0, at: desk.now) == true)
        #expect(desk.said() == "Unregistered")
        try desk.register(Desk.token)
        #expect(desk.said() == "200")
    }

    @Test func `a token of the other environment is a bad one`() throws {
        var desk = try Desk()
        desk.reconnect(.development)
        #expect(desk.said() == "BadDeviceToken")
    }

    @Test func `an unknown token is accepted on demand, and a known one still checked`() throws {
        var desk = try Desk()
        desk.state.devices.acceptsUnknownTokens = true
        #expect(desk.said(to: String(repeating: "cd", count: 32)) == "200")
        #expect(desk.said { $0.topic = "com.example.other" } == "DeviceTokenNotForTopic")
        #expect(desk.said(to: "cdc") == "BadDeviceToken")
    }

    @Test func `a token gets no more pushes than its rate allows`() throws {
        var desk = try Desk()
        desk.state.devices.rate = try .init(pushes: 2, seconds: 60)
        #expect((0..<3).map { _ in desk.said() } == ["200", "200", "TooManyRequests"])
        desk.pass(.seconds(60))
        #expect(desk.said() == "200")
    }

    // MARK: Background pushes

    private static func removal(_ removals: String) -> String {
        #"{"aps":{"content-available":1},"carillon":{"remove":{\#(removals)}}}"#
    }

    private static func shown(_ sequence: String) -> String {
        #"{"aps":{"alert":"x"},"carillon":{"sequence":"\#(sequence)"}}"#
    }

    @Test func `the app removes what Carillon tells it to, and not what came after the removal`() throws {
        var desk = try Desk()
        for (id, sequence) in [("a", "0-1"), ("b", "0-3"), ("c", "0-1")] {
            _ = desk.push(Self.shown(sequence)) { $0.collapseID = id }
        }
        let payload = Self.removal(#""a":"0-2","b":"0-2","d":"0-2""#)
        #expect(desk.said(payload) { ($0.pushType, $0.priority) = ("background", "5") } == "200")
        #expect(desk.shown == ["b", "c"])
        #expect(desk.lastEffect == .removed(1))
    }

    @Test func `an app that the person has closed gets no background push`() throws {
        var desk = try Desk()
        _ = desk.push(Self.shown("0-1")) { $0.collapseID = "a" }
        #expect(desk.state.devices.setForceQuit(true, Desk.topic, on: "phone") == true)
        let payload = Self.removal(#""a":"0-2""#)
        #expect(desk.said(payload) { ($0.pushType, $0.priority) = ("background", "5") } == "200")
        #expect(desk.shown == ["a"])
        #expect(desk.lastEffect == .ignored("the person has closed the app"))
        #expect(desk.state.devices.setForceQuit(false, Desk.topic, on: "phone") == true)
        #expect(desk.said(payload) { ($0.pushType, $0.priority) = ("background", "5") } == "200")
        #expect(desk.shown.isEmpty)
    }

    // MARK: Bounds

    @Test func `an app shows 1,000 notifications, and a device remembers 1,000 pushes: the newest`() throws {
        var desk = try Desk()
        for number in 0...1_000 { _ = desk.push { $0.collapseID = "\(number)" } }
        #expect(desk.shown.count == SimulatedApp.shownNotifications)
        #expect(desk.shown.first == "1")
        let pushes = try #require(desk.phone?.pushes)
        #expect(pushes.count <= SimulatedDevice.rememberedPushes)
        #expect(pushes.last?.collapseID == "1000")
        #expect(desk.phone?.receivedCount == 1_001)
    }

    @Test(arguments: ["", "abc", "zz" + Desk.token, String(repeating: "ab", count: 101), "abab"])
    func `what is no token is not registered`(_ token: String) throws {
        var desk = try Desk()
        #expect(throws: APNsSimulatorError.self) { try desk.register(token) }
    }
}
