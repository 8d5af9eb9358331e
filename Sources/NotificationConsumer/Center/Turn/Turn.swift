import NotificationModel
import NotificationState

/// The lifecycle of a notification: applies one input, timer or answer of a channel to the entry of one key. The operations
/// are the mutating methods of the extensions (`Turn+Requests`, `Turn+Signals`, …); each changes the entry and adds
/// effects. A turn does no I/O and reads no clock. Turns of a key follow the log, and the batching of inputs never changes
/// an outcome.
///
/// Every request ends in exactly one event with `closes: true`, except a duplicate, which is only counted.
///
/// An operation changes what is wanted: what is pending, on its way, or delivered. What the devices show follows at the end of
/// each turn (`Turn+Screen`).
struct Turn {
    let rules: LifecycleRules
    var conditions = Conditions()
    var key: NotificationKey
    var now: Timestamp
    var entry = StateEntry()
    /// The record of the recipient; empty where the partition keeps none that a notification needs.
    var recipient = RecipientRecord()
    /// The effects of the turn, in order.
    var effects: [Effect] = []
    /// What caused the turn.
    var cause = Cause()
    /// Notifications of the turn whose category is not known.
    var unknownCategories = 0
    /// Attempts that began in the turn, less those that ended.
    var attempts = 0
    /// Whether the entry changed and must be written to the changelog.
    var isChanged = false
    /// Whether the recipient's record changed.
    var isRecipientChanged = false
    /// Whether a replay of the log makes the same change of the entry, if its input is timeless.
    var isReplayable = true
    /// The previous owner may have sent this input's notification.
    var mayHaveBeenSent = false
    /// Whether the recipient may have another notification that waits for a region.
    var hasRoomForRegion = true

    /// What surrounds all turns of a partition for some time.
    struct Conditions {
        /// The categories of the applications.
        var categories = CategoryBook.empty
        /// Timers wait until the backlog is read (`CatchUp`): due requests are armed, and fire afterwards.
        var holdsTimers = false
        /// Nothing is sent after this instant: first, a marker must record that it may have been sent.
        var sendLimit = Timestamp.latest
        /// The previous owner may have sent something up to this instant; nil when there is no doubt.
        var doubtThrough: Timestamp?
        /// When this owner began.
        var takenOverAt = Timestamp.earliest
        /// The log is read again and effects are discarded: what it does not decide begins afterwards.
        var isReplay = false
        /// The previous owner was of a version whose ids did not contain the key.
        var isDoubtFormer = false

        /// How far ahead of the owner's clock that of a producer may be, in milliseconds.
        static let clockDifference: Int64 = 1_000

        /// Whether the previous owner may have read a record, and sent something for it.
        ///
        /// - Parameter timestamp: of the record.
        func mayHaveBeenRead(_ timestamp: Timestamp) -> Bool {
            doubtThrough.map { timestamp <= $0.adding(milliseconds: Self.clockDifference) } ?? false
        }

        /// Whether the backlog is being read, by which the previous owner may have acted.
        var isBacklogInDoubt: Bool { holdsTimers && doubtThrough != nil }
    }

    /// What caused a turn: of what it publishes and sends.
    struct Cause {
        /// The removal, response or request.
        var id: RequestID?
        var trace = CarriedTrace.none
        /// Of its record, or when it was due.
        var time: Timestamp?
        /// The clock, an enrichment or the answer of a channel decides, and the next owner may decide otherwise: operations that correct
        /// what a device shows begin once the decision is committed.
        var isTentative = false

        /// What a notification waited for has come, or its time has passed.
        static func wait(of handover: StateEntry.Handover) -> Cause {
            Cause(id: handover.showing.requestID, trace: handover.trace, isTentative: true)
        }
    }

    init(rules: LifecycleRules, key: NotificationKey, at now: Timestamp) {
        (self.rules, self.key, self.now) = (rules, key, now)
    }

    /// Makes room for the next turn; the effects stay.
    mutating func begin(_ key: NotificationKey, at now: Timestamp) {
        (self.key, self.now) = (key, now)
        (isChanged, isRecipientChanged, isReplayable, mayHaveBeenSent, hasRoomForRegion) = (
            false, false, true, false, true
        )
        cause = Cause()
    }

    /// Whether a send by this channel must wait: for the backlog, or for a marker that records that it may have begun.
    func holdsSends(by channel: ChannelName?) -> Bool {
        rules.channels.hasSends && (conditions.holdsTimers || now > conditions.sendLimit)
            && rules.channels.isSent(channel)
    }

    /// Whether what the log alone does not decide must wait before it is handed over: for the backlog, or for a marker that records that
    /// it may have been. Read again later, it could end otherwise.
    func holdsHandovers(by channel: ChannelName?) -> Bool {
        conditions.holdsTimers || holdsSends(by: channel) || rules.repeatsEvents && now > conditions.sendLimit
    }

