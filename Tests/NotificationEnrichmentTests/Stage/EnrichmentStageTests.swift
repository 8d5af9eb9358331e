import NotificationModel
import OutboundHTTP
import Testing

@testable import NotificationEnrichment

@Suite("Stage of enrichers")
struct EnrichmentStageTests {
    private let failing = ScriptedEnricher("failing") { draft, _ in
        draft.update { $0.content.subtitle = "partial" }
        return .failed(EnrichmentFailure(code: "broken", detail: "it is broken"))
    }

    @Test("enrichers run in the order of the chain, each on the content of the previous one")
    func order() async throws {
        let result = try await Sample.run("b; a; b", [ScriptedEnricher.marking("a"), ScriptedEnricher.marking("b")])
        #expect(result.content?.body == "text b a b")
        #expect(result.summary.content == .enriched)
        #expect(result.steps == ["b: applied", "a: applied", "b: applied"])
    }

    @Test("a category with its own chain uses it, every other content the default chain")
    func categories() async throws {
        let chains = EnrichmentChains(
            standard: try EnrichmentChain(text: "a"),
            byCategory: ["ORDER": try EnrichmentChain(text: "b"), "QUIET": try EnrichmentChain(text: "none")]
        )
        let time = StageTime()
        let enrichers = [ScriptedEnricher.marking("a"), ScriptedEnricher.marking("b")]
        let stage = try EnrichmentStage(chains: chains, enrichers: enrichers, clock: time.clock)
        for (category, body) in [(nil, "text a"), ("OTHER", "text a"), ("ORDER", "text b"), ("QUIET", nil)] {
            var content = Sample.content
            content.categoryIdentifier = category
            #expect(await stage.run(Sample.input(content, at: time)).content?.body == body)
        }
    }

    @Test("content that no enricher changes is the original")
    func unchanged() async throws {
        let idle = ScriptedEnricher("idle") { _, _ in .skipped }
        let result = try await Sample.run("idle", [idle])
        #expect(result.verdict == .original)
        #expect(result.summary.content == .original)
        #expect(result.steps == ["idle: skipped (nothing-to-do)"])
    }

    @Test("a best attempt keeps what the failed enricher has done, and the chain goes on")
    func bestAttempt() async throws {
        let result = try await Sample.run("failing; a", [failing, ScriptedEnricher.marking("a")])
        #expect(result.content?.subtitle == "partial")
        #expect(result.content?.body == "text a")
        #expect(result.summary.content == .bestAttempt)
        #expect(result.steps == ["failing: failed (broken)", "a: applied"])
    }

    @Test("the policy `original` ends the chain and delivers the original content")
    func originalOnFailure() async throws {
        let enrichers = [failing, ScriptedEnricher.marking("a"), ScriptedEnricher.marking("b")]
        let result = try await Sample.run("a; failing on-failure=original; b", enrichers)
        #expect(result.verdict == .original)
        #expect(result.summary.content == .original)
        #expect(result.steps == ["a: applied", "failing: failed (broken)", "b: skipped (ended)"])
    }

    @Test("the policy `do-not-deliver` ends the chain and delivers nothing, with the reason of the failure")
    func doNotDeliver() async throws {
        let enrichers = [failing, ScriptedEnricher.marking("b")]
        let result = try await Sample.run("failing on-failure=do-not-deliver; b", enrichers)
        #expect(result.verdict == .doNotDeliver(reason: "broken"))
        #expect(result.summary.content == nil)
        #expect(result.steps == ["failing: failed (broken)", "b: skipped (ended)"])
    }

    @Test("without room nothing runs: the first policy that does not go on without a step decides")
    func declined() throws {
        let enrichers = [failing, ScriptedEnricher.marking("b")]
        for (chain, verdict) in [
            ("failing; b", .original), ("failing on-failure=original; b on-failure=do-not-deliver", .original),
            ("failing; b on-failure=do-not-deliver", .doNotDeliver(reason: "overloaded")),
        ] as [(String, EnrichmentResult.Verdict)] {
            let chains = EnrichmentChains(standard: try EnrichmentChain(text: chain))
            let result = try EnrichmentStage(chains: chains, enrichers: enrichers).decline(Sample.content.json)
            #expect(result.verdict == verdict && result.summary.reason == "overloaded" && result.steps.isEmpty)
        }
    }

