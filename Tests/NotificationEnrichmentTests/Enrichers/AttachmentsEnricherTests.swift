import NotificationModel
import OutboundHTTP
import Synchronization
import Testing

@testable import NotificationEnrichment

/// Answers by URL; records what it was asked.
private final class ScriptedFetching: AttachmentFetching {
    struct Call: Hashable {
        var url: String
        var typeHint: String?
        var neededUntil: Int64
        var deadline: ContinuousClock.Instant
    }

    typealias Answer = Result<FetchedAttachment, EnrichmentFailure>

    private let script: @Sendable (String) async -> Answer
    private let state = Mutex<(calls: [Call], running: Int, most: Int)>(([], 0, 0))

    init(_ script: @escaping @Sendable (String) async -> Answer = { _ in .success(.sample) }) { self.script = script }

    var calls: [Call] { state.withLock { $0.calls } }
    var mostAtOnce: Int { state.withLock { $0.most } }

    func fetch(
        url: String,
        for application: String,
        typeHint: String?,
        neededUntil: Int64,
        deadline: ContinuousClock.Instant
    ) async -> Answer {
        state.withLock { state in
            let call = Call(url: url, typeHint: typeHint, neededUntil: neededUntil, deadline: deadline)
            state.calls.append(call)
            state.running += 1
            state.most = max(state.most, state.running)
        }
        defer { state.withLock { $0.running -= 1 } }
        return await script(url)
    }
}

extension FetchedAttachment {
    private static let digest: MediaDigest = {
        guard let digest = MediaDigest(String(repeating: "0a", count: 32)) else { preconditionFailure("64 digits") }
        return digest
    }()

    fileprivate static let sample = sample("https://media.example.com/0.jpg")

    fileprivate static func sample(_ url: String) -> FetchedAttachment {
        FetchedAttachment(
            facts: MediaFacts(type: .jpeg, bytes: 48_211, width: 640, height: 480),
            digest: digest,
            url: url
        )
    }
}

@Suite("Enricher of attachments")
struct AttachmentsEnricherTests {
    private let time = StageTime()
    private static let refused = EnrichmentFailure(code: "address-refused", detail: "10.0.0.1 is private")

    private func content(_ attachments: [NotificationAttachment]) -> NotificationContent {
        var content = Sample.content
        content.attachments = attachments
        return content
    }

    private func content(_ names: String...) -> NotificationContent {
        content(names.map { NotificationAttachment(identifier: $0, url: "https://cdn.example.com/\($0)") })
    }

    private func run(
        _ content: NotificationContent,
        _ fetching: ScriptedFetching,
        _ chain: String = "attachments",
        _ others: [any Enricher] = []
    ) async throws -> EnrichmentResult {
        try await Sample.run(chain, [AttachmentsEnricher(fetching: fetching)] + others, content, time)
    }

    /// The medium of `https://cdn.example.com/a` is `https://media.example.com/a`.
    @Sendable private static func stored(_ url: String) -> ScriptedFetching.Answer {
        .success(.sample(url.replacing("cdn", with: "media")))
    }

