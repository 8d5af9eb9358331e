import ServiceSupport

/// Decides when a lane does no more: at a bound nothing more is read, so nothing is buffered beyond it; at half of the bound reading
/// goes on. A value: the lane measures its load, and performs the action.
struct BackPressure {
    typealias Instant = ContinuousClock.Instant

    /// How long a bound may be reached before reading is paused: librdkafka then drops what it has read ahead, and fetches it
    /// again later, while not to ask for it costs nothing.
    static let holdBeforePause = Duration.seconds(2)

    struct Bounds {
        var guarantee: DeliveryGuarantee
        /// Records that the broker has not acknowledged.
        var outstandingRecords: Int
        /// Entries that changed since the last cut.
        var checkpointEntries: Int
        /// Changes that the stores have not written.
        var unwrittenChanges: Int
        /// Sends without an outcome.
        var sends: Int
        /// How long may pass without a commit.
        var sessionTimeout: Duration
        var transactionTimeout: Duration
    }

    /// What a lane has taken on.
    struct Load {
        var outstanding = 0
        var dirty = 0
        var unwritten = 0
        /// Why a store does not write.
        var storeTrouble: String?
        var sends = 0
        /// Whether more was written since the cut of the checkpoint under way than one, or two, may write.
        var isNextCheckpointFull = false
        var isNextCheckpointOverfull = false
        /// When the oldest work was done that is not committed.
        var uncommittedSince: Instant?
        /// Of the transaction that is open.
        var transactionBegan: Instant?
    }

    /// What may not be done now.
    enum Hold {
        case nothing
        /// A new input needs room; what fires changes or ends what is there.
        case reading
        case everything
    }

    enum Action: Equatable {
        case none
        /// Reading is to be paused.
        case pause(because: String)
        /// It is paused still.
        case stayPaused(because: String)
        case resume
    }

    private var heldSince: Instant?
    private(set) var isPaused = false

    /// - Throws: `LaneEnd.checkpointStalled` when going on could do again what is done.
    mutating func regulate(
        _ load: Load,
        within bounds: Bounds,
        at now: Instant
    ) throws(LaneEnd) -> (hold: Hold, action: Action) {
        if let since = load.uncommittedSince, now - since > bounds.sessionTimeout {
            // Another owner may be at work by now: what is sent from here on would be sent twice.
            guard bounds.guarantee == .atLeastOnce else { throw .checkpointStalled }
            return hold(.everything, "nothing could be committed for longer than the session timeout", at: now)
        }
        if let began = load.transactionBegan, now - began > bounds.transactionTimeout { throw .checkpointStalled }
        guard let (what, reason) = reached(by: load, within: bounds) else {
            heldSince = nil
            defer { isPaused = false }
            return (.nothing, isPaused ? .resume : .none)
        }
        return hold(what, reason, at: now)
    }

    /// The bound that is reached, if one is; once held, half of a bound holds on.
    private func reached(by load: Load, within bounds: Bounds) -> (Hold, reason: String)? {
        let isHeld = heldSince != nil
        let share = isHeld ? 2 : 1
        if load.outstanding >= bounds.outstandingRecords / share {
            return (.everything, "the broker does not acknowledge: \(load.outstanding) records outstanding")
        }
        if isHeld ? load.isNextCheckpointFull : load.isNextCheckpointOverfull {
            return (.everything, "a checkpoint is under way, and the broker is not done with what was written since")
        }
        // A cut takes them all, so only one that waits for the checkpoint under way lets them grow.
        if load.dirty >= bounds.checkpointEntries * 2 / share {
            return (.everything, "a checkpoint is under way and \(load.dirty) entries have changed since")
        }
        if load.unwritten >= bounds.unwrittenChanges / share {
            return (
                .reading, load.storeTrouble ?? "the disk store is behind: \(load.unwritten) changes are not written"
            )
        }
        // What fires, too, is sent; what waits for an attempt is due like a timer.
        if load.sends >= max(1, bounds.sends / share) {
            return (.everything, "the channel does not answer: \(load.sends) sends have no outcome")
        }
        return nil
    }

    private mutating func hold(_ hold: Hold, _ reason: String, at now: Instant) -> (hold: Hold, action: Action) {
        let since = heldSince ?? now
        heldSince = since
        if isPaused { return (hold, .stayPaused(because: reason)) }
        guard now - since >= Self.holdBeforePause else { return (hold, .none) }
        isPaused = true
        return (hold, .pause(because: reason))
    }
}