    @Test("without alert text all modifications are ignored, and the report says so")
    func noAlertText() async throws {
        let wiping = ScriptedEnricher("wiping") { draft, _ in
            draft.update { snapshot in
                (snapshot.content.title, snapshot.content.body) = (nil, "")
                snapshot.content.badge = 1
            }
            return .applied
        }
        let result = try await Sample.run("wiping", [wiping])
        #expect(result.verdict == .original)
        #expect(result.summary.content == .original)
        #expect(result.summary.reason == "no-alert-text")
        let back = try await Sample.run("wiping; a", [wiping, ScriptedEnricher.marking("a")])
        #expect(back.content?.body == " a", "a later enricher can bring text back")
    }

    @Test("the localization of a title is alert text")
    func localizedText() async throws {
        let content = NotificationContent(titleLocalization: Localization(key: "TITLE"), mutableContent: true)
        let changing = ScriptedEnricher("changing") { draft, _ in
            draft.update { $0.content.badge = 1 }
            return .applied
        }
        let result = try await Sample.run("changing", [changing], content)
        #expect(result.content?.badge == 1)
    }

    @Test("a change that makes the content invalid is dropped, and is a failure of its step")
    func invalidChange() async throws {
        let long = ScriptedEnricher("long") { draft, _ in
            draft.update { $0.content.threadIdentifier = String(repeating: "x", count: 2_000) }
            return .applied
        }
        let huge = ScriptedEnricher("huge") { draft, _ in
            draft.update { $0.content.subtitle = String(repeating: "x", count: ModelLimits.requestBytes) }
            return .applied
        }
        let result = try await Sample.run("a; long; huge", [ScriptedEnricher.marking("a"), long, huge])
        #expect(result.content?.body == "text a")
        #expect(result.content?.threadIdentifier == nil)
        #expect(result.content?.subtitle == nil)
        #expect(result.summary.content == .bestAttempt)
        #expect(result.steps == ["a: applied", "long: failed (invalid)", "huge: failed (too-large)"])
        guard case .failed(let failure)? = result.summary.enrichers.dropFirst().first?.outcome else {
            Issue.record("the step has not failed")
            return
        }
        #expect(failure.detail.contains("threadIdentifier") && !failure.detail.contains("xxx"))
    }

    @Test("a content that is not valid is delivered as it is, and no enricher sees it")
    func invalidInput() async throws {
        let untouched = ScriptedEnricher("untouched") { _, _ in
            Issue.record("it ran")
            return .applied
        }
        let time = StageTime()
        let chains = EnrichmentChains(standard: EnrichmentChain([.init("untouched")]))
        let stage = try EnrichmentStage(chains: chains, enrichers: [untouched], clock: time.clock)
        var input = Sample.input(at: time)
        input.content = Array(#"{"title":1}"#.utf8)
        let result = await stage.run(input)
        #expect(result.verdict == .original)
        #expect(result.summary.reason == "invalid")
    }

    @Test("a stage refuses a chain with an unknown enricher, and enrichers with one name")
    func misconfigured() throws {
        let chains = EnrichmentChains(standard: EnrichmentChain([.init("b")]))
        let error = #expect(throws: EnrichmentChainError.self) {
            try EnrichmentStage(chains: chains, enrichers: [ScriptedEnricher.marking("a")])
        }
        #expect(error?.message == "the default chain names the enricher `b`; there are: a")
        #expect(throws: EnrichmentChainError.self) {
            try EnrichmentStage(
                chains: chains,
                enrichers: [ScriptedEnricher.marking("b"), ScriptedEnricher.marking("b")]
            )
        }
        #expect(throws: EnrichmentChainError.self) {
            try EnrichmentStage(
                chains: EnrichmentChains(standard: EnrichmentChain(.init(repeating: .init("b"), count: 17))),
                enrichers: [ScriptedEnricher.marking("b")]
            )
        }
    }

    @Test("the report has the milliseconds, attachments, enrichers and the content in this form")
    func report() async throws {
        let time = StageTime()
        let slow = ScriptedEnricher("slow") { draft, _ in
            draft.update { snapshot in
                snapshot.content.subtitle = "new"
                snapshot.attachments = [AttachmentReport(identifier: "a\"", outcome: .missing(reason: "too-large"))]
            }
            await time.pass(.milliseconds(412))
            return .failed(EnrichmentFailure(code: String(repeating: "c", count: 100), detail: "not in the report"))
        }
        let result = try await Sample.run("slow", [slow], Sample.content, time)
        let code = String(repeating: "c", count: 64)
        #expect(
            String(decoding: result.report, as: UTF8.self)
                == #"{"milliseconds":412,"#
                + #""attachments":[{"identifier":"a\"","outcome":"missing","reason":"too-large"}],"#
                + #""enrichers":[{"name":"slow","outcome":"failed","reason":"\#(code)","milliseconds":412}],"#
                + #""content":"best-attempt"}"#
        )
    }
}