    /// The change of the entry; nil when there is none.
    func change(from cause: WorkingSet.Cause) -> WorkingSet.Change? {
        guard isChanged else { return nil }
        return .init(cause: isReplayable ? cause : .clock, isOfRecipient: isRecipientChanged)
    }

    /// Runs an operation, and then does what the targets need.
    mutating func run<Result>(_ body: (inout Turn) -> Result) -> Result {
        let result = body(&self)
        if entry.hasScreen || entry.hasHandover, !conditions.isReplay { reconcile() }
        return result
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
        tellRemoval()
        var event = DeliveryEvent(name: name, requestID: id, key: key, closes: closes, inDoubt: inDoubt)
        fill(&event)
        // Moved: a copy counts each of its references.
        effects.append(.publish(consume event, trace))
    }

    /// Takes what is pending out of the entry.
    mutating func drop(_ pending: StateEntry.Pending) {
        stopEnrichment(of: pending)
        leaveDigest(pending)
        // It was sent for a crossing, if at all: which one is not known, and what the targets show is removed.
        if mayHaveCrossed(pending) { doubt(Showing(pending.requestID, nil), of: pending.content, on: pending.channel) }
        entry.pending = nil
    }

    /// Records that a request or a removal ended.
    mutating func close(_ id: RequestID) {
        entry.remember(id, at: now, since: rules.rememberedSince(now))
    }

    mutating func expire(_ id: RequestID, inDoubt: Bool = false, _ trace: CarriedTrace) {
        publish(.expired, of: id, closes: true, inDoubt: inDoubt, trace)
        close(id)
    }

    /// Drops a record whose id is known. The entry keeps a trace of it when only the log contains the repeat.
    mutating func drop(repeatAt position: CenterInput.Position, isTimeless: Bool) -> CenterInput.Outcome {
        isChanged = isTimeless && entry.noteRepeat(position)
        return .duplicate
    }

    /// Refuses a version older than the newest: publishes `superseded` and remembers the id.
    ///
    /// - Parameter content: of the notification that it is for.
    mutating func isCurrent(
        _ version: Int64?,
        of id: RequestID,
        _ content: ArraySlice<UInt8>?,
        _ trace: CarriedTrace
    ) -> Bool {
        guard let version else { return true }
        if let newest = entry.version, version < newest.number {
            publish(.superseded, of: id, closes: true, trace) { $0.by = newest.by }
            close(id)
            return false
        }
        // A push of a Live Activity may have had it as its timestamp, and the next one has a later one.
        if entry.version?.number == version, let content, LiveActivityFacts.mayBe(in: content) { return true }
        entry.version = .init(number: version, by: id)
        return true
    }

    // MARK: - Doubt

    /// An earlier owner may have handed an occurrence over: the targets of its channel may show it. Those of a Live Activity follow
    /// from its content, and not from the devices that are known.
    mutating func doubt(_ showing: Showing, of content: ArraySlice<UInt8>, on channel: ChannelName?) {
        var showing = showing
        showing.isFormer = conditions.isDoubtFormer
        var devices: [String?] = [nil]
        if rules.channels.reachesDevices(channel), let activity = LiveActivityFacts(content) {
            devices = activityTargets(activity)
            // Tokens decide it, which the log of requests does not have.
            isReplayable = false
        }
        var screen = entry.screen ?? Screen()
        for device in devices {
            let known = shown(on: device, channel)
            let place = screen.list(device, on: rules.channels.route(of: channel), showing: known)
            screen.targets[place].doubt(showing)
        }
        entry.screen = screen
    }

    /// Whether targets may show what is pending.
    func isInDoubt(_ pending: StateEntry.Pending) -> Bool {
        entry.isInDoubt(pending.showing) || mayHaveCrossed(pending)
    }

    private func mayHaveCrossed(_ pending: StateEntry.Pending) -> Bool {
        guard case .region = pending.timer else { return false }
        return mayHaveCrossed(on: pending.channel)
    }

    /// Whether the backlog is being read, and what still waits for a region may have been sent for a fix in it.
    func mayHaveCrossed(on channel: ChannelName?) -> Bool {
        conditions.isBacklogInDoubt && rules.mayHaveBeenHandedOver(channel)
    }

    /// Whether an event that hands over what is pending may have been published: nothing can take it back, so it is published
    /// again, whatever holds or ends the notification now.
    func isOwed(_ pending: StateEntry.Pending) -> Bool {
        // Between two crossings, its occurrence is the one that was published.
        !pending.isBetweenCrossings && rules.channels.handover(of: pending.channel) == .inEvent
            && entry.isInDoubt(pending.showing)
    }
}
