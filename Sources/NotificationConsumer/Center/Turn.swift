import NotificationModel

/// The lifecycle of a notification: one input, timer or channel answer, applied to the entry of one key. The operations are
/// the mutating methods of `Turn+Requests`, `Turn+Removals`, `Turn+Timers` and `Turn+Sends`; each changes the entry and adds
/// effects. A turn does no I/O and reads no clock; turns of a key follow the log, and how inputs are batched never changes an
/// outcome.
///
/// Every request ends in exactly one event with `closes: true`, unless it was a duplicate, which is only counted.
struct Turn {
    let rules: LifecycleRules
    let key: NotificationKey
    let now: Timestamp
    var entry = StateEntry()
    /// What is kept of the recipient; only where the turn was begun with it.
    var recipient = RecipientRecord()
    /// What is to be done, in order.
    var effects: [Effect] = []
    /// How many of the effects are sends.
    private(set) var sends = 0
    /// Whether the entry changed, so that the changelog must learn of it.
    var isChanged = false
    /// The same of the recipient's record.
    var isRecipientChanged = false
    /// The previous owner may have sent what this input asks for: it is sent again rather than called expired.
    var mayHaveBeenSent = false
    /// Timers wait until the backlog is read (`CatchUp`): what is due is armed, and fires afterwards.
    var holdsTimers = false
    /// Sends wait, too: for the backlog, or for a marker that says that they may have begun.
    var holdsSends = false

    init(rules: LifecycleRules, key: NotificationKey, at now: Timestamp) {
        (self.rules, self.key, self.now) = (rules, key, now)
    }

    // MARK: - Steps that the operations share

    /// - Parameter trace: of what caused the event.
    mutating func publish(
        _ name: DeliveryEventName,
        of id: RequestID,
        closes: Bool,
        inDoubt: Bool = false,
        _ trace: CarriedTrace,
        _ fill: (inout DeliveryEvent) -> Void = { _ in }
    ) {
        var event = DeliveryEvent(name: name, requestID: id, key: key, closes: closes, inDoubt: inDoubt)
        fill(&event)
        effects.append(.publish(event, trace))
    }

    mutating func begin(_ sending: StateEntry.Sending) {
        entry.sending = sending
        let attempt = SendAttempt(
            id: SendID(requestID: sending.requestID, occurrence: sending.occurrence),
            key: key,
            kind: sending.content.map { .deliver(content: $0) } ?? .recall,
            number: sending.attempt
        )
        effects.append(.send(attempt))
        sends += 1
    }

    /// Asks not to begin what the channel does not have yet; it is answered as a send that failed.
    mutating func withdraw(_ sending: StateEntry.Sending) {
        let id = SendID(requestID: sending.requestID, occurrence: sending.occurrence)
        effects.append(.withdraw(id, key))
    }

    /// Notes that a request, or a removal, has ended.
    mutating func close(_ id: RequestID) {
        entry.remember(id, at: now, since: rules.horizon(now))
    }

    mutating func expire(_ id: RequestID, _ trace: CarriedTrace) {
        publish(.expired, of: id, closes: true, trace)
        close(id)
    }

    /// A record whose id is known is dropped; the entry keeps a trace of it when only the log tells of the repeat.
    mutating func drop(repeatAt position: CenterInput.Position, isTimeless: Bool) -> CenterInput.Outcome {
        isChanged = isTimeless && entry.noteRepeat(position)
        return .duplicate
    }

    /// Refuses a version that is older than the newest: `superseded`, and the id is remembered.
    mutating func isCurrent(_ version: Int64?, of id: RequestID, _ trace: CarriedTrace) -> Bool {
        guard let version else { return true }
        if let newest = entry.version, version < newest.number {
            publish(.superseded, of: id, closes: true, trace) { $0.by = newest.by }
            close(id)
            return false
        }
        entry.version = .init(number: version, by: id)
        return true
    }
}
