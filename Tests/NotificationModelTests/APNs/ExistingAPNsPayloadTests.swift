import NotificationModel
import Testing
import TestSupport

@Suite("Payloads of APNs as teams have them")
struct ExistingAPNsPayloadTests {
    private func read(_ json: String) throws(ModelError) -> ExistingAPNsPayload {
        try ExistingAPNsPayload(json: bytes(json))
    }

    @Test func `the old form, with a text as alert, becomes a body`() throws {
        let old = try read(#"{"aps":{"alert":"You got a message","badge":1,"sound":"default"},"orderId":"1001"}"#)
        #expect(
            old.content
                == NotificationContent(
                    body: "You got a message",
                    badge: 1,
                    sound: .default,
                    userInfo: .object([.init("orderId", .string("1001"))])
                )
        )
        #expect(old.unsaid.isEmpty)
    }

    @Test func `an alert with localization keys and an image, and what no system shows any more`() throws {
        let old = try read(
            #"""
            {"aps":{"alert":{"loc-key":"GAME_PLAY_REQUEST_FORMAT","loc-args":["Jenna","Frank"],"action-loc-key":"PLAY",
             "launch-image":"play.png","title-loc-args":["x"]},"badge":5,"sound":"chime.aiff","url-args":["a"],
             "content-available":1,"newsstand":true},"acme1":"bar","acme2":["bang","whiz"]}
            """#
        )
        #expect(
            old.content
                == NotificationContent(
                    bodyLocalization: Localization(key: "GAME_PLAY_REQUEST_FORMAT", arguments: ["Jenna", "Frank"]),
                    badge: 5,
                    sound: NotificationSound(name: "chime.aiff"),
                    launchImageName: "play.png",
                    userInfo: .object([
                        .init("acme1", .string("bar")), .init("acme2", .array([.string("bang"), .string("whiz")])),
                    ])
                )
        )
        #expect(
            old.unsaid == [
                "aps.alert.action-loc-key", "aps.alert.title-loc-args", "aps.url-args", "aps.content-available",
                "aps.newsstand",
            ]
        )
    }

    @Test func `every member of a payload of today`() throws {
        let read = try read(
            #"""
            {"aps":{"alert":{"title":"T","subtitle":"S","body":"B","title-loc-key":"TK","subtitle-loc-key":"SK",
             "subtitle-loc-args":[],"summary-arg":"A","summary-arg-count":2},"badge":0,
             "sound":{"critical":1,"name":"bell.caf","volume":0.5},"category":"ORDER","thread-id":"orders",
             "target-content-id":"o/1","interruption-level":"time-sensitive","relevance-score":0.25,
             "filter-criteria":"work","mutable-content":1},
             "carillon":{"requestId":"r","attachments":[{"identifier":"a","url":"https://e.com/a.png"}]}}
            """#
        )
        var expected = NotificationContent(title: "T", subtitle: "S", body: "B")
        expected.titleLocalization = Localization(key: "TK")
        expected.subtitleLocalization = Localization(key: "SK", arguments: [])
        (expected.summaryArgument, expected.summaryArgumentCount, expected.badge) = ("A", 2, 0)
        expected.sound = NotificationSound(name: "bell.caf", critical: true, volume: 0.5)
        (expected.categoryIdentifier, expected.threadIdentifier) = ("ORDER", "orders")
        (expected.targetContentIdentifier, expected.interruptionLevel) = ("o/1", .timeSensitive)
        (expected.relevanceScore, expected.filterCriteria, expected.mutableContent) = (0.25, "work", true)
        expected.attachments = [NotificationAttachment(identifier: "a", url: "https://e.com/a.png")]
        #expect(read.content == expected && read.unsaid.isEmpty)
    }

    @Test func `a push in the background is a content with data only`() throws {
        let read = try read(#"{"aps":{"content-available":1},"refresh":true}"#)
        #expect(read.content == NotificationContent(userInfo: .object([.init("refresh", .bool(true))])))
        #expect(read.unsaid.isEmpty)
    }

    @Test func `an empty name of a sound plays nothing, and a member of the app is never one of the alert`() throws {
        let read = try read(
            #"{"aps":{"alert":"A","sound":"","attachment":"x"},"title":"t","image":"https://e.com/a.png"}"#
        )
        #expect(read.content.sound == nil && read.content.title == nil && read.unsaid == ["aps.attachment"])
        #expect(read.content.userInfo?["image"] == .string("https://e.com/a.png"))
    }

    @Test(
        arguments: [
            ("", nil), ("[]", nil), ("{", nil), ("{}", "aps"), (#"{"alert":"A"}"#, "aps"), (#"{"aps":1}"#, "aps"),
            (#"{"aps":{"alert":"A"},"aps":{}}"#, "aps"), (#"{"aps":{}}"#, nil), (#"{"aps":{"alert":""}}"#, nil),
            (#"{"aps":{"alert":5}}"#, "aps.alert"), (#"{"aps":{"alert":{"title":5}}}"#, "aps.alert.title"),
            (#"{"aps":{"alert":{"loc-key":"K","loc-args":[5]}}}"#, "aps.alert.loc-args"),
            (#"{"aps":{"badge":"1"}}"#, "aps.badge"), (#"{"aps":{"badge":true}}"#, "aps.badge"),
            (#"{"aps":{"badge":-1}}"#, "aps.badge"), (#"{"aps":{"badge":1.5}}"#, "aps.badge"),
            (#"{"aps":{"alert":"A","sound":5}}"#, "aps.sound"),
            (#"{"aps":{"alert":"A","sound":{"volume":2}}}"#, "aps.sound.volume"),
            (#"{"aps":{"alert":"A","mutable-content":"1"}}"#, "aps.mutable-content"),
            (#"{"aps":{"alert":"A","interruption-level":"timeSensitive"}}"#, "aps.interruption-level"),
            (#"{"aps":{"alert":"A","relevance-score":2}}"#, "aps.relevance-score"),
            (#"{"aps":{"alert":"A","category":"a\u0001"}}"#, "aps.category"),
            (#"{"aps":{"alert":{"title":"T","title-loc-key":""}}}"#, "aps.alert.title-loc-key.key"),
            (
                #"{"aps":{"alert":"A"},"carillon":{"attachments":[{"identifier":"a","url":"file:///etc/passwd"}]}}"#,
                "carillon.attachments.0.url"
            ),
        ] as [(String, String?)]
    )
    func `what is wrong is told with its place in the payload`(_ json: String, _ field: String?) {
        let error = failure { () throws(ModelError) in try read(json) }
        #expect(error != nil && error?.field == field, "\(json): \(error.map { "\($0)" } ?? "none")")
    }

    @Test func `a payload is no larger than APNs takes`() {
        let json = #"{"aps":{"alert":"\#(String(repeating: "x", count: 5120))"}}"#
        #expect(failure { () throws(ModelError) in try read(json) }?.reason == .tooLarge)
    }

    @Test func `no bytes trap`() {
        var generator = SeededGenerator(seed: 3)
        let pieces = [
            "{", "}", "[", "]", ":", ",", "\"aps\"", "\"alert\"", "\"sound\"", "\"critical\"", "\"loc-key\"",
            "\"loc-args\"", "1",
            "-1e400", "null", "true", "\"", "\\ud800", "é", "\"carillon\"", "\"attachments\"", "\"badge\"", "\"\"",
        ]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...16, using: &generator)
            let json = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            _ = failure { () throws(ModelError) in try read(json) }
        }
    }
}
