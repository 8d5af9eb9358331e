import NIOCore
import NotificationModel
import OutboundHTTP

/// Fetches attachments into the media store, and names where clients get them.
struct StoredAttachments: AttachmentFetching {
    let fetcher: MediaFetcher
    let links: MediaLinks
    /// How long a link is valid, in milliseconds.
    let linkLifetime: Int64
    /// Milliseconds since 1970.
    let now: @Sendable () -> Int64

    func fetch(
        url: String,
        for application: String,
        typeHint: String?,
        neededUntil: Int64,
        deadline: ContinuousClock.Instant
    ) async -> Result<FetchedAttachment, EnrichmentFailure> {
        let request = MediaRequest(
            url: url,
            for: application,
            typeHint: typeHint,
            neededUntil: neededUntil,
            deadline: .now() + .nanoseconds((deadline - .now).nanoseconds)
        )
        switch await fetcher.fetch(request, onStep: nil) {
        case .success(let media):
            let link = links.url(of: media.stored, until: now() + linkLifetime)
            return .success(FetchedAttachment(facts: media.facts, digest: media.stored.digest, url: link))
        case .failure(let failure):
            return .failure(EnrichmentFailure(code: failure.code, detail: failure.detail))
        }
    }
}
