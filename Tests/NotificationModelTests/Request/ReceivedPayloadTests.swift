import NotificationModel
import Testing

@Suite("A payload of APNs as the content of a request")
struct ReceivedPayloadTests {
    private let key = Result { () throws(ModelError) in
        try NotificationKey(application: "shop", recipient: "ana", identifier: "a")
    }

    private func receive(_ json: String) throws -> (value: JSONValue, notConverted: [String]) {
        var value = bytes(json)
        let received = try RequestRecord.receive(&value, key: key.get())
        // What was received is a request as any other.
        switch (received.record, try RequestRecord.scan(value, key: key.get())) {
        case (.request(let received), .request(let again)): #expect(received == again)
        case (.removal(let received), .removal(let again)): #expect(received == again)
        default: Issue.record("another kind of record")
        }
        return (try JSONValue.parse(value), received.notConverted)
    }

    @Test func `the payload is replaced by the content that it says, and what it cannot say is listed`() throws {
        let (value, notConverted) = try receive(
            #"""
            {"version":7, "content" : {"apns":{"aps":{"alert":{"body":"É","action-loc-key":"O"},"url-args":["a"]},"n":1.50}},
             "collapseWindow":10}
            """#
        )
        let expected = #"{"version":7,"content":{"body":"É","userInfo":{"n":1.50}},"collapseWindow":10}"#
        #expect(value == (try JSONValue.parse(bytes(expected))))
        #expect(notConverted == ["aps.alert.action-loc-key", "aps.url-args"])
    }

    @Test func `a request without a payload is read as it is, a removal too`() throws {
        for json in [#"{"content":{"title":"T","userInfo":{"apns":{"aps":{}}}}}"#, #"{"remove":"all"}"#] {
            let (value, notConverted) = try receive(json)
            #expect(value == (try JSONValue.parse(bytes(json))) && notConverted.isEmpty)
        }
    }

    @Test func `other members of the request are checked as ever, after the payload and before it`() {
        for (json, field) in [
            (#"{"content":{"apns":{"aps":{"alert":"A"}}},"digest":{"by":"thread","window":60}}"#, "digest.by"),
            (#"{"version":-1,"content":{"apns":{"aps":{"alert":"A"}}}}"#, "version"),
            (#"{"content":{"apns":{"aps":{"alert":"A"}}},"content":{"title":"T"}}"#, "content"),
            (#"{"content":{"title":"T"},"content":{"apns":{"aps":{"alert":"A"}}}}"#, "content"),
            (
                #"{"content":{"apns":{"aps":{"alert":"A"},"carillon":{"attachments":[{}]}}}}"#,
                "content.apns.carillon.attachments.0.identifier"
            ),
        ] {
            var value = bytes(json)
            let error = failure { () throws(ModelError) in try RequestRecord.receive(&value, key: key.get()) }
            #expect(error?.field == field, "\(json): \(String(describing: error))")
        }
    }

    @Test func `a payload that is too large or no UTF-8 is refused as such`() {
        let long = String(repeating: "x", count: ExistingAPNsPayload.maximumBytes)
        var value = bytes("{\"content\":{\"apns\":{\"aps\":{\"alert\":\"\(long)\"}}}}")
        let large = failure { () throws(ModelError) in try RequestRecord.receive(&value, key: key.get()) }
        #expect(large?.reason == .tooLarge && large?.field == "content.apns")
        value = bytes(#"{"content":{"apns":{"aps":{"alert":"A"#) + [0xFF] + bytes(#""}}}}"#)
        #expect(
            failure { () throws(ModelError) in try RequestRecord.receive(&value, key: key.get()) }?.reason == .notUTF8
        )
    }

    @Test func `a typed request is read from a payload, too`() throws {
        let json = bytes(#"{"content":{"apns":{"aps":{"alert":"A"}}}}"#)
        #expect(try NotificationRequest(json: json, key: key.get()).content == NotificationContent(body: "A"))
    }
}
