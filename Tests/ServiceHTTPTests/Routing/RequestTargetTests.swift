import NotificationModel
import Testing

@testable import ServiceHTTP

@Suite("Targets of HTTP requests")
struct RequestTargetTests {
    @Test(
        "The path is split before it is decoded, and dot segments are kept",
        arguments: [
            ("/v1/events", ["v1", "events"]), ("/a%2Fb/c", ["a%2Fb", "c"]), ("/a/../b/.", ["a", "..", "b", "."]),
            ("/a//b/", ["a", "", "b", ""]),
            ("/", [""]), ("", []), ("*", []), ("/a?b=/c", ["a"]), ("/é", ["é"]),
        ]
    )
    func segments(target: String, segments: [String]) {
        #expect(RequestTarget(target).segments.map(String.init) == segments)
    }

    @Test(
        "Escapes are decoded exactly once",
        arguments: [
            ("ana%2F1", "ana/1"), ("ana%252F1", "ana%2F1"), ("%25", "%"), ("a+b", "a+b"), ("a%20b", "a b"),
            ("%e4%BD%A0", "你"), ("..", ".."),
            ("plain", "plain"),
        ]
    )
    func decoding(segment: String, text: String) throws {
        #expect(try RequestTarget.decode(segment[...], field: "f") == text)
    }

    @Test("An invalid escape is refused with its field", arguments: ["%", "%2", "%zz", "a%2", "%%20", "%-1", "%+1"])
    func wrongEscape(segment: String) {
        let error = #expect(throws: ModelError.self) { try RequestTarget.decode(segment[...], field: "recipient") }
        #expect(error?.reason == .invalid)
        #expect(error?.field == "recipient")
    }

    @Test("Escapes that are not UTF-8 are refused", arguments: ["%ff", "%c0%80", "%ed%a0%80", "a%80"])
    func notUTF8(segment: String) {
        let error = #expect(throws: ModelError.self) { try RequestTarget.decode(segment[...], field: "recipient") }
        #expect(error?.reason == .notUTF8)
    }

    @Test("Only known query parameters are accepted, once each")
    func query() throws {
        let both = try RequestTarget("/p?state=all&application=a%26b").parameters(allowed: ["state", "application"])
        #expect(both["state"] == "all")
        #expect(both["application"] == "a&b")
        #expect(try RequestTarget("/p?").parameters(allowed: []) == RequestTarget.Parameters())
        #expect(try RequestTarget("/p?state").parameters(allowed: ["state"])["state"] == "")
        for (target, reason, field) in [
            ("/p?aplication=x", ReasonCode.unknownField, "aplication"), ("/p?state=a&state=a", .invalid, "state"),
            ("/p?state=%f", .invalid, "state"),
        ] {
            let error = #expect(throws: ModelError.self) {
                try RequestTarget(target).parameters(allowed: ["state", "application"])
            }
            #expect(error?.reason == reason)
            #expect(error?.field == field)
        }
    }

    @Test("A repeatable parameter keeps the order of its values, and no other may repeat")
    func repeated() throws {
        let target = RequestTarget("/p?identifier=b&state=all&identifier=a%2Fb&identifier=&identifier&identifier=b")
        let parameters = try target.parameters(allowed: ["state"], repeatable: "identifier")
        #expect(parameters.repeated == ["b", "a/b", "", "", "b"])
        #expect(parameters["state"] == "all")
        let error = #expect(throws: ModelError.self) { try target.parameters(allowed: ["state"]) }
        #expect(error?.field == "identifier")
        #expect(error?.reason == .unknownField)
    }
}
