import NotificationModel
import OutboundHTTP
import Synchronization
import Testing

@testable import NotificationEnrichment

/// Answers every request in the same way; records the requests.
private final class ScriptedPosting: EnrichmentPosting {
    struct Call {
        var body: [UInt8]
        var headers: [String: String]
        var answerBytes: Int
        var deadline: ContinuousClock.Instant
    }

    private let answer: Result<EnrichmentAnswer, EnrichmentFailure>
    private let recorded = Mutex<[Call]>([])

    init(_ answer: Result<EnrichmentAnswer, EnrichmentFailure>) { self.answer = answer }

    convenience init(_ status: Int, _ body: String = "") {
        self.init(.success(EnrichmentAnswer(status: status, body: Array(body.utf8))))
    }

    var calls: [Call] { recorded.withLock { $0 } }

    func post(
        body: [UInt8],
        headers: [EnrichmentHeader],
        answerBytes: Int,
        deadline: ContinuousClock.Instant
    ) async -> Result<EnrichmentAnswer, EnrichmentFailure> {
        let fields = Dictionary(uniqueKeysWithValues: headers.map { ($0.name, $0.value) })
        recorded.withLock {
            $0.append(Call(body: body, headers: fields, answerBytes: answerBytes, deadline: deadline))
        }
        return answer
    }
}

@Suite("Enricher that asks a service")
struct WebhookEnricherTests {
    private let time = StageTime()
    private let signer = RequestSigner(keys: [Array(repeating: 7, count: 32), Array(repeating: 9, count: 24)])

    private func enricher(_ posting: ScriptedPosting, name: String = "webhook") -> WebhookEnricher {
        WebhookEnricher(
            name: name,
            posting: posting,
            signatures: { [signer] in signer.signatures(of: $0) },
            now: { Timestamp(rawValue: 1_795_251_600_999) }
        )
    }

    private func run(_ posting: ScriptedPosting) async throws -> EnrichmentResult {
        try await Sample.run("webhook", [enricher(posting)], Sample.content, time)
    }

