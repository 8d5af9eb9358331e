package import NIOCore

/// A medium to fetch.
package struct MediaRequest: Sendable {
    /// As written in the notification; nothing about it has been checked.
    package var url: String
    /// On whose behalf: applications share connections, look-ups and the store.
    package var application: String
    /// The uniform type identifier that the sender gave, such as `public.jpeg`; nil: any supported type.
    package var typeHint: String?
    /// Until then the store keeps the medium, in milliseconds since 1970.
    package var neededUntil: Int64
    /// When the fetch must have ended; the fetcher's own time limits end it sooner.
    package var deadline: NIODeadline

    /// - Parameters:
    ///   - url: As written in the notification.
    ///   - application: On whose behalf.
    ///   - typeHint: The sender's uniform type identifier.
    ///   - neededUntil: Until when the store keeps the medium, in milliseconds since 1970.
    ///   - deadline: When the fetch must have ended.
    package init(
        url: String,
        for application: String = "",
        typeHint: String? = nil,
        neededUntil: Int64,
        deadline: NIODeadline
    ) {
        (self.url, self.application, self.typeHint) = (url, application, typeHint)
        (self.neededUntil, self.deadline) = (neededUntil, deadline)
    }

    /// The same with a time from now instead of the deadline.
    ///
    /// - Parameters:
    ///   - url: As written in the notification.
    ///   - application: On whose behalf.
    ///   - typeHint: The sender's uniform type identifier.
    ///   - neededUntil: Until when the store keeps the medium, in milliseconds since 1970.
    ///   - time: How long the fetch may take.
    package init(
        url: String,
        for application: String = "",
        typeHint: String? = nil,
        neededUntil: Int64,
        within time: Duration
    ) {
        self.init(
            url: url,
            for: application,
            typeHint: typeHint,
            neededUntil: neededUntil,
            deadline: .now() + TimeAmount(time)
        )
    }
}

/// A medium that was fetched, checked and stored.
package struct FetchedMedia: Hashable, Sendable {
    /// How the fetcher came to it.
    package enum Origin: String, CaseIterable, Sendable {
        /// This fetch downloaded it.
        case downloaded
        /// It was stored, and its server said that it has not changed.
        case revalidated
        /// It was stored, and fresh: no server was asked.
        case cached
        /// Another fetch of the same URL downloaded it at the same time.
        case shared
    }

    package var stored: StoredMedia
    package var facts: MediaFacts
    package var origin: Origin

    package init(stored: StoredMedia, facts: MediaFacts, origin: Origin) {
        (self.stored, self.facts, self.origin) = (stored, facts, origin)
    }
}
