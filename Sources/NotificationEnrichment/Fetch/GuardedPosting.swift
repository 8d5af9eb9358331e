import NIOCore
import NIOHTTP1
import ServiceHTTP

/// Posts to one URL through the connections of the fetcher, with the same guard. Redirects are refused: they would carry
/// the content to another address.
struct GuardedPosting: EnrichmentPosting {
    /// How failures name it.
    let name: String
    /// That the policy allows.
    let url: EgressURL
    let hosts: GuardedHosts
    let connections: FetchConnections
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
        guard time > .zero else { return failure(FetchFailure(.timedOut, "the deadline passed before the request")) }
        let ending = await TimedWork.run(within: time, sleep: clock.sleep) {
            await answer(body, headers, answerBytes, progress)
        }
        switch ending {
        case .finished(.success(let answer)): return .success(answer)
        case .finished(.failure(let error)): return failure(error)
        case .timedOut: return failure(FetchFailure(.timedOut, "\(url.host): \(progress.phase.rawValue)"))
        case .cancelled: return failure(.cancelled)
        }
    }

    private func failure(_ failure: FetchFailure) -> Result<EnrichmentAnswer, EnrichmentFailure> {
        .failure(EnrichmentFailure(code: failure.code, detail: "\(name): \(failure.detail)"))
    }

    private func answer(
        _ body: [UInt8],
        _ headers: [EnrichmentHeader],
        _ answerBytes: Int,
        _ progress: DownloadProgress
    ) async -> Result<EnrichmentAnswer, FetchFailure> {
        do throws(FetchFailure) {
            let exchange = FetchExchange(
                .POST,
                url,
                at: try await hosts.addresses(of: url, progress),
                fields: [("content-length", "\(body.count)")] + headers.map { ($0.name, $0.value) },
                body: ByteBuffer(bytes: body),
                progress: progress,
                judge: { judge($0, answerBytes) }
            )
            guard case .collected(let status, let body) = try await exchange.answer(by: connections) else {
                return .failure(FetchFailure(.invalidResponse, "\(url.host): no answer to a POST"))
            }
            return .success(EnrichmentAnswer(status: status, body: body))
        } catch {
            return .failure(error)
        }
    }

    /// Only a success may have a body of interest.
    private func judge(_ head: HTTPResponseHead, _ answerBytes: Int) -> FetchResponse {
        let status = Int(clamping: head.status.code)
        switch status {
        case 200..<300 where status != 204:
            return FetchResponse.refusal(ofBody: head, largest: Int64(answerBytes), of: url)
                ?? .body(CollectedBody(status: status, bound: answerBytes))
        case 300..<400:
            return .failure(.redirectRefused, "answered with the status \(status)", of: url)
        default:
            return .end(.success(.collected(status: status, body: [])))
        }
    }
}
