import Testing

@testable import NotificationEnrichment

@Suite("The file of enrichers and chains")
struct ChainsFileTests {
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
