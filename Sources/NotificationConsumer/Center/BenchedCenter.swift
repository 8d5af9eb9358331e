package import NotificationModel
import NotificationState

/// A partition's center over a store, without a lane: for the benchmark of locations.
package struct BenchedCenter {
    private var center: PartitionCenter
    private var offsets = PerInput { _ in Int64(0) }
    private var effects: [Effect] = []
    private var commits: Int64 = 0

    package init(store: any EntryStore, maximumEntries: Int, at now: Timestamp) throws {
        center = try PartitionCenter(
            rules: LifecycleRules(retention: 86_400_000),
            limits: .init(maximumEntries: maximumEntries, retention: 86_400_000),
            store: store,
            zones: nil,
            at: now
        )
    }

    /// Notifications that wait, or are to be sent.
    package var pending: Int { center.pendingCount }

    /// Applies a request with a location trigger.
    package mutating func request(
        _ trigger: LocationTrigger,
        _ key: NotificationKey,
        content: [UInt8],
        at now: Timestamp
    ) throws {
        let request = CenterInput.Request(
            id: .derive(topic: "requests", partition: 0, offset: offsets[.requests]),
            key: key,
            position: .init(.requests, offset: offsets[.requests]),
            version: nil,
            content: content[...],
            plan: .region(trigger),
            expiration: nil,
            trace: .none,
            timestamp: now
        )
        offsets[.requests] += 1
        _ = try center.apply(.request(request), at: now)
        discardEffects()
    }

    /// Applies a fix.
    ///
    /// - Returns: how many notifications it sent.
    package mutating func locate(_ fix: LocationFix, of recipient: String, at now: Timestamp) throws -> Int {
        let input = CenterInput.Fix(
            recipient: recipient,
            fix: fix,
            position: .init(.signals, offset: offsets[.signals]),
            trace: .none,
            timestamp: now
        )
        offsets[.signals] += 1
        _ = try center.apply(.fix(input), at: now)
        return discardEffects()
    }

    /// Commits all changes to the store, and evicts what is not needed in memory.
    ///
    /// - Returns: the bytes of the changes, as in the changelog.
    @discardableResult
    package mutating func commit(at now: Timestamp) throws -> Int {
        var room = Int.max
        let changes = center.cut(at: now, all: true, room: &room)
        commits += 1
        let position = StorePosition(lineage: "bench", offset: commits, writtenAt: now)
        try center.noteCommitted(changes, position: position)
        _ = try center.forget(at: now)
        return changes.reduce(0) { $0 + $1.key.count + ($1.value?.count ?? 0) }
    }

    @discardableResult
    private mutating func discardEffects() -> Int {
        effects.removeAll(keepingCapacity: true)
        center.exchangeEffects(with: &effects)
        return effects.count
    }
}
