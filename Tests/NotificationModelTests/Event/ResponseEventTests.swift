import NotificationModel
import Testing

@Suite("Response events")
struct ResponseEventTests {
    private let key: NotificationKey

    init() throws { key = try NotificationKey(application: "shop", recipient: "ana/1", identifier: "order-1001") }

    @Test("an event is written in the contract's field order, with its content unchanged")
    func written() throws {
        let source = bytes("xx{ \"title\" : \"t\" }xx")
        var event = ResponseEvent(
            responseID: .text("r-1"),
            requestID: .text("q"),
            key: key,
            actionIdentifier: "reply",
            matched: true
        )
        (event.device, event.userText, event.categoryIdentifier) = ("iphone-1", "a\n\"b\"", "ORDER")
        event.content = source[2..<19]
        #expect(
            text(event.json) == #"{"responseId":"r-1","requestId":"q","application":"shop","recipient":"ana/1","#
                + #""identifier":"order-1001","device":"iphone-1","actionIdentifier":"reply","userText":"a\n\"b\"","#
                + #""matched":true,"categoryIdentifier":"ORDER","content":{ "title" : "t" }}"#
        )
        #expect(try ResponseEvent(json: event.json) == event)
        let wider = "{\"later\":1," + text(event.json).dropFirst()
        #expect(try ResponseEvent(json: bytes(wider)) == event)
    }

    @Test("the id of an event matches another implementation, and is that of one response to one notification")
    func ids() throws {
        var event = ResponseEvent(
            responseID: .text("r-1"),
            requestID: .text("q"),
            key: key,
            actionIdentifier: "reply",
            matched: false
        )
        let id = event.eventID
        #expect(id.description == "050bd6d2-4890-5e94-9166-b18b67236a83")
        (event.matched, event.requestID) = (true, .text("other"))
        #expect(event.eventID == id)
        event.responseID = .text("r-2")
        #expect(event.eventID != id)
    }
}
