import NIOCore
import NIOHTTP1
import OutboundHTTP

/// Posts to one URL through the connections of the fetcher, with the same guard. Redirects are refused: they would carry
/// the content to another address.
struct GuardedPosting: EnrichmentPosting {
    /// How failures name it.
    let name: String
    /// That the policy allows.
    let url: EgressURL
    let hosts: GuardedHosts
    let connections: OutboundConnections
    var clock = EnrichmentClock.system

    /// A POST that an idle connection loses before its answer is sent once more: its signed id tells the service.
    func post(
        body: [UInt8],
        headers: [EnrichmentHeader],
        answerBytes: Int,
        deadline: ContinuousClock.Instant
    ) async -> Result<EnrichmentAnswer, EnrichmentFailure> {
        let progress = DownloadProgress()
        let time = deadline - clock.now()
        guard time > .zero else { return failure(OutboundFailure(.timedOut, "the deadline passed before the request")) }
        let ending = await TimedWork.run(within: time, sleep: clock.sleep) {
            await answer(body, headers, answerBytes, progress)
        }
        switch ending {
        case .finished(.success(let answer)): return .success(answer)
        case .finished(.failure(let error)): return failure(error)
        case .timedOut: return failure(OutboundFailure(.timedOut, "\(url.host): \(progress.phase.rawValue)"))
        case .cancelled: return failure(.cancelled)
        }
    }

    private func failure(_ failure: OutboundFailure) -> Result<EnrichmentAnswer, EnrichmentFailure> {
        .failure(EnrichmentFailure(code: failure.code, detail: "\(name): \(failure.detail)"))
    }

    private func answer(
        _ body: [UInt8],
        _ headers: [EnrichmentHeader],
        _ answerBytes: Int,
        _ progress: DownloadProgress
    ) async -> Result<EnrichmentAnswer, OutboundFailure> {
        do throws(OutboundFailure) {
            let exchange = OutboundExchange(
                OutboundExchange.head(
                    .POST,
                    url,
                    [("content-length", "\(body.count)")] + headers.map { ($0.name, $0.value) }
                ),
                to: url,
                at: try await hosts.addresses(of: url, progress),
                body: ByteBuffer(bytes: body),
                observer: progress,
                judge: { judge($0, answerBytes) }
            )
            let answer = try await exchange.answer(CollectedAnswer.self, by: connections)
            return .success(EnrichmentAnswer(status: answer.status, body: answer.body))
        } catch {
            return .failure(error)
        }
    }

    /// Only a success may have a body of interest.
    private func judge(_ head: HTTPResponseHead, _ answerBytes: Int) -> AnswerPlan {
        let status = Int(clamping: head.status.code)
        switch status {
        case 200..<300 where status != 204:
            return AnswerPlan.refusal(ofBody: head, largest: Int64(answerBytes), of: url)
                ?? .body(CollectedBody(status: status, bound: answerBytes))
        case 300..<400:
            return .failure(.redirectRefused, "answered with the status \(status)", of: url)
        default:
            return .end(.success(CollectedAnswer(status: status)))
        }
    }
}
