import OutboundHTTP
import Testing

@testable import NotificationEnrichment

@Suite("Text form of chains")
struct EnrichmentChainTests {
    @Test("steps are separated by semicolons, and options follow the name")
    func reading() throws {
        let chain = try EnrichmentChain(
            text: " attachments;template:greeting  budget=2s on-failure=original; w budget=500ms"
        )
        #expect(
            chain
                == EnrichmentChain([
                    .init("attachments"),
                    .init("template:greeting", budget: .seconds(2), onFailure: .original),
                    .init("w", budget: .milliseconds(500)),
                ])
        )
        #expect(try EnrichmentChain(text: "a on-failure=do-not-deliver").steps.first?.onFailure == .doNotDeliver)
        #expect(try EnrichmentChain(text: "none") == EnrichmentChain([]))
        #expect(EnrichmentChains().chain(forCategory: "X") == .attachments)
    }

    @Test(
        "a mistake is refused with its step and how to write it",
        arguments: [
            ("", "step 1: has no enricher"), ("a;", "step 2: has no enricher"), ("a;;b", "step 2: has no enricher"),
            ("A", "step 1: `A` is not the name"), ("a; b\u{E9}", "step 2: `b\u{E9}` is not the name"),
            ("none; a budget=x", "step 2: budget=`x`"), ("a budget=0s", "budget=`0s`"),
            ("a budget=61s", "budget=`61s`"),
            ("a budget=2", "budget=`2`"), ("a budget=-1s", "budget=`-1s`"), ("a budget=1.5s", "budget=`1.5s`"),
            ("a budget=99999999999999999999s", "budget=`9999"), ("a budget=\u{663}s", "budget=`\u{663}s`"),
            ("a budget", "`budget` is not an option"), ("a b", "`b` is not an option"),
            ("a budget=1s budget=1s", "budget appears twice"),
            ("a on-failure=later", "on-failure=`later` is not one of"),
            ("a on-failure=original on-failure=original", "on-failure appears twice"),
            (Array(repeating: "a", count: 17).joined(separator: ";"), "has 17 steps"),
            (String(repeating: "a", count: 65), "is not the name"),
        ]
    )
    func refused(text: String, message: String) {
        let error = #expect(throws: EnrichmentChainError.self) { try EnrichmentChain(text: text) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
}
