package import NotificationModel

/// Asks the user's own service for the content.
///
/// It posts `{"application":…,"recipient":…,"identifier":…,"requestId":…,"content":{…}}`, signed as Standard Webhooks
/// describes. The service answers 200 with `{"content":{…}}`, the complete new content, or 204 for no change. The
/// answer's content obeys the rules for the content of a request.
package struct WebhookEnricher: Enricher {
    /// The largest answer: as for the body of a request.
    package static let answerBytes = ModelLimits.requestBytes

    package let name: String
    private let posting: any EnrichmentPosting
    private let signatures: @Sendable ([UInt8]) -> String
    private let now: @Sendable () -> Timestamp

    /// An enricher that calls a service.
    ///
    /// - Parameters:
    ///   - name: How chains name it.
    ///   - posting: Sends the request.
    ///   - signatures: The value of `webhook-signature` for the bytes of `id.timestamp.body`.
    ///   - now: The wall clock, for `webhook-timestamp`.
    package init(
        name: String = "webhook",
        posting: any EnrichmentPosting,
        signatures: @escaping @Sendable ([UInt8]) -> String,
        now: @escaping @Sendable () -> Timestamp = { SystemClock.now() }
    ) {
        (self.name, self.posting, self.signatures, self.now) = (name, posting, signatures, now)
    }

    package func enrich(_ draft: EnrichmentDraft, for input: EnrichmentInput) async -> EnricherOutcome {
        let (body, headers) = request(draft.current.content, input)
        let answer = await posting.post(
            body: body,
            headers: headers,
            answerBytes: Self.answerBytes,
            deadline: input.deadline
        )
        switch answer.flatMap(Self.content) {
        case .success(let content?):
            draft.update { $0.content = content }
            return .applied
        case .success(nil): return .applied
        case .failure(let failure): return .failed(failure)
        }
    }

    private func request(_ content: NotificationContent, _ input: EnrichmentInput) -> (
        body: [UInt8], headers: [EnrichmentHeader]
    ) {
        let body = JSONObjectWriter.object { object, out in
            object.member("application", input.application, &out)
            object.member("recipient", input.recipient, &out)
            object.member("identifier", input.identifier, &out)
            object.member("requestId", input.requestID, &out)
            object.begin("content", &out)
            content.write(to: &out)
        }

        // The same for every attempt to deliver this occurrence, and different from the ids of its events.
        let occurrence = input.occurrence.map { "\($0.rawValue)" } ?? ""
        let id = UUIDv5.make(
            namespace: UUIDv5.eventNamespace,
            pieces: [input.requestID, occurrence, "enrichment", name]
        ).description
        let seconds = "\(now().rawValue / 1_000)"
        return (
            body,
            [
                EnrichmentHeader("content-type", "application/json"),
                EnrichmentHeader("webhook-id", id),
                EnrichmentHeader("webhook-timestamp", seconds),
                EnrichmentHeader("webhook-signature", signatures(Array("\(id).\(seconds).".utf8) + body)),
            ]
        )
    }

    /// The content of an answer; nil for no change.
    private static func content(of answer: EnrichmentAnswer) -> Result<NotificationContent?, EnrichmentFailure> {
        guard answer.status != 204 else { return .success(nil) }
        guard answer.status == 200 else {
            return .failure(EnrichmentFailure(code: "http-status", detail: "the service answered \(answer.status)"))
        }
        guard answer.body.count <= answerBytes else {
            return .failure(EnrichmentFailure(.tooLarge, "the answer has more than \(answerBytes) bytes"))
        }
        do throws(ModelError) {
            return .success(try NotificationContent(json: try member(of: answer.body)))
        } catch {
            // The error's text may quote the content.
            let field = PrintableText.escaped(error.field ?? "")
            return .failure(
                EnrichmentFailure(.invalid, "the answer is invalid (\(error.reason.rawValue)) at `\(field)`")
            )
        }
    }

    /// The bytes of the member `content`.
    private static func member(of body: [UInt8]) throws(ModelError) -> [UInt8] {
        let found: Result<[UInt8], ModelError> = withUnsafeTemporaryAllocation(of: JSONMatch.self, capacity: 1) {
            match in
            body.withUnsafeBytes { bytes in
                var paths = JSONPathSet()
                let path = paths.insert(["content"])
                do throws(ModelError) {
                    try paths.find(in: bytes, into: match)
                } catch {
                    return .failure(error)
                }
                guard match[path].kind == .object else {
                    return .failure(ModelError(.invalid, field: "content", "must be an object"))
                }
                return .success(Array(bytes[match[path].range]))
            }
        }
        return try found.get()
    }
}

/// Posts to the user's service over HTTP.
package protocol EnrichmentPosting: Sendable {
    /// Sends one request and reads the whole answer. Ends soon after its task is cancelled.
    ///
    /// - Parameters:
    ///   - body: JSON.
    ///   - headers: In addition to those of HTTP itself.
    ///   - answerBytes: The largest body to read; a larger one is the failure `too-large`.
    ///   - deadline: When the answer is needed.
    func post(
        body: [UInt8],
        headers: [EnrichmentHeader],
        answerBytes: Int,
        deadline: ContinuousClock.Instant
    ) async -> Result<EnrichmentAnswer, EnrichmentFailure>
}

/// A header field.
package struct EnrichmentHeader: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}

/// What a service answered.
package struct EnrichmentAnswer: Hashable, Sendable {
    package let status: Int
    package let body: [UInt8]

    package init(status: Int, body: [UInt8] = []) { (self.status, self.body) = (status, body) }
}
