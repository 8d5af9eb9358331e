import NotificationModel
import Testing

@testable import carillon

@Suite("What carillon receive shows")
struct ReceivedEventTests {
    private static let now = Timestamp(rawValue: 1_700_000_000_000)
    private static let type = "application/cloudevents+json"
    private static let event = #"""
        {"specversion":"1.0","type":"carillon.notification.delivered.v1","subject":"shop/ana/order-1",\
        "data":{"requestId":"r-1","closes":true,"content":{"title":"On its way"}}}
        """#.replacing("\\\n", with: "")

    private func refusal(_ contentType: String?, _ body: String) -> String? {
        do throws(ModelError) {
            _ = try ReceivedEvent(contentType: contentType, body: Array(body.utf8))
            return nil
        } catch {
            return error.field ?? ""
        }
    }

    @Test(arguments: [type, "Application/CloudEvents+JSON; charset=utf-8"])
    func `a line has the time, the key, the type and the notification`(_ contentType: String) throws {
        let event = try ReceivedEvent(contentType: contentType, body: Array(Self.event.utf8))
        #expect(
            event.line(at: Self.now) == "22:13:20.000  shop/ana/order-1  delivered  \"On its way\", request r-1\n"
        )
    }

    @Test func `what is refused has a line that says why`() {
        #expect(
            ReceivedEvent.line(refusing: "webhook-id: the header is missing\u{1B}", at: Self.now)
                .hasPrefix("22:13:20.000  refused  webhook-id: the header is missing")
        )
        #expect(!ReceivedEvent.line(refusing: "\u{1B}[31m", at: Self.now).contains("\u{1B}"))
        #expect(refusal(nil, Self.event) == "content-type")
        #expect(refusal("application/json", Self.event) == "content-type")
        #expect(refusal(Self.type, "{") == "")
        for name in ["specversion", "type", "subject", "data"] {
            #expect(refusal(Self.type, Self.event.replacing("\"\(name)\"", with: "\"other\"")) == name)
        }
    }
}
