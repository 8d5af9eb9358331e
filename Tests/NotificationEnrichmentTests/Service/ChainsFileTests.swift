import NotificationModel
import Testing

@testable import NotificationEnrichment

@Suite("The file of enrichers and chains")
struct ChainsFileTests {
    @Test("nested aliases are refused at their line, a few work")
    func aliases() throws {
        var yaml = "a0: &a0 [lol, lol, lol, lol, lol]\n"
        for level in 1...12 {
            let items = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            yaml += "a\(level): &a\(level) [\(items)]\n"
        }
        let error = #expect(throws: EnrichmentSettingsError.self) { try ChainsFile(text: yaml, of: "f.yaml") }
        #expect(error?.message.hasPrefix("f.yaml:6: ") == true && error?.message.contains("aliases") == true)
        let file = try ChainsFile(text: "chains: {A: &a none, B: *a}", of: "f.yaml")
        #expect(file.chains.byCategory["B"] == file.chains.byCategory["A"])
    }

    @Test("two spellings of a category are two categories")
    func spellings() throws {
        let file = try ChainsFile(text: "chains: {\"caf\u{E9}\": none}", of: "f.yaml")
        #expect(file.chains.chain(forCategory: "caf\u{E9}") != file.chains.chain(forCategory: "cafe\u{301}"))
    }

    private func description(_ lines: String) throws -> ChainsFile.Description? {
        let text = "enrichers:\n  webhook:a:\n    url: https://a.internal/\n    keys: /run/keys\n\(lines)"
        return try ChainsFile(text: text, of: "chains").enrichers["webhook:a"]
    }

    @Test("a service is inside the network only when the file says so")
    func isInternal() throws {
        for (lines, isInternal) in [("", false), ("    internal: true\n", true), ("    internal: false\n", false)] {
            #expect(
                try description(lines)
                    == .webhook(url: "https://a.internal/", keysFile: "/run/keys", isInternal: isInternal)
            )
        }
        let error = #expect(throws: EnrichmentSettingsError.self) { try description("    internal: maybe\n") }
        #expect(error?.message.contains("true or false") == true)
    }
}
