import NotificationModel

/// The notification centres of one partition: the rules of `NotificationCenter` over the entries of a `CenterStore`.
struct PartitionCenter {
    /// Bounds on what one partition keeps in memory.
    struct Limits: Sendable {
        /// Entries, pending and remembered. Beyond it the longest unused are forgotten; when all are pending a new
        /// request is answered `suppressed` with reason `capped`.
        var maximumEntries = 1_000_000
        /// Milliseconds for which closed and delivered ones are remembered.
        var retention: Int64 = 7 * 24 * 3600 * 1000
    }

    /// What a record asks for.
    enum Input: Sendable {
        case request(NotificationCenter.Request)
        case removal(NotificationCenter.Removal)
    }

    let limits: Limits
    private let rules: NotificationCenter
    private var store = CenterStore()

    init(limits: Limits) {
        self.limits = limits
        rules = NotificationCenter(retention: limits.retention)
    }

    var pendingCount: Int { store.pendingCount }
    var entryCount: Int { store.count }

    /// What is kept of a key; for tests and queries.
    func entry(of key: NotificationKey) -> CenterEntry? { store.slot(of: key).map(store.entry(of:)) }

    /// Applies one input, in the order of the log.
    mutating func apply(
        _ input: Input,
        at now: Timestamp,
        effects: inout [NotificationCenter.Effect]
    ) -> NotificationCenter.Outcome {
        switch input {
        case .request(let request): apply(request, at: now, effects: &effects)
        case .removal(let removal) where removal.key.isWholeRecipient: applyToAll(removal, at: now, effects: &effects)
        case .removal(let removal):
            store.update(removal.key, at: now) { [rules] entry in
                rules.apply(removal, key: removal.key, to: &entry, at: now, effects: &effects).outcome
            }
        }
    }

    private mutating func apply(
        _ request: NotificationCenter.Request,
        at now: Timestamp,
        effects: inout [NotificationCenter.Effect]
    ) -> NotificationCenter.Outcome {
        if store.count >= limits.maximumEntries, store.slot(of: request.key) == nil {
            _ = forget(at: now)
            if store.count >= limits.maximumEntries, store.pendingCount >= limits.maximumEntries {
                var event = DeliveryEvent(name: .suppressed, requestID: request.id, key: request.key, closes: true)
                event.reason = .capped
                effects.append(.init(event: event, trace: request.trace))
                return .applied
            }
        }
        return store.update(request.key, at: now) { [rules] entry in
            rules.apply(request, to: &entry, at: now, effects: &effects)
        }
    }

    private mutating func applyToAll(
        _ removal: NotificationCenter.Removal,
        at now: Timestamp,
        effects: inout [NotificationCenter.Effect]
    ) -> NotificationCenter.Outcome {
        var found = false
        // By key, so that the order of events is the same however the entries came to be.
        let slots = store.slots(ofRecipientOf: removal.key).map { (key: store.key(of: $0), slot: $0) }
            .sorted { $0.key.encoded.lexicographicallyPrecedes($1.key.encoded) }
        for (key, slot) in slots {
            let one = store.update(slot, at: now) { [rules] entry in
                rules.apply(removal, key: key, answersMiss: false, to: &entry, at: now, effects: &effects)
            }
            found = found || one.found
        }
        if !found { effects.append(rules.miss(removal, known: .unknown)) }
        return .applied
    }

    /// When the next timer is due.
    mutating func nextDue() -> Timestamp? { store.nextDue() }

    /// Fires at most `limit` of what is due, the earliest first.
    ///
    /// - Returns: how many fired; `lateness` is called with how late each was, in milliseconds.
    mutating func fireDue(
        at now: Timestamp,
        limit: Int,
        effects: inout [NotificationCenter.Effect],
        lateness: (Int64) -> Void = { _ in }
    ) -> Int {
        var fired = 0
        while fired < limit, let due = store.nextDue(), due <= now, let slot = store.popDue(at: now) {
            let key = store.key(of: slot)
            store.update(slot, at: now) { [rules] entry in
                rules.fire(key: key, in: &entry, at: now, effects: &effects)
            }
            lateness(now.rawValue - due.rawValue)
            fired += 1
        }
        return fired
    }

    /// Forgets what is old, and what is more than the bound; called often, does little at a time.
    ///
    /// - Returns: how many were forgotten before their time.
    mutating func forget(at now: Timestamp) -> Int {
        store.forget(since: Timestamp(rawValue: now.rawValue - limits.retention), beyond: limits.maximumEntries - 1)
    }
}
