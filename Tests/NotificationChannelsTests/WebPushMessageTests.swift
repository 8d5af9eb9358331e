import NotificationDelivery
import NotificationModel
import Testing

@testable import NotificationChannels

@Suite("Messages of Web Push")
struct WebPushMessageTests {
    private static let whole = #"""
        {"title":"On its way","subtitle":"Order 1001","body":"Your order has shipped.","sound":"default",
         "targetContentIdentifier":"orders/1001","interruptionLevel":"timeSensitive","mutableContent":true,
         "attachments":[{"identifier":"a","url":"http://cdn.example.com/a.jpg"},
                        {"identifier":"b","url":"https://cdn.example.com/b.jpg"}],
         "userInfo":{"orderId":"1001"}}
        """#

    private static let actions = #"""
        [{"identifier":"track","title":"Track","options":["foreground"]},
         {"identifier":"later","title":"Later"},
         {"identifier":"reply","title":"Reply","textInput":{"buttonTitle":"Send"}}]
        """#

    @Test func `a notification is declarative`() throws {
        let delivery = try APNsSample.delivery(Self.whole, badge: 3)
        let message = try WebPushSample.message(delivery, actions: Self.actions)
        let value = try JSONValue.parse(message.body)
        #expect(value.objectValue?.map(\.name) == ["web_push", "notification", "app_badge", "mutable"])
        #expect(value["web_push"] == .number("8030") && value["app_badge"] == .number("3"))
        let notification = try #require(value["notification"])
        let page = "https://shop.example/open?target=orders/1001"
        #expect(notification["title"]?.stringValue == "On its way")
        #expect(notification["body"]?.stringValue == "Order 1001\nYour order has shipped.")
        #expect(notification["navigate"]?.stringValue == page)
        #expect(notification["tag"]?.stringValue == delivery.collapseID && message.topic == delivery.collapseID)
        #expect(notification["image"]?.stringValue == "https://cdn.example.com/b.jpg")
        #expect(notification["requireInteraction"] == .bool(true) && notification["renotify"] == .bool(true))
        #expect(notification["silent"] == nil)
        #expect(notification["data"]?["userInfo"]?["orderId"]?.stringValue == "1001")
        let own = try #require(notification["data"]?["carillon"])
        #expect(own["application"]?.stringValue == "shop" && own["sequence"]?.stringValue != nil)
        let offered = try #require(notification["actions"]?.arrayValue)
        #expect(offered.map { $0["action"]?.stringValue } == ["track", "later", "reply"])
        #expect(offered.map { $0["navigate"]?.stringValue } == [page, nil, page])
        #expect(message.urgency == .high && message.changes.isEmpty)
    }

    @Test(
        arguments: [
            ("passive", WebPushMessage.Urgency.low), ("active", .normal), ("timeSensitive", .high), ("critical", .high),
        ]
    )
    func `the interruption level decides the urgency`(_ level: String, _ urgency: WebPushMessage.Urgency) throws {
        let content = #"{"title":"T","interruptionLevel":"\#(level)"}"#
        #expect(try WebPushSample.message(APNsSample.delivery(content)).urgency == urgency)
        // Neither a banner nor heard.
        let listed = try APNsSample.delivery(content, presentation: [.list])
        #expect(try WebPushSample.message(listed).urgency == .low)
    }

    @Test func `without a sound it is silent, and a passive one does not alert again`() throws {
        let message = try WebPushSample.message(APNsSample.delivery(#"{"title":"T"}"#))
        #expect(try message.at("notification.silent") == .bool(true))
        #expect(try message.at("notification.renotify") == .bool(true))
        let quiet = try WebPushSample.message(
            APNsSample.delivery(#"{"title":"T","sound":"default"}"#, presentation: [.list])
        )
        #expect(try quiet.at("notification.silent") == .bool(true) && quiet.at("notification.renotify") == nil)
    }

    private static let titles: [(String, String, String?)] = [
        (#"{"body":"B"}"#, "B", nil), (#"{"subtitle":"S","body":"B"}"#, "S", "B"),
        (#"{"title":"T","body":""}"#, "T", nil), (#"{"title":"<b>x</b>\u202E"}"#, "<b>x</b>\u{202E}", nil),
    ]

    @Test(arguments: titles)
    func `it always has a title, and texts stay as they are`(
        _ content: String,
        _ title: String,
        _ body: String?
    ) throws {
        let message = try WebPushSample.message(APNsSample.delivery(content))
        #expect(try message.at("notification.title")?.stringValue == title)
        #expect(try message.at("notification.body")?.stringValue == body)
    }

    @Test func `the variant of the browser's locale takes the place of the texts`() throws {
        let content = #"{"title":"T","body":"B","localizations":{"de":{"title":"D","body":"K"}}}"#
        var delivery = try APNsSample.delivery(content)
        #expect(try WebPushSample.message(delivery).at("notification.title")?.stringValue == "T")
        delivery.localization = "de"
        #expect(try WebPushSample.message(delivery).at("notification.title")?.stringValue == "D")
        #expect(try WebPushSample.message(delivery).at("notification.body")?.stringValue == "K")
    }

    @Test func `texts that an app puts together are left out, and alone they are refused`() throws {
        let localization = #""bodyLocalization":{"key":"SHIPPED"}"#
        let message = try WebPushSample.message(APNsSample.delivery(#"{"title":"T",\#(localization)}"#))
        #expect(message.changes == [.memberLeftOut("bodyLocalization")])
        let refusal = failure { () throws(ModelError) in
            _ = try WebPushMessage(
                try alone(localization),
                of: application(),
                at: WebPushSample.now
            )
        }
        #expect(refusal?.reason == .unsupportedForm)
    }

    private func alone(_ localization: String) throws(ModelError) -> DeviceDelivery {
        DeviceDelivery(content: Array("{\(localization)}".utf8)[...])
    }

    private func application() throws(ModelError) -> WebPushApplication {
        do { return try WebPushSample.application() } catch { throw ModelError(.internalError, "\(error)") }
    }

    private func failure(_ body: () throws(ModelError) -> Void) -> ModelError? {
        do throws(ModelError) {
            try body()
            return nil
        } catch { return error }
    }

    @Test func `what shows nothing is for the worker`() throws {
        let delivery = try APNsSample.delivery(#"{"userInfo":{"a":1}}"#, badge: 2)
        let message = try WebPushSample.message(delivery)
        let value = try JSONValue.parse(message.body)
        #expect(value.objectValue?.map(\.name) == ["carillon", "userInfo", "app_badge"])
        #expect(message.urgency == .veryLow)
    }

    @Test func `a removal has the topic and the tag of its notification`() throws {
        let origin = try APNsSample.origin()
        let removal = WebPushMessage.removal(of: origin.key, sequence: origin.sequence)
        let shown = try WebPushSample.message(APNsSample.delivery(#"{"title":"T"}"#))
        let tag = try #require(shown.topic)
        #expect(tag.utf8.count == 32 && removal.topic == tag)
        #expect(try removal.at("carillon.remove.\(tag)")?.stringValue == origin.sequence.text)
    }

    private static let lives: [(Int64?, Int64)] = [
        (nil, 2_419_200), (-1, 0), (0, 0), (999, 0), (1_000, 1), (3_600_000, 3600), (40 * 86_400_000, 2_419_200),
    ]

    @Test(arguments: lives)
    func `a push service keeps it until its expiration, at most 28 days`(_ left: Int64?, _ seconds: Int64) throws {
        let expiration = left.map { WebPushSample.now.adding(milliseconds: $0) }
        let delivery = try APNsSample.delivery(#"{"title":"T"}"#, expiration: expiration)
        #expect(try WebPushSample.message(delivery).timeToLive == seconds)
    }

    // MARK: - Sizes

    private static func sized(_ bytes: Int, _ policy: OversizePolicy = .refuse) throws -> WebPushMessage {
        func content(_ count: Int) -> String { #"{"title":"T","body":"\#(String(repeating: "x", count: count))"}"# }
        let without = try WebPushSample.message(APNsSample.delivery(content(1))).body.count - 1
        return try WebPushSample.message(APNsSample.delivery(content(bytes - without))) { $0.oversize = policy }
    }

    @Test func `3,993 bytes fit, and one more is refused or shortened`() throws {
        #expect(try Self.sized(3993).body.count == 3993)
        #expect(throws: ModelError.self) { try Self.sized(3994) }
        let shortened = try Self.sized(3994, .standard)
        #expect(shortened.changes == [.bodyShortened] && shortened.body.count <= 3993)
        #expect(try shortened.at("notification.body")?.stringValue?.hasSuffix("x\u{2026}") == true)
    }

    @Test func `the image is left out when that is enough`() throws {
        let url = "https://cdn.example.com/\(String(repeating: "a", count: 2000))"
        let text = String(repeating: "é\\n", count: 500)
        let content = #"{"title":"T","body":"\#(text)","attachments":[{"identifier":"a","url":"\#(url)"}]}"#
        let message = try WebPushSample.message(APNsSample.delivery(content)) {
            $0.oversize = OversizePolicy(steps: [.dropMedia, .shorten])
        }
        #expect(message.changes == [.mediaDropped] && message.body.count <= 3993)
        #expect(try message.at("notification.image") == nil)
    }
}
