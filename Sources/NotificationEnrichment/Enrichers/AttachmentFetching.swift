/// Gets a medium from the web into the media store.
package protocol AttachmentFetching: Sendable {
    /// Fetches and checks one medium. Ends soon after its task is cancelled.
    ///
    /// - Parameters:
    ///   - url: As the content declares it; not yet judged.
    ///   - application: The notification's.
    ///   - typeHint: Uniform type identifier of the attachment, if it has one.
    ///   - neededUntil: Until when the medium must be kept, in milliseconds since 1970.
    ///   - deadline: When the medium is needed.
    func fetch(
        url: String,
        for application: String,
        typeHint: String?,
        neededUntil: Int64,
        deadline: ContinuousClock.Instant
    ) async -> Result<FetchedAttachment, EnrichmentFailure>
}

/// A medium in the store.
package struct FetchedAttachment: Hashable, Sendable {
    package var facts: MediaFacts
    package var digest: MediaDigest
    /// Where devices and gateways get it from.
    package var url: String

    /// A medium.
    package init(facts: MediaFacts, digest: MediaDigest, url: String) {
        (self.facts, self.digest, self.url) = (facts, digest, url)
    }
}
