import Testing

@testable import carillon

@Suite("{n} in repeated messages")
struct PlaceholderTests {
    @Test(arguments: [
        ("order-{n}", "order-42"), ("{n}{n}", "4242"), ("{n} of {m}", "42 of {m}"), ("{{n}}", "{42}"), ("{n", "{n"),
        ("", ""), ("é{n}é", "é42é"), (#"{"a":{n}}"#, #"{"a":42}"#),
    ])
    func `every placeholder is replaced, and nothing else`(_ text: String, _ filled: String) {
        #expect(Placeholder.filled(text, 42) == filled)
        #expect(Placeholder.filled(Array(text.utf8), 42) == Array(filled.utf8))
    }
}
