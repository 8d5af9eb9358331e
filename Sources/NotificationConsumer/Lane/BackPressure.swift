import ServiceSupport

/// Decides when a lane stops work: at a limit it reads nothing more, so nothing is buffered beyond it; at half of the
/// limit reading resumes. A value: the lane measures its load and performs the action.
struct BackPressure {
    typealias Instant = ContinuousClock.Instant

    /// How long a limit may be reached before reading is paused: a pause makes librdkafka discard its prefetched
    /// records and fetch them again later, while not polling costs nothing.
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
        /// The maximum time without a commit.
        var sessionTimeout: Duration
        var transactionTimeout: Duration
    }

    /// The load of a lane.
    struct Load {
        var outstanding = 0
        var dirty = 0
        var unwritten = 0
        /// Why a store cannot write.
        var storeTrouble: String?
        var sends = 0
        /// Whether more was written since the cut of the checkpoint in progress than one checkpoint, or two, may write.
        var isNextCheckpointFull = false
        var isNextCheckpointOverfull = false
        /// When the oldest uncommitted work was done.
        var uncommittedSince: Instant?
        /// When the open transaction began.
        var transactionBegan: Instant?
    }

    /// The work that must wait.
    enum Hold {
        case nothing
        /// New inputs need room; timers only change or end existing entries.
        case reading
        case everything
    }

    enum Action: Equatable {
        case none
        /// Pause reading.
        case pause(because: String)
        /// Reading stays paused.
        case stayPaused(because: String)
        case resume
    }

    private var heldSince: Instant?
    private(set) var isPaused = false

    /// - Throws: `LaneEnd.checkpointStalled` when continuing could repeat work.
    mutating func regulate(
        _ load: Load,
        within bounds: Bounds,
        at now: Instant
    ) throws(LaneEnd) -> (hold: Hold, action: Action) {
        if let since = load.uncommittedSince, now - since > bounds.sessionTimeout {
            // Another owner may be active by now: anything sent from here on would be sent twice.
            guard bounds.guarantee == .atLeastOnce else { throw .checkpointStalled }
            return hold(.everything, "no commit succeeded for longer than the session timeout", at: now)
        }
        if let began = load.transactionBegan, now - began > bounds.transactionTimeout { throw .checkpointStalled }
        guard let (what, reason) = reached(by: load, within: bounds) else {
            heldSince = nil
            defer { isPaused = false }
            return (.nothing, isPaused ? .resume : .none)
        }
        return hold(what, reason, at: now)
    }

    /// The limit that is reached, if any; once work is held, half of a limit keeps it held.
    private func reached(by load: Load, within bounds: Bounds) -> (Hold, reason: String)? {
        let isHeld = heldSince != nil
        let share = isHeld ? 2 : 1
        if load.outstanding >= bounds.outstandingRecords / share {
            return (.everything, "the broker does not acknowledge: \(load.outstanding) records outstanding")
        }
        if isHeld ? load.isNextCheckpointFull : load.isNextCheckpointOverfull {
            return (.everything, "a checkpoint is in progress, and the next one is full")
        }
        // A cut takes all changed entries, so they grow only while a cut waits for the checkpoint in progress.
        if load.dirty >= bounds.checkpointEntries * 2 / share {
            return (.everything, "a checkpoint is in progress and \(load.dirty) entries have changed since")
        }
        if load.unwritten >= bounds.unwrittenChanges / share {
            return (.reading, load.storeTrouble ?? "the disk store is behind: \(load.unwritten) unwritten changes")
        }
        // Firing timers also sends, and a retry is due like a timer: hold both.
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