    @Test("a fetched attachment keeps its identifier and options and gets the URL of the store")
    func fetched() async throws {
        let options = NotificationAttachment.Options(typeHint: "public.jpeg", thumbnailHidden: true)
        let photo = NotificationAttachment(identifier: "photo", url: "https://cdn.example.com/1", options: options)
        let fetching = ScriptedFetching(Self.stored)
        let result = try await run(content([photo]), fetching)
        var changed = photo
        changed.url = "https://media.example.com/1"
        #expect(result.content == content([changed]))
        #expect(
            fetching.calls == [
                .init(
                    url: photo.url,
                    typeHint: "public.jpeg",
                    neededUntil: 1_000,
                    deadline: time.start.advanced(by: .seconds(10))
                )
            ]
        )
        #expect(
            String(decoding: result.report, as: UTF8.self)
                == #"{"milliseconds":0,"attachments":[{"identifier":"photo","outcome":"attached","kind":"image","#
                + #""type":"public.jpeg","bytes":48211,"width":640,"height":480,"#
                + #""digest":"sha256:\#(String(repeating: "0a", count: 32))","url":"https://media.example.com/1"}],"#
                + #""enrichers":[{"name":"attachments","outcome":"applied","milliseconds":0}],"content":"enriched"}"#
        )
    }

    @Test("what failed is removed from the content and reported with its reason, the rest stays in its order")
    func partlyMissing() async throws {
        let fetching = ScriptedFetching { $0.hasSuffix("b") ? .failure(Self.refused) : Self.stored($0) }
        let result = try await run(content("a", "b", "c"), fetching)
        #expect(result.content?.attachments?.map(\.identifier) == ["a", "c"])
        #expect(result.summary.content == .bestAttempt)
        #expect(result.summary.attachments.map(\.identifier) == ["a", "b", "c"])
        #expect(result.summary.attachments[1].outcome == .missing(reason: "address-refused"))
        #expect(result.steps == ["attachments: failed (address-refused)"])
        guard case .failed(let failure)? = result.summary.enrichers.first?.outcome else { return }
        #expect(failure.detail == "attachment `b`: 10.0.0.1 is private")
    }

    @Test("when all failed, the notification goes without attachments")
    func allMissing() async throws {
        let result = try await run(content("a", "b"), ScriptedFetching { _ in .failure(Self.refused) })
        #expect(result.content == Sample.content)
        #expect(result.summary.content == .bestAttempt)
    }

    @Test("at the deadline the attachments that came are there, and the others are reported as timed out")
    func deadline() async throws {
        // One at a time: the second begins when the first is in the draft.
        let fetching = ScriptedFetching { [time] url in
            if url.hasSuffix("a") { return Self.stored(url) }
            await time.pass(.seconds(10))
            await untilCancelled()
            return .failure(EnrichmentFailure(code: "cancelled", detail: ""))
        }
        let enricher = AttachmentsEnricher(fetching: fetching, concurrency: 1)
        let result = try await Sample.run("attachments", [enricher], content("a", "b", "c"), time)
        #expect(result.content?.attachments?.map(\.url) == ["https://media.example.com/a"])
        #expect(
            result.summary.attachments.dropFirst().map(\.outcome)
                == Array(repeating: .missing(reason: "timed-out"), count: 2)
        )
        #expect(fetching.calls.count == 2, "nothing begins after the end")
        #expect(result.steps == ["attachments: timed-out (deadline)"])
    }

    @Test("when no attachment came in time, the original is delivered and all are reported as timed out")
    func nothingCame() async throws {
        let fetching = ScriptedFetching { [time] _ in
            await time.pass(.seconds(10))
            await untilCancelled()
            return .failure(EnrichmentFailure(code: "cancelled", detail: ""))
        }
        let result = try await run(content("a"), fetching)
        #expect(result.verdict == .original)
        #expect(result.summary.attachments == [.init(identifier: "a", outcome: .missing(reason: "timed-out"))])
    }

    @Test("no more attachments are fetched at once than allowed", arguments: [1, 2, 10])
    func concurrency(limit: Int) async throws {
        let fetching = ScriptedFetching { url in
            for _ in 0..<20 { await Task.yield() }
            return Self.stored(url)
        }
        let enricher = AttachmentsEnricher(fetching: fetching, concurrency: limit)
        let names = (1...10).map { NotificationAttachment(identifier: "\($0)", url: "https://cdn.example.com/\($0)") }
        let result = try await Sample.run("attachments", [enricher], content(names), time)
        #expect(result.content?.attachments?.count == 10)
        #expect(fetching.mostAtOnce <= limit)
    }

    @Test("content without attachments is nothing to do")
    func nothingToDo() async throws {
        let result = try await run(Sample.content, ScriptedFetching())
        #expect(result.verdict == .original)
        #expect(result.steps == ["attachments: skipped (nothing-to-do)"])
    }

    @Test("an attachment that a later enricher adds is fetched when the chain fetches again, and the others are not")
    func again() async throws {
        let adding = ScriptedEnricher("adding") { draft, _ in
            draft.update { snapshot in
                snapshot.content.attachments?.append(.init(identifier: "b", url: "https://cdn.example.com/b"))
            }
            return .applied
        }
        let fetching = ScriptedFetching(Self.stored)
        let result = try await run(content("a"), fetching, "attachments; adding; attachments", [adding])
        #expect(
            result.content?.attachments?.map(\.url) == ["https://media.example.com/a", "https://media.example.com/b"]
        )
        #expect(fetching.calls.map(\.url) == ["https://cdn.example.com/a", "https://cdn.example.com/b"])
        #expect(result.summary.attachments.count == 2)
    }

    @Test("a fetched medium that the delivered content does not refer to is reported as discarded")
    func discarded() async throws {
        let failing = ScriptedEnricher("failing") { _, _ in
            .failed(EnrichmentFailure(code: "broken", detail: ""))
        }
        let dropping = ScriptedEnricher("dropping") { draft, _ in
            draft.update { $0.content.attachments = nil }
            return .applied
        }
        for chain in ["attachments; failing on-failure=original", "attachments; dropping"] {
            let result = try await run(content("a"), ScriptedFetching(Self.stored), chain, [failing, dropping])
            #expect(result.summary.attachments == [.init(identifier: "a", outcome: .missing(reason: "discarded"))])
        }
    }

    @Test("an attachment without an identifier gets the same one every time, unlike any other")
    func identifiers() async {
        let attachments = ["", "attachment-1", ""].map {
            NotificationAttachment(identifier: $0, url: "https://cdn.example.com/x")
        }
        let draft = EnrichmentDraft(.init(content: content(attachments)))
        let outcome = await AttachmentsEnricher(fetching: ScriptedFetching()).enrich(draft, for: Sample.input(at: time))
        #expect(outcome == .applied)
        #expect(
            draft.current.content.attachments?.map(\.identifier) == ["attachment-1-", "attachment-1", "attachment-3"]
        )
    }
}
