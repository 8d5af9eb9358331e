package import NotificationModel
import NotificationState

/// The center of a partition with one recipient, over a store and without a lane: for the benchmark of what an operation costs
/// where a recipient has many entries.
package struct BenchedRecipient {
    private static let application = "shop"

    private let home: NotificationKey
    private let store: any EntryStore
    private var center: PartitionCenter
    private var offsets = PerInput { _ in Int64(0) }
    private var effects: [Effect] = []
    private var commits: Int64 = 0

    /// - Parameter maximumEntries: of the partition.
    package init(_ recipient: String, store: any EntryStore, maximumEntries: Int, at now: Timestamp) throws {
        home = try NotificationKey(application: Self.application, recipient: recipient, identifier: "i").ofRecipient
        self.store = store
        center = try PartitionCenter(
            rules: LifecycleRules(retention: 7 * 86_400_000),
            limits: .init(maximumEntries: maximumEntries),
            store: store,
            zones: nil,
            at: now
        )
    }

    // MARK: - Operations

    /// Applies a request, which is delivered at once, or after a time.
    ///
    /// - Returns: how many notifications are in the thread of the one that was delivered.
    @discardableResult
    package mutating func request(
        _ identifier: String,
        content: [UInt8],
        after milliseconds: Int64?,
        at now: Timestamp
    ) throws -> Int {
        let position = next(.requests)
        var plan = CenterInput.Plan.immediate(collapseWindow: 0)
        if let milliseconds {
            plan = .scheduled(
                .interval(.init(interval: milliseconds, anchor: now, repeats: false, misfire: nil, jitter: 0))
            )
        }
        let request = CenterInput.Request(
            id: .derive(topic: "requests", partition: 0, offset: position.offset),
            key: try home.withIdentifier(identifier),
            position: position,
            version: nil,
            content: content[...],
            plan: plan,
            expiration: nil,
            trace: .none,
            timestamp: now
        )
        _ = try center.apply(.request(request), at: now)
        return try carryOut()
    }

    /// Registers a device, or ends its registration.
    package mutating func register(
        _ device: String,
        _ registration: DeviceRegistration?,
        at now: Timestamp
    ) throws {
        let input = CenterInput.Registration(
            key: try home.withIdentifier(device),
            registration: registration,
            position: next(.devices),
            trace: .none,
            timestamp: now
        )
        _ = try center.apply(.registration(input), at: now)
        _ = try carryOut()
    }

    /// Removes all of the recipient's notifications.
    ///
    /// - Parameter piece: called after each piece, which a lane commits by itself.
    package mutating func removeAll(at now: Timestamp, piece: (inout Self) throws -> Void) throws {
        let position = next(.requests)
        let removal = CenterInput.Removal(
            id: .derive(topic: "requests", partition: 0, offset: position.offset),
            key: home,
            position: position,
            scope: .all,
            version: nil,
            trace: .none,
            timestamp: now
        )
        var outcome = try center.apply(.removal(removal), at: now)
        while true {
            _ = try carryOut()
            try piece(&self)
            guard outcome == .unfinished else { return }
            outcome = try center.proceed(at: now)
        }
    }

    /// The first page of a query of all that the recipient has.
    ///
    /// - Returns: the notifications in it.
    package func firstPage() throws -> Int {
        try center.page(for: NotificationQuery(key: home)).notifications.count
    }

    /// The next delivery in a thread counts again what the recipient is shown.
    package mutating func forgetThreads() { center.threads.forget(ThreadIndex.hash(ofRecipientOf: home)) }

    // MARK: - As a lane

    /// Commits all changes to the store, and evicts what is not needed in memory.
    ///
    /// - Returns: the bytes of the changes, as in the changelog.
    @discardableResult
    package mutating func commit(at now: Timestamp) throws -> Int {
        var room = Int.max
        let changes = center.cut(at: now, all: true, room: &room)
        commits += 1
        try center.noteCommitted(changes, position: .init(lineage: "bench", offset: commits, writtenAt: now))
        _ = try center.forget(at: now)
        return changes.reduce(0) { $0 + $1.key.count + ($1.value?.count ?? 0) }
    }

    /// Changes that the store has not written yet.
    package var unwritten: Int { store.unwritten }

    private mutating func next(_ input: InputTopic) -> CenterInput.Position {
        defer { offsets[input] += 1 }
        return .init(input, offset: offsets[input])
    }

    /// Completes the events as a lane does before it publishes them.
    private mutating func carryOut() throws -> Int {
        center.exchangeEffects(with: &effects)
        var inThread = 0
        for effect in effects {
            guard case .publish(var event, _) = effect else { continue }
            try center.count(&event)
            inThread = event.thread?.count ?? inThread
        }
        effects.removeAll(keepingCapacity: true)
        return inThread
    }
}
