import NotificationModel
import Testing
import TestSupport

@testable import NotificationChannels

@Suite("Payloads of APNs that are too large")
struct APNsOversizeTests {
    private static let characters: [String] = [
        "a", "\"", "\\", "\n", "\u{1}", "\u{7F}", "é", "e\u{301}", "中", "😀", "👩‍👩‍👧‍👦", "🇨🇳", "क्षि", " ",
        "a\u{301}\u{302}\u{303}",
    ]

    private func content(body: String, attachments: Int = 0) -> String {
        var content = NotificationContent(title: "T", body: body)
        if attachments > 0 {
            content.attachments = (0..<attachments).map {
                NotificationAttachment(
                    identifier: "\($0)",
                    url: "https://cdn.example.com/" + String(repeating: "x", count: 1000)
                )
            }
        }
        return String(decoding: content.json, as: UTF8.self)
    }

    private func push(_ content: String, _ policy: OversizePolicy, as type: APNsPushType? = nil) throws -> APNsPush {
        try APNsPush(APNsSample.delivery(content), as: type, bundle: APNsSample.bundle, oversize: policy)
    }

    private func body(_ push: APNsPush) throws -> String? {
        try JSONValue.parse(push.payload)["aps"]?["alert"]?["body"]?.stringValue
    }

    @Test(arguments: [(APNsPushType.alert, 4096), (.voip, 5120)])
    func `a payload at the limit goes out whole, one byte more is too large`(_ type: APNsPushType, _ limit: Int) throws
    {
        let empty = try push(content(body: ""), .refuse, as: type).payload.count
        let most = limit - empty
        let whole = try push(content(body: String(repeating: "x", count: most)), .refuse, as: type)
        #expect(whole.payload.count == limit && whole.changes.isEmpty && whole.problems().isEmpty)
        let more = content(body: String(repeating: "x", count: most + 1))
        let error = #expect(throws: ModelError.self) { try push(more, .refuse, as: type) }
        #expect(error?.reason == .payloadTooLarge && error?.detail.contains("\(limit)") == true)
        #expect(error?.detail.contains("xxx") == false, "a message shows no content")
        let cut = try push(more, .standard, as: type)
        #expect(cut.payload.count == limit && cut.changes == [.bodyShortened])
        #expect(try body(cut) == String(repeating: "x", count: most - 3) + "…")
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] as [UInt64])
    func `whatever the text, it is cut between two characters, as late as possible`(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            var text = ""
            let count = Int.random(in: 200...3000, using: &generator)
            for _ in 0..<count { text += Self.characters.randomElement(using: &generator) ?? "" }
            let push = try push(content(body: text), .standard)
            let shown = try #require(try body(push))
            #expect(push.payload.count <= 4096)
            guard push.changes == [.bodyShortened] else {
                #expect(push.changes.isEmpty && shown == text)
                continue
            }
            #expect(shown.hasSuffix("…"))
            let kept = Array(shown.dropLast())
            let all = Array(text)
            #expect(kept == Array(all.prefix(kept.count)), "seed \(seed)")
            // With the next character that is no white space it would not fit.
            var next = kept.count
            while next < all.count, all[next].isWhitespace { next += 1 }
            let longer = all[...min(next, all.count - 1)].reduce(into: "") { $0.append($1) }
            let grown = OversizePolicy.bytesInJSON(longer.utf8) - OversizePolicy.bytesInJSON(String(kept).utf8)
            #expect(push.payload.count + grown > 4096, "seed \(seed): more would have fit")
        }
    }

    @Test func `the bytes of a text in JSON are those that are written`() {
        for scalar in (0...0x2FF).compactMap(Unicode.Scalar.init) {
            var json: [UInt8] = []
            JSONWriter.append(string: String(scalar), to: &json)
            #expect(OversizePolicy.bytesInJSON(String(scalar).utf8) == json.count - 2, "\(scalar.value)")
        }
    }

    @Test func `a single character that is too large is not cut apart`() throws {
        let zalgo = "a" + String(repeating: "\u{301}", count: 3000)
        #expect(zalgo.count == 1)
        #expect(throws: ModelError.self) { try push(content(body: zalgo), .standard) }
        #expect(OversizePolicy.shortened("  \n abc", toBytes: 8) == nil, "white space alone is nothing to show")
        #expect(OversizePolicy.shortened("ab cd", toBytes: 6) == "ab…")
        #expect(
            OversizePolicy.shortened("abc", toBytes: 3) == nil
                && OversizePolicy.shortened("", toBytes: 99) == nil
        )
    }

    @Test func `steps follow in their order, each only while the payload is too large`() throws {
        let body = String(repeating: "x", count: 3000)
        let both = content(body: body, attachments: 2)
        let dropped = try push(both, OversizePolicy(steps: [.dropMedia, .shorten]))
        #expect(dropped.changes == [.mediaDropped])
        #expect(try self.body(dropped) == body)
        #expect(try JSONValue.parse(dropped.payload)["carillon"]?["attachments"] == nil)
        let shortened = try push(both, OversizePolicy(steps: [.shorten, .dropMedia]))
        #expect(shortened.changes == [.bodyShortened])
        #expect(try JSONValue.parse(shortened.payload)["carillon"]?["attachments"]?.arrayValue?.count == 2)
        let large = content(body: String(repeating: "x", count: 9000), attachments: 9)
        #expect(
            try push(large, OversizePolicy(steps: [.dropMedia, .shorten])).changes == [
                .mediaDropped, .bodyShortened,
            ]
        )
        #expect(throws: ModelError.self) { try push(large, OversizePolicy(steps: [.dropMedia])) }
        #expect(throws: ModelError.self) { try push(large, .standard) }
        #expect(throws: ModelError.self) { try push(large, .refuse) }
    }

    @Test func `what has no body to cut is refused`() throws {
        let title = #"{"title":"\#(String(repeating: "x", count: 5000))"}"#
        #expect(throws: ModelError.self) { try push(title, OversizePolicy(steps: [.shorten, .dropMedia])) }
        let info = #"{"title":"T","userInfo":{"a":"\#(String(repeating: "x", count: 5000))"}}"#
        #expect(throws: ModelError.self) { try push(info, OversizePolicy(steps: [.shorten, .dropMedia])) }
        let key = #"{"body":"\#(String(repeating: "x", count: 5000))","bodyLocalization":{"key":"K"}}"#
        #expect(try push(key, .refuse).changes.isEmpty, "the body is not in the payload")
    }

    @Test func `names of policies`() {
        #expect(OversizePolicy(texts: ["refuse"]) == .refuse && OversizePolicy(texts: ["shorten"]) == .standard)
        #expect(OversizePolicy(texts: ["drop-media", "shorten"])?.steps == [.dropMedia, .shorten])
        for texts in [[], ["refuse", "shorten"], ["shorten", "shorten"], ["cut"], [""]] {
            #expect(OversizePolicy(texts: texts) == nil, "\(texts)")
        }
    }
}
