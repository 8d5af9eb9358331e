import NotificationModel

/// The lifecycle of a notification: applies one input, timer or channel answer to the entry of one key. The operations
/// are the mutating methods of the extensions (`Turn+Requests`, `Turn+Signals`, …); each changes the entry and adds
/// effects. A turn does no I/O and reads no clock. Turns of a key follow the log, and the batching of inputs never changes
/// an outcome.
///
/// Every request ends in exactly one event with `closes: true`, except a duplicate, which is only counted.
struct Turn {
    /// A notification that devices may show, sent through this channel.
    struct Doubt {
        let channel: ChannelName?
        /// The names of the devices; empty when they are not known.
        var devices: [String] = []
    }

    /// What the key shows since the turn, if that has changed.
    struct Shown {
        /// Its thread; nil without one, and when nothing is shown.
        let thread: ArraySlice<UInt8>?
        /// Whether something else was shown under the key before.
        var isUpdate = false
        /// The place of the `delivered` event among the effects.
        let event: Int?
    }

    let rules: LifecycleRules
    let key: NotificationKey
    let now: Timestamp
    var entry = StateEntry()
    /// The record of the recipient; empty where the partition keeps none that a notification needs.
    var recipient = RecipientRecord()
    /// The categories of the applications.
    var categories = CategoryBook.empty
    /// Nil when what is shown has not changed.
    var shown: Shown?
    /// Notifications of the turn whose category is not known.
    var unknownCategories = 0
    /// The effects of the turn, in order.
    var effects: [Effect] = []
    /// The number of sends among the effects.
    private(set) var sends = 0
    /// Whether the entry changed and must be written to the changelog.
    var isChanged = false
    /// Whether the recipient's record changed.
    var isRecipientChanged = false
    /// Whether a replay of the log makes the same change of the entry, if its input is timeless.
    var isReplayable = true
    /// The previous owner may have sent this input's notification: send it again instead of expiring it.
    var mayHaveBeenSent = false
    /// Timers wait until the backlog is read (`CatchUp`): due requests are armed, and fire afterwards.
    var holdsTimers = false
    /// Sends wait too: for the backlog, or for a marker that records that they may have begun.
    var holdsSends = false
    /// The backlog is being read: what still waits for a region may have been sent for a fix in it.
    var regionsMayHaveFired = false
    /// Whether the recipient may have another notification that waits for a region.
    var hasRoomForRegion = true

    init(rules: LifecycleRules, key: NotificationKey, at now: Timestamp) {
        (self.rules, self.key, self.now) = (rules, key, now)
    }

    /// Whether a send by this channel must wait.
    func holdSend(by channel: ChannelName?) -> Bool { holdsSends && rules.channels.isSent(channel) }

    /// The change of the entry; nil when there is none.
    func change(from cause: WorkingSet.Cause) -> WorkingSet.Change? {
        guard isChanged else { return nil }
        return .init(cause: isReplayable ? cause : .clock, isOfRecipient: isRecipientChanged)
    }

    // MARK: - Steps that the operations share

    /// - Parameter trace: the trace of the cause of the event.
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
            channel: sending.channel ?? rules.channels.standard,
            id: SendID(requestID: sending.requestID, occurrence: sending.occurrence),
            key: key,
            kind: sending.content.map { .deliver(content: $0) } ?? .recall,
            number: sending.attempt,
            trace: sending.trace,
            closes: sending.closes,
            isInDoubt: sending.isInDoubt,
            // What a previous owner may have sent is sent again, so that its outcome becomes known.
            expiration: sending.isInDoubt && sending.attempt == 1 ? nil : sending.expiration,
            addressees: sending.addressees
        )
        effects.append(.send(attempt))
        sends += 1
    }

    /// Runs an operation, and begins what had to wait for the end of a send.
    mutating func run<Result>(_ body: (inout Turn) -> Result) -> Result {
        let result = body(&self)
        if !entry.recalls.isEmpty { beginRecall() }
        return result
    }

    /// Takes what is pending out of the entry.
    mutating func drop(_ pending: StateEntry.Pending) {
        stopEnrichment(of: pending)
        leaveDigest(pending)
        entry.pending = nil
    }

    /// Cancels a send that the channel has not received yet; it is answered as a failed send.
    mutating func withdraw(_ sending: StateEntry.Sending) {
        let id = SendID(requestID: sending.requestID, occurrence: sending.occurrence)
        effects.append(.withdraw(id, key))
    }

    /// Records that a request or a removal ended.
    mutating func close(_ id: RequestID) {
        entry.remember(id, at: now, since: rules.rememberedSince(now))
    }

    mutating func expire(_ id: RequestID, _ trace: CarriedTrace) {
        publish(.expired, of: id, closes: true, trace)
        close(id)
    }

    /// Drops a record whose id is known. The entry keeps a trace of it when only the log contains the repeat.
    mutating func drop(repeatAt position: CenterInput.Position, isTimeless: Bool) -> CenterInput.Outcome {
        isChanged = isTimeless && entry.noteRepeat(position)
        return .duplicate
    }

    /// Refuses a version older than the newest: publishes `superseded` and remembers the id.
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
