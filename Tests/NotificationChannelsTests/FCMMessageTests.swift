import NotificationDelivery
import NotificationModel
import Testing
import TestSupport

@testable import NotificationChannels

@Suite("Messages to Android devices")
struct FCMMessageTests {
    // MARK: - The target and the envelope

    @Test func `a token has a colon, and an installation id is 22 characters`() throws {
        #expect(FCMTarget(FCMSample.token) == .token(FCMSample.token))
        let installation = "dQw4w9WgXcQ_-012345678"
        #expect(FCMTarget(installation) == .installation(installation))
        #expect(FCMTarget("aQw4w9WgXcQ_-012345678") == .token("aQw4w9WgXcQ_-012345678"))
        #expect(FCMTarget("\(installation)9") == .token("\(installation)9"))
        let message = try FCMSample.message(APNsSample.delivery(#"{"title":"T"}"#), to: FCMTarget(installation))
        #expect(try message.at("fid") == .string(installation) && message.at("token") == nil)
    }

    @Test func `the target is in no description`() {
        #expect(!"\(FCMTarget(FCMSample.token))".contains("APA91b"))
        #expect(!String(reflecting: FCMTarget(FCMSample.token)).contains("APA91b"))
    }

    @Test(
        arguments: [
            (InterruptionLevel.passive, "NORMAL", "PRIORITY_LOW", "quiet"),
            (.active, "HIGH", nil, "orders"), (.timeSensitive, "HIGH", "PRIORITY_HIGH", "urgent"),
            (.critical, "HIGH", "PRIORITY_MAX", "orders"),
        ] as [(InterruptionLevel, String, String?, String)]
    )
    func `the interruption level decides priority and channel`(
        _ level: InterruptionLevel,
        _ priority: String,
        _ notification: String?,
        _ channel: String
    ) throws {
        let message = try FCMSample.message(APNsSample.delivery(#"{"title":"T"}"#, level: level)) {
            $0.channels = [.passive: "quiet", .active: "orders", .timeSensitive: "urgent"]
        }
        #expect(try message.at("android.priority") == .string(priority))
        #expect(try message.at("android.notification.notificationPriority") == notification.map(JSONValue.string))
        #expect(try message.at("android.notification.channelId") == .string(channel))
    }

    @Test func `the life of a message ends with the expiration, in whole seconds and within 28 days`() throws {
        func life(_ milliseconds: Int64) throws -> String? {
            let expiration = FCMSample.now.adding(milliseconds: milliseconds)
            return try FCMSample.message(APNsSample.delivery(#"{"title":"T"}"#, expiration: expiration)).at(
                "android.ttl"
            )?
            .stringValue
        }
        #expect(try life(90_999) == "90s" && life(999) == "0s" && life(-5_000) == "0s")
        #expect(try life(40 * 86_400_000) == "2419200s")
        #expect(try FCMSample.message(APNsSample.delivery(#"{"title":"T"}"#)).at("android.ttl") == nil)
    }

    @Test func `a collapse key is sent only on request`() throws {
        let content = #"{"title":"T","threadIdentifier":"orders"}"#
        #expect(try FCMSample.message(APNsSample.delivery(content)).at("android.collapseKey") == nil)
        let message = try FCMSample.message(APNsSample.delivery(content)) { $0.collapsesThreads = true }
        #expect(try message.at("android.collapseKey") == .string("orders"))
    }

    // MARK: - What the system shows

    @Test func `the system shows texts, image, sound and count under the tag of the key`() throws {
        let content = #"""
            {"title":"On its way","subtitle":"Order 1001","body":"It has left.","sound":"bell","mutableContent":true,
            "attachments":[{"identifier":"a","url":"http://a.example/1.png"},{"identifier":"b","url":"https://a.example/2.png"}]}
            """#
        let message = try FCMSample.message(APNsSample.delivery(content, badge: 4)) { $0.clickAction = "OPEN" }
        let shown = try #require(try message.at("android.notification"))
        #expect(shown["title"] == .string("On its way") && shown["ticker"] == .string("On its way"))
        #expect(shown["body"] == .string("Order 1001\nIt has left."))
        #expect(try shown["tag"] == .string(CollapseID(APNsSample.origin().key).text))
        #expect(shown["image"] == .string("https://a.example/2.png"))
        #expect(shown["sound"] == .string("bell") && shown["notificationCount"] == .number("4"))
        #expect(shown["clickAction"] == .string("OPEN"))
        #expect(try message.at("android.restrictedPackageName") == .string(FCMSample.package))
        #expect(try message.own()["identifier"] == .string("order-1001") && message.own()["content"] == nil)
        #expect(message.changes.isEmpty)
    }

    @Test func `localized texts go as keys, and a subtitle that has no place is counted`() throws {
        let content = #"""
            {"titleLocalization":{"key":"T","arguments":["a","b"]},"bodyLocalization":{"key":"B"},"subtitle":"S"}
            """#
        let message = try FCMSample.message(APNsSample.delivery(content))
        let shown = try #require(try message.at("android.notification"))
        #expect(shown["titleLocKey"] == .string("T") && shown["bodyLocKey"] == .string("B") && shown["body"] == nil)
        #expect(shown["titleLocArgs"] == .array([.string("a"), .string("b")]))
        #expect(message.changes == [.memberLeftOut("subtitle")])
    }

    @Test func `what is neither banner nor sound is passive, and what shows nothing is data`() throws {
        let quiet = try FCMSample.message(
            APNsSample.delivery(#"{"title":"T","sound":"default"}"#, presentation: [.list])
        )
        #expect(try quiet.at("android.priority") == .string("NORMAL"))
        #expect(try quiet.at("android.notification.sound") == nil && quiet.at("android.notification.ticker") == nil)
        let nothing = try FCMSample.message(APNsSample.delivery(#"{"title":"T"}"#, presentation: [.badge], badge: 2))
        #expect(try nothing.at("android.notification") == nil && nothing.own()["badge"] == .number("2"))
    }

    @Test func `the newer form has tag and number, and hands over on request`() throws {
        let message = try FCMSample.message(APNsSample.delivery(#"{"title":"T","mutableContent":true}"#)) {
            $0.display = .systemV2
        }
        let remote = try #require(try message.at("androidV2.remoteNotification"))
        #expect(remote["mutableContent"] == .bool(true) && remote["notification"]?["tag"] != nil)
        let number = try #require(remote["notification"]?["id"]?.integerValue)
        #expect((1...Int64(Int32.max)).contains(number))
        #expect(try message.at("android") == nil && message.at("androidV2.priority") == nil)
        let data = try FCMSample.message(APNsSample.delivery(#"{"title":"T"}"#, presentation: [])) {
            $0.display = .systemV2
        }
        #expect(try data.at("androidV2.backgroundSync") == .object([]))
    }

    // MARK: - Data

    @Test func `an app that shows by itself gets the content, its actions and how it is presented`() throws {
        let content = #"{"title":"T","body":"B","badge":3,"userInfo":{"order":"1"},"interruptionLevel":"active"}"#
        let delivery = try APNsSample.delivery(content, presentation: [.list, .badge], badge: 7)
        let actions = #"[{"identifier":"reply","title":"Reply"}]"#
        let message = try FCMSample.message(delivery, actions: actions) { $0.display = .app }
        #expect(try message.at("android.notification") == nil && message.at("data.order") == .string("1"))
        let own = try message.own()
        #expect(own["content"] == .object([.init("title", .string("T")), .init("body", .string("B"))]))
        #expect(own["presentation"] == .array([.string("list"), .string("badge")]) && own["badge"] == .number("7"))
        #expect(own["interruptionLevel"] == .string("passive") && own["tag"] != nil)
        #expect(own["actions"]?.arrayValue?.count == 1)
    }

    @Test func `members of userInfo are texts, and reserved names get a prefix`() throws {
        let content = #"""
            {"title":"T","userInfo":{"a":"x","n":[1, 2],"from":"y","google.c":"z","gcm":"g","carillon":"c","userInfo.a":"w"}}
            """#
        let data = try #require(try FCMSample.message(APNsSample.delivery(content)).at("data"))
        #expect(data["a"] == .string("x") && data["n"] == .string("[1,2]"))
        #expect(data["userInfo.from"] == .string("y") && data["userInfo.google.c"] == .string("z"))
        #expect(data["userInfo.gcm"] == .string("g") && data["userInfo.carillon"] == .string("c"))
        #expect(data["userInfo.userInfo.a"] == .string("w"))
        #expect(data["from"] == nil && data["gcm"] == nil && data["google.c"] == nil)
    }

    @Test func `a removal names what to cancel and since when`() throws {
        let origin = try APNsSample.origin()
        for display in FCMApplication.Display.allCases {
            let message = FCMMessage.removal(
                of: origin.key,
                sequence: origin.sequence,
                to: FCMTarget(FCMSample.token),
                of: try FCMSample.application { $0.display = display }
            )
            #expect(try FCMDiscovery.problems(message.body) == [])
            let remove = JSONValue.object([.init(CollapseID(origin.key).text, .string(origin.sequence.text))])
            #expect(try message.own()["remove"] == remove)
            #expect(try message.at("android.notification") == nil)
        }
    }

    // MARK: - Sizes

    /// The bytes that FCM counts, found in another way.
    private func bytes(_ message: FCMMessage) throws -> Int {
        func count(_ value: JSONValue?) -> Int {
            switch value {
            case .object(let members)?: members.reduce(0) { $0 + $1.name.utf8.count + count($1.value) }
            case .array(let values)?: values.reduce(0) { $0 + count($1) }
            case .string(let text)?, .number(let text)?: text.utf8.count
            default: 0
            }
        }
        return count(try message.at("data")) + count(try message.at("android.notification"))
    }

    @Test(arguments: FCMApplication.Display.allCases)
    func `a body that is too long is cut to the last byte that fits`(_ display: FCMApplication.Display) throws {
        let content = #"{"title":"T","body":"\#(String(repeating: #"a\n\"é"#, count: 1500))"}"#
        let message = try FCMSample.message(APNsSample.delivery(content)) { $0.display = display }
        #expect(message.changes == [.bodyShortened])
        guard display != .systemV2 else { return }
        #expect((FCMMessage.maximumBytes - 8...FCMMessage.maximumBytes).contains(try bytes(message)))
    }

    @Test func `4,096 bytes go out as they are, one more is cut`() throws {
        func message(_ count: Int) throws -> FCMMessage {
            let body = String(repeating: "x", count: count)
            return try FCMSample.message(APNsSample.delivery(#"{"title":"T","body":"\#(body)"}"#))
        }
        let rest = try bytes(message(100)) - 100
        #expect(try message(4096 - rest).changes.isEmpty && bytes(message(4096 - rest)) == 4096)
        #expect(try message(4097 - rest).changes == [.bodyShortened])
    }

    @Test func `the variant of the device's locale takes the place of the texts`() throws {
        var delivery = try APNsSample.delivery(#"{"title":"T","localizations":{"de":{"title":"Unterwegs"}}}"#)
        func text() throws -> String { String(decoding: try FCMSample.message(delivery).body, as: UTF8.self) }
        #expect(try text().contains(#""T""#) && !text().contains("Unterwegs"))
        delivery.localization = "de"
        #expect(try text().contains("Unterwegs") && !text().contains(#""T""#))
    }

    @Test func `media are dropped, or the message is refused, by policy`() throws {
        let url = "https://a.example/\(String(repeating: "p", count: 2000))"
        let body = String(repeating: "x", count: 2500)
        let content = #"{"title":"T","body":"\#(body)","attachments":[{"identifier":"a","url":"\#(url)"}]}"#
        let delivery = try APNsSample.delivery(content)
        let message = try FCMSample.message(delivery) { $0.oversize = OversizePolicy(steps: [.dropMedia, .shorten]) }
        #expect(try message.changes == [.mediaDropped] && message.at("android.notification.image") == nil)
        let app = try FCMSample.message(delivery) {
            ($0.oversize, $0.display) = (OversizePolicy(steps: [.dropMedia]), .app)
        }
        #expect(try app.changes == [.mediaDropped] && app.own()["content"]?["attachments"] == nil)
        #expect(throws: ModelError.self) { try FCMSample.message(delivery) { $0.oversize = .refuse } }
    }

    @Test(arguments: 0..<40)
    func `whatever the content is, the message is as Google's document says and fits`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let texts = ["", "T", "é🙂\\n", String(repeating: "long ", count: 500), #"\"quoted\""#]
        func text() -> String { texts.randomElement(using: &random) ?? "" }
        let content = #"""
            {"title":"\#(text())","subtitle":"\#(text())","body":"\#(text())","sound":{"critical":true,"name":"a","volume":0.5},
            "badge":1,"threadIdentifier":"t","categoryIdentifier":"C","userInfo":{"from":1,"k":"\#(text())"}}
            """#
        let presentation = PresentationOptions(rawValue: .random(in: 0..<16, using: &random))
        let delivery = try APNsSample.delivery(content, presentation: presentation, badge: 1)
        let display = try #require(FCMApplication.Display.allCases.randomElement(using: &random))
        do {
            let message = try FCMSample.message(delivery) { $0.display = display }
            #expect(try display == .systemV2 || bytes(message) <= FCMMessage.maximumBytes)
        } catch let error as ModelError {
            #expect(error.reason == .payloadTooLarge)
        }
    }
}