    @Test("the service gets the notification's names and its content so far, before the deadline of the step")
    func request() async throws {
        let posting = ScriptedPosting(204)
        let enrichers: [any Enricher] = [ScriptedEnricher.marking("a"), enricher(posting)]
        _ = try await Sample.run("a; webhook budget=2s", enrichers, Sample.content, time)
        let call = try #require(posting.calls.first)
        #expect(
            String(decoding: call.body, as: UTF8.self)
                == #"{"application":"shop","recipient":"user-42","identifier":"order-1001","requestId":"r-1","#
                + #""content":{"title":"Hello","body":"text a","mutableContent":true}}"#
        )
        #expect(call.answerBytes == WebhookEnricher.answerBytes)
        #expect(call.deadline == time.start.advanced(by: .seconds(2)))
        #expect(call.headers["content-type"] == "application/json")
    }

    @Test("the signature covers the id, the time in seconds and the exact body")
    func signature() async throws {
        let posting = ScriptedPosting(204)
        _ = try await run(posting)
        let call = try #require(posting.calls.first)
        let id = try #require(call.headers["webhook-id"])
        #expect(call.headers["webhook-timestamp"] == "1795251600")
        let signed = Array("\(id).1795251600.".utf8) + call.body
        #expect(call.headers["webhook-signature"] == signer.signatures(of: signed))
    }

    @Test("the id is the same for each attempt of one delivery, and another for another delivery or enricher")
    func identity() async throws {
        let posting = ScriptedPosting(204)
        var input = Sample.input(at: time)
        let draft = EnrichmentDraft(.init(content: Sample.content))
        for occurrence in [nil, nil, Timestamp(rawValue: 1), Timestamp(rawValue: 2)] {
            input.occurrence = occurrence
            _ = await enricher(posting).enrich(draft, for: input)
        }
        _ = await enricher(posting, name: "webhook:b").enrich(draft, for: input)
        input.requestID = "r-2"
        _ = await enricher(posting).enrich(draft, for: input)
        let ids = posting.calls.compactMap { $0.headers["webhook-id"] }
        #expect(ids[0] == ids[1])
        #expect(Set(ids).count == 5)
    }

    @Test("an answer of 200 replaces the content, attachments included")
    func replaced() async throws {
        let posting = ScriptedPosting(
            200,
            #" {"other":1,"content":{"title":"New","attachments":[{"identifier":"a","url":"https://x.example/a"}]}} "#
        )
        let result = try await run(posting)
        #expect(
            result.content
                == NotificationContent(
                    title: "New",
                    attachments: [.init(identifier: "a", url: "https://x.example/a")]
                )
        )
        #expect(result.summary.content == .enriched)
        #expect(result.steps == ["webhook: applied"])
    }

    @Test("an answer of 204 changes nothing")
    func noChange() async throws {
        let result = try await run(ScriptedPosting(204))
        #expect(result.verdict == .original)
        #expect(result.steps == ["webhook: applied"])
    }

    @Test("any other status is a failure", arguments: [201, 301, 400, 404, 410, 429, 500, 503])
    func status(status: Int) async throws {
        let result = try await run(ScriptedPosting(status, #"{"content":{"title":"New"}}"#))
        #expect(result.verdict == .original)
        #expect(result.steps == ["webhook: failed (http-status)"])
        guard case .failed(let failure)? = result.summary.enrichers.first?.outcome else { return }
        #expect(failure.detail == "the service answered \(status)")
    }

    @Test(
        "an answer without a content that a request could have is a failure, and the error does not quote it",
        arguments: [
            "", "secret", "[]", "{}", #"{"content":null}"#, #"{"content":"secret"}"#, #"{"content":{}}"#,
            #"{"content":{"title":1}}"#, #"{"content":{"title":"x","secretField":1}}"#,
            #"{"content":{"title":"x"}"#, #"{"content":{"title":"x"}} secret"#,
            #"{"content":{"title":"x","attachments":[{"identifier":"a","url":"file:///secret"}]}}"#,
            #"{"content":{"title":"x","attachments":[{"identifier":"","url":"https://x.example/a"}]}}"#,
            #"{"content":{"title":"x","userInfo":\#(String(repeating: "[", count: 200))"#,
        ]
    )
    func invalid(body: String) async throws {
        let result = try await run(ScriptedPosting(200, body))
        #expect(result.verdict == .original)
        #expect(result.steps == ["webhook: failed (invalid)"])
        guard case .failed(let failure)? = result.summary.enrichers.first?.outcome else { return }
        #expect(!failure.detail.contains("secret") || failure.detail.hasSuffix("at `secretField`"))
    }

    @Test("bytes that are not UTF-8 are a failure")
    func notUTF8() async throws {
        let bytes = Array(#"{"content":{"title":""#.utf8) + [0xFF] + Array(#""}}"#.utf8)
        let result = try await run(ScriptedPosting(.success(EnrichmentAnswer(status: 200, body: bytes))))
        #expect(result.steps == ["webhook: failed (invalid)"])
    }

    @Test("an answer that is too large is a failure, even if the client read it")
    func tooLarge() async throws {
        let text = String(repeating: "x", count: WebhookEnricher.answerBytes)
        let result = try await run(ScriptedPosting(200, #"{"content":{"title":"\#(text)"}}"#))
        #expect(result.steps == ["webhook: failed (too-large)"])
    }

    @Test("a failure of the client keeps its code")
    func clientFailure() async throws {
        let failure = EnrichmentFailure(code: "timed-out", detail: "head")
        let result = try await run(ScriptedPosting(.failure(failure)))
        #expect(result.steps == ["webhook: failed (timed-out)"])
    }

    @Test("content without alert text from the service is ignored")
    func noAlertText() async throws {
        let result = try await run(ScriptedPosting(200, #"{"content":{"badge":1}}"#))
        #expect(result.verdict == .original)
        #expect(result.summary.reason == "no-alert-text")
    }
}
