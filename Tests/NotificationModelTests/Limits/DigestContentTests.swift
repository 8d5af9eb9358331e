import NotificationModel
import Testing

@Suite("Content of a digest")
struct DigestContentTests {
    private func digest(
        _ policy: DigestPolicy = DigestPolicy(by: .thread, window: 600_000),
        of members: [String],
        limit: Int = 256 * 1024
    ) throws -> NotificationContent {
        let json = policy.content(of: members.map { bytes($0)[...] }, limit: limit)
        #expect(json.count <= limit)
        return try NotificationContent(json: json)
    }

    private func template(title: String? = nil, body: String? = nil) -> DigestPolicy {
        DigestPolicy(by: .thread, window: 600_000, title: title, body: body)
    }

    @Test(
        "a template names what the notifications have",
        arguments: [
            ("{{count}} updates", "3 updates"), ("{{titles}}", "Packed, On its way"), ("{{first.title}}", "Packed"),
            ("{{ last.title }}: {{last.body}}", "On its way: Third"), ("{{thread}}/{{category}}", "orders/"),
            ("no variable", "no variable"),
        ]
    )
    func templates(_ source: String, _ expected: String) throws {
        let members = [
            #"{"title":"Packed","body":"First","threadIdentifier":"orders","categoryIdentifier":"ORDER"}"#,
            #"{"title":"On its way","threadIdentifier":"orders","categoryIdentifier":"OTHER"}"#,
            #"{"title":"On its way","body":"Third","threadIdentifier":"orders"}"#,
        ]
        let content = try digest(template(title: source, body: source), of: members)
        #expect(content.title == expected)
        #expect(content.body == expected)
        #expect(content.subtitle == nil)
        #expect(content.threadIdentifier == "orders")
        #expect(content.categoryIdentifier == nil)
        #expect(content.summaryArgumentCount == 3)
        #expect(content.userInfo?.value(at: "digest.count") == .number("3"))
    }

    @Test("values are not templates, and what is missing is empty")
    func values() throws {
        let members = [#"{"title":"{{count}}"}"#, #"{"sound":"default"}"#]
        let content = try digest(
            template(title: "{{first.title}}|{{last.title}}|{{last.body}}|{{thread}}"),
            of: members
        )
        #expect(content.title == "{{count}}|||")
    }

    @Test("without templates it shows the last notification, and how many others there are")
    func standard() throws {
        let members = [
            #"{"title":"Packed","body":"First"}"#, #"{"title":"Paid"}"#,
            #"{"title":"On its way","subtitle":"s","bodyLocalization":{"key":"SHIPPED","arguments":["1"]}}"#,
        ]
        let content = try digest(of: members)
        #expect(content.title == "On its way")
        #expect(content.subtitle == "+2")
        #expect(content.bodyLocalization == Localization(key: "SHIPPED", arguments: ["1"]))
    }

    @Test("a template takes the place of a localization")
    func localization() throws {
        let member = #"{"titleLocalization":{"key":"T"},"bodyLocalization":{"key":"B"}}"#
        let content = try digest(template(title: "{{count}}"), of: [member, member])
        #expect(content.titleLocalization == nil)
        #expect(content.bodyLocalization == Localization(key: "B"))
    }

    @Test("it disturbs as much as the strongest of the notifications, and has the last badge")
    func strongest() throws {
        let content = try digest(of: [
            #"{"sound":{"name":"siren","critical":true,"volume":0.5},"badge":7,"interruptionLevel":"timeSensitive"}"#,
            #"{"sound":{"name":"horn","critical":true,"volume":0.9},"badge":8}"#,
            #"{"sound":"bell","title":"t","interruptionLevel":"passive"}"#,
        ])
        #expect(content.sound == NotificationSound(name: "horn", critical: true, volume: 0.9))
        #expect(content.interruptionLevel == .timeSensitive)
        #expect(content.badge == 8)
        #expect(try digest(of: [#"{"sound":"bell"}"#, #"{"sound":"drum"}"#, #"{"badge":1}"#]).sound?.name == "drum")
    }

    @Test(
        "increments of the badge are added to the last badge, or to each other",
        arguments: [
            (["badgeIncrement\":2", "badgeIncrement\":3"], nil, 5), (["badge\":7", "badgeIncrement\":3"], 10, nil),
            (["badgeIncrement\":3", "badge\":7"], 7, nil), (["badge\":0", "title\":\"t\""], 0, nil),
            (["badgeIncrement\":999999", "badgeIncrement\":2"], nil, 1_000_000),
            (["badge\":1000000000", "badgeIncrement\":2"], 1_000_000_000, nil),
        ] as [([String], Int64?, Int64?)]
    )
    func badge(_ members: [String], _ badge: Int64?, _ increment: Int64?) throws {
        let content = try digest(of: members.map { "{\"\($0)}" })
        #expect(content.badge == badge)
        #expect(content.badgeIncrement == increment)
    }

    @Test(
        "a level that is not named is active",
        arguments: [
            (["passive", "passive"], .passive), (["passive", nil], nil), (["passive", "active"], .active),
            ([nil, nil], nil), (["critical", nil], .critical),
        ] as [([String?], InterruptionLevel?)]
    )
    func levels(_ levels: [String?], _ expected: InterruptionLevel?) throws {
        let members = levels.map { level in
            #"{"title":"t""# + (level.map { #","interruptionLevel":"\#($0)""# } ?? "") + "}"
        }
        #expect(try digest(of: members).interruptionLevel == expected)
    }

    @Test(
        "texts lose whole characters at their ends until the content has the size",
        arguments: [300, 400, 1_000, 9_000]
    )
    func cut(_ limit: Int) throws {
        let family = "👩‍👩‍👧‍👦"
        let long = String(repeating: family + "\\n", count: 300)
        let members = [
            #"{"title":"\#(long)","body":"\#(long)","threadIdentifier":"orders"}"#, #"{"title":"t","body":"\#(long)"}"#,
        ]
        let content = try digest(template(title: "{{titles}}"), of: members, limit: limit)
        for text in [content.title ?? "", content.body ?? ""] {
            #expect(text.allSatisfy { ["👩‍👩‍👧‍👦", "\n", ",", " ", "t", "\u{2026}"].contains($0) })
        }
        #expect((content.title ?? "").count + (content.body ?? "").count > limit / 40)
    }

    @Test("names and localizations that are too large go, the number stays")
    func tooLarge() throws {
        let name = String(repeating: "n", count: 1024)
        let arguments = (0..<32).map { _ in #""\#(name)""# }.joined(separator: ",")
        let member =
            #"{"title":"t","threadIdentifier":"\#(name)","titleLocalization":{"key":"k","arguments":[\#(arguments)]}}"#
        let cut = try digest(of: [member, member], limit: 4096)
        #expect(cut.threadIdentifier == name)
        #expect(cut.title == "t")
        #expect(cut.titleLocalization == nil)
        let least = try digest(of: [member, member], limit: 256)
        #expect(least.threadIdentifier == nil)
        #expect(least.summaryArgumentCount == 2)
    }

    @Test("one character of any length, unreadable members and no members at all do not trap")
    func hostile() throws {
        let zalgo = "a" + String(repeating: "\u{301}", count: 50_000)
        #expect(try digest(of: [#"{"title":"t"}"#, #"{"title":"\#(zalgo)"}"#], limit: 500).title == "")
        #expect(try digest(of: ["", "[]"]).subtitle == "+1")
        #expect(try digest(of: []).summaryArgumentCount == 0)
        #expect(try digest(template(title: "{{"), of: ["{}", "{}"]).title == "{{")
    }
}
