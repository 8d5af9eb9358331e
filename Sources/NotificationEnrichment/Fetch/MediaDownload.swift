import NIOCore
import NIOHTTP1
import OutboundHTTP

/// One download: from the URL through its redirects to the stored medium.
struct MediaDownload: Sendable {
    /// With the origin for the fetch that began the download.
    typealias Fetched = (stored: MediaBody.Stored, origin: FetchedMedia.Origin)

    let hosts: GuardedHosts
    let connections: OutboundConnections
    let known: KnownMedia
    let keeper: MediaKeeper
    let limits: MediaLimits
    let mostRedirects: Int

    /// - Parameters:
    ///   - first: that the policy allows.
    ///   - key: of the first URL.
    ///   - application: of the fetch that began the download.
    ///   - neededUntil: in milliseconds since 1970.
    ///   - progress: of this download.
    func run(
        _ first: EgressURL,
        _ key: MediaKey,
        for application: String,
        neededUntil: Int64,
        progress: DownloadProgress
    ) async throws(OutboundFailure) -> Fetched {
        var (url, key) = (first, key)
        var visited: Set = [first.text]
        while true {
            // For the first URL the fetch has looked before.
            if visited.count > 1, let entry = known.fresh(key), try await keeper.keep(entry.stored, neededUntil) {
                progress.report(.cached(entry.stored.media))
                return (entry.stored, .cached)
            }
            let addresses = try await hosts.addresses(of: url, for: application, progress)
            let entry = known.entry(key)
            switch try await answer(url, key, addresses, application, entry?.validators, neededUntil, progress) {
            case .media(let stored, let freshness):
                known.store(stored, freshness, for: key)
                progress.report(.checked(stored.facts))
                progress.report(.stored(stored.media))
                return (stored, .downloaded)
            case .notModified(let freshness):
                if let entry, try await keeper.keep(entry.stored, neededUntil) {
                    known.store(entry.stored, freshness, for: key, after: entry)
                    progress.report(.revalidated(entry.stored.media))
                    return (entry.stored, .revalidated)
                }
                // The store has evicted it since: the next request is not conditional.
                known.remove(key)
            case .redirect(let status, let location):
                url = try redirect(location, from: url, first, &visited)
                key.url = url.text
                progress.report(.redirected(status: status, origin: url.origin))
            }
        }
    }

    private func answer(
        _ url: EgressURL,
        _ key: MediaKey,
        _ addresses: [IPAddress],
        _ application: String,
        _ validators: HTTPFreshness.Validators?,
        _ neededUntil: Int64,
        _ progress: DownloadProgress
    ) async throws(OutboundFailure) -> FetchAnswer {
        let response = MediaResponse(
            url: url,
            isConditional: validators?.isEmpty == false,
            limits: limits,
            makeBody: { [store = keeper.store, limits] mimeType, freshness in
                // Who shares the download may have other type hints: each is compared with the facts at the end.
                let inspector = MediaInspector(MediaExpectation(typeHint: key.typeHint, mimeType: mimeType), limits)
                return MediaBody(
                    inspector,
                    freshness,
                    store: store,
                    for: MediaOwner(application: application),
                    neededUntil: neededUntil
                )
            }
        )
        let exchange = OutboundExchange(
            OutboundExchange.head(.GET, url, validators?.fields ?? []),
            to: url,
            at: addresses,
            for: application,
            observer: progress,
            judge: { response.judge($0) }
        )
        return try await exchange.answer(FetchAnswer.self, by: connections)
    }

    private func redirect(
        _ location: String,
        from url: EgressURL,
        _ first: EgressURL,
        _ visited: inout Set<String>
    ) throws(OutboundFailure) -> EgressURL {
        let next: EgressURL
        do {
            next = try hosts.policy.check(location: location, from: url)
        } catch {
            throw OutboundFailure(error)
        }
        guard visited.insert(next.text).inserted else {
            throw OutboundFailure(.redirectRefused, "\(first.origin) redirects in a loop")
        }
        guard visited.count <= mostRedirects + 1 else {
            throw OutboundFailure(.redirectRefused, "\(first.origin) redirects more than \(mostRedirects) times")
        }
        return next
    }
}
