import NotificationModel
import Testing

@Suite("What of a content decides its presentation")
struct ContentFactsTests {
    private func facts(_ json: String) -> ContentFacts { ContentFacts(bytes(json)[...]) }

    @Test(
        "alert text is a title, subtitle or body that is not empty, or a localization",
        arguments: [
            (#"{"title":"t"}"#, true), (#"{"subtitle":"s"}"#, true), (#"{"body":"b"}"#, true),
            (#"{"titleLocalization":{"key":"k"}}"#, true), (#"{"subtitleLocalization":{"key":"k"}}"#, true),
            (#"{"bodyLocalization":{"key":"k"}}"#, true), (#"{"title":"","badge":1}"#, false),
            (#"{"userInfo":{"title":"t"}}"#, false),
            (#"{"attachments":[{"identifier":"a","url":"https://a"}]}"#, false),
        ]
    )
    func alert(_ json: String, _ hasAlert: Bool) {
        #expect(facts(json).hasAlert == hasAlert)
    }

    @Test("sounds, badges, level and policy are read")
    func values() {
        #expect(facts(#"{"sound":"default"}"#).hasSound && !facts(#"{"sound":"default"}"#).hasCriticalSound)
        let critical = facts(#"{"sound":{"volume":1,"critical":true,"name":"n"}}"#)
        #expect(critical.hasSound && critical.hasCriticalSound)
        #expect(!facts(#"{"sound":{"critical":false}}"#).hasCriticalSound)
        #expect(facts(#"{"badge":0}"#).badge == 0 && facts(#"{"title":"t"}"#).badge == nil)
        #expect(facts(#"{"badgeIncrement":7}"#).badgeIncrement == 7 && facts(#"{"title":"t"}"#).badgeIncrement == 0)
        for level in InterruptionLevel.allCases {
            #expect(facts(#"{"interruptionLevel":"\#(level.rawValue)"}"#).level == level)
        }
        #expect(facts(#"{"title":"t"}"#).level == .active)
        #expect(facts(#"{"presentation":["alert"]}"#).foreground == .options([.banner, .list]))
        #expect(facts(#"{"presentation":[]}"#).foreground == .options([]))
        #expect(facts(#"{"presentation":null}"#).foreground == .unhandled)
        #expect(facts(#"{"title":"t"}"#).foreground == nil)
    }

    @Test("category and thread are found in a slice of any beginning, and escapes are resolved")
    func texts() throws {
        let json = #"{"categoryIdentifier":"ORDER","threadIdentifier":"a\/\u00e9\n","badge":2}"#
        for padding in [0, 1, 100] {
            let content = (Array(repeating: 0x7A, count: padding) + bytes(json))[padding...]
            let facts = ContentFacts(content)
            let (category, thread) = (try #require(facts.category), try #require(facts.thread))
            #expect(text(content[category.range]) == "ORDER" && !category.isEscaped)
            #expect(category.string(in: content) == "ORDER")
            #expect(thread.isEscaped && thread.string(in: content) == "a/\u{E9}\n")
            #expect(thread.withBytes(in: content) { Array($0) } == bytes("a/\u{E9}\n"))
            #expect(facts.badge == 2)
        }
        let empty = facts(#"{"categoryIdentifier":"","threadIdentifier":""}"#)
        #expect(empty.category == nil && empty.thread == nil)
    }

    @Test(
        "what cannot be read counts as absent",
        arguments: ["", "null", "[]", "{", "nonsense", #"{"badge":"1"}"#, "\u{0}"]
    )
    func unreadable(_ json: String) {
        #expect(facts(json) == ContentFacts())
        #expect(ContentFacts([]) == ContentFacts())
    }

    @Test(
        "the scan of a request reads the same",
        arguments: [
            #"{"title":"t","badge":3,"sound":"bell.caf","categoryIdentifier":"ORDER","threadIdentifier":"or\u0064ers"}"#,
            #"{"bodyLocalization":{"key":"k"},"badgeIncrement":2,"interruptionLevel":"timeSensitive","presentation":null}"#,
            #"{"sound":{"critical":true,"name":"n"},"categoryIdentifier":"","presentation":["list"]}"#,
            #"{ "userInfo" : {"title":"t","badge":4} , "title" : "" }"#,
        ]
    )
    func scanned(_ json: String) throws {
        let key = try NotificationKey(application: "shop", recipient: "ana", identifier: "order")
        let value = bytes(#"{"content":\#(json),"trigger":{"type":"push"}}"#)
        guard case .request(let request) = try RequestRecord.scan(value, key: key) else {
            Issue.record("not a request")
            return
        }
        #expect(request.facts == ContentFacts(value[request.content]))
        #expect(request.facts != ContentFacts() || json.contains("userInfo"))
    }
}
