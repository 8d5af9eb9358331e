import NotificationModel
import OutboundHTTP
import Testing

@testable import carillon

@Suite("The lines of carillon media fetch")
struct MediaInputTests {
    @Test(
        "a line is a URL, a string or an object",
        arguments: [
            ("https://a.b/c", "https://a.b/c", nil), (" \thttps://a.b/c \r", "https://a.b/c", nil),
            (#""https:\/\/a.b\/c""#, "https://a.b/c", nil), (#"{"url":"u"}"#, "u", nil),
            (#" {"url":"u","typeHint":"public.png"} "#, "u", "public.png"), (#"{"url":"u","typeHint":null}"#, "u", nil),
        ]
    )
    func valid(_ line: String, _ url: String, _ hint: String?) {
        let item = MediaItem(line: 7, Array(line.utf8))
        #expect(item == MediaItem(line: 7, .success(.init(url: url, typeHint: hint))))
    }

    @Test(
        "an invalid line names its field",
        arguments: [
            ("{", ReasonCode.invalid, nil), ("[]", .invalid, nil), (#""a"#, .invalid, nil),
            ("{}", .invalid, "url"), (#"{"url":1}"#, .invalid, "url"),
            (#"{"url":"u","typeHint":1}"#, .invalid, "typeHint"), (#"{"url":"u","hint":""}"#, .unknownField, "hint"),
            ("\"a\" \"b\"", .invalid, nil),
        ] as [(String, ReasonCode, String?)]
    )
    func invalid(_ line: String, _ reason: ReasonCode, _ field: String?) throws {
        let item = try #require(MediaItem(line: 1, Array(line.utf8)))
        let error = #expect(throws: ModelError.self) { try item.target.get() }
        #expect(error?.reason == reason && error?.field == field, "\(String(describing: error))")
    }

    @Test("bytes that are not UTF-8 are an error of their line, and a blank line is nothing")
    func bytes() throws {
        let item = try #require(MediaItem(line: 1, [0x61, 0xFF]))
        #expect(#expect(throws: ModelError.self) { try item.target.get() }?.reason == .notUTF8)
        #expect(MediaItem(line: 1, []) == nil && MediaItem(line: 1, [0x20, 0x09, 0x0D]) == nil)
    }

    @Test("lines are read in portions, with their numbers")
    func portions() throws {
        let file = try TemporaryFile("a\n\nb\n\(String(repeating: "c", count: 20_000))\nd")
        let lines = try MediaLines(path: file.path)
        func next() throws -> (numbers: [Int?], isLast: Bool) {
            let batch = try lines.next(atMost: 2, within: .seconds(120))
            return (batch.items.map(\.line), batch.isLast)
        }
        #expect(try next() == ([1], false))
        #expect(try next() == ([3, 4], false))
        #expect(try next() == ([5], true))
    }

    @Test("an input that is missing has status 66, and an empty one ends at once")
    func missing() throws {
        #expect(throws: CommandFailure("/no/such/file: No such file or directory", status: 66)) {
            _ = try MediaLines(path: "/no/such/file")
        }
        #expect(try MediaLines(path: "/dev/null").next(atMost: 4, within: .seconds(120)) == MediaBatch(isLast: true))
    }
}
