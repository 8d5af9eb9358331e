import NIOCore
import Synchronization

/// Which media the fetcher knows for which URLs: what is not used for longest goes first.
final class KnownMedia: Sendable {
    struct Entry: Hashable, Sendable {
        var stored: MediaBody.Stored
        var validators: HTTPFreshness.Validators
        /// Until then no server has to be asked.
        var freshUntil: NIODeadline
    }

    private struct Contents {
        var entries: [MediaKey: (entry: Entry, use: UInt64)] = [:]
        var uses: UInt64 = 0
    }

    private let bound: Int
    private let now: @Sendable () -> NIODeadline
    private let contents = Mutex(Contents())

    /// - Parameter bound: the most URLs; 0 or less: none.
    init(bound: Int, now: @escaping @Sendable () -> NIODeadline) {
        (self.bound, self.now) = (bound, now)
    }

    var count: Int { contents.withLock { $0.entries.count } }

    func entry(_ key: MediaKey) -> Entry? {
        contents.withLock { contents in
            contents.uses &+= 1
            contents.entries[key]?.use = contents.uses
            return contents.entries[key]?.entry
        }
    }

    func fresh(_ key: MediaKey) -> Entry? { entry(key).flatMap { $0.freshUntil > now() ? $0 : nil } }

    /// Takes what an answer says about a medium; forgets the URL if the answer may not be reused.
    ///
    /// - Parameter known: whose validators still hold if the answer, a 304, has none.
    func store(_ stored: MediaBody.Stored, _ freshness: HTTPFreshness, for key: MediaKey, after known: Entry? = nil) {
        var validators = freshness.validators
        if validators.isEmpty, let known { validators = known.validators }
        guard bound > 0, freshness.isStorable, freshness.lifetime > 0 || !validators.isEmpty else {
            return remove(key)
        }
        let entry = Entry(
            stored: stored,
            validators: validators,
            freshUntil: now() + .seconds(freshness.lifetime)
        )
        contents.withLock { contents in
            contents.uses &+= 1
            contents.entries[key] = (entry, contents.uses)
            if contents.entries.count > bound { Self.evict(&contents.entries, to: bound - bound / 8) }
        }
    }

    func remove(_ key: MediaKey) { contents.withLock { $0.entries[key] = nil } }

    /// Many at once, so that the cost for each is small.
    private static func evict(_ entries: inout [MediaKey: (entry: Entry, use: UInt64)], to count: Int) {
        let oldest = entries.map { (use: $0.value.use, key: $0.key) }.sorted { $0.use < $1.use }
        for entry in oldest.prefix(entries.count - count) { entries[entry.key] = nil }
    }
}
