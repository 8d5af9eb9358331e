import NotificationModel

/// How far an input of a partition was read.
struct InputProgress: Sendable {
    /// The next record to read.
    var position: Int64
    /// Which life of the topic the position is of.
    let life: Int64
}

/// A partition that a lane owns: its centre, how far it was read, and how far its timers may fire.
///
/// ## Fired through
/// 1. A timer fires only when it is due at or before `fireLimit`, and a channel gets nothing after it. The limit is committed in
///    the marker: after a crash nothing beyond the marker's `firedThrough` was sent.
/// 2. A cut announces the next limit, a second ahead of the clock; it holds once the cut is committed.
/// 3. When the clock was set back, the limit in force is lowered at once, and the marker tells the higher of the two once more:
///    timers up to it may have fired since the cut before.
struct OwnedPartition {
    /// How far ahead of the clock a marker lets timers fire, in milliseconds.
    static let aheadOfClock: Int64 = 1000
    /// How long before a timer is due its limit is asked for, in milliseconds.
    static let leadTime: Int64 = 500

    var center: PartitionCenter
    /// How far each input was read.
    var inputs: PerInput<InputProgress>
    /// Names the changelog.
    let lineage: String
    /// Where the next record of the changelog is; nil where a fence keeps others from writing to it.
    private var stateEnd: Int64?
    /// A crash before the first checkpoint must find where this owner began.
    private(set) var awaitsFirstMarker: Bool
    /// No timer beyond it may fire.
    private(set) var fireLimit: Timestamp {
        didSet { center.sendLimit = fireLimit }
    }
    /// The backlog that is read before timers fire; nil when it is.
    private var catchUp: CatchUp?
    /// Something was read since the last cut.
    var isTouched = false
    private var cut: Cut?

    /// What was taken for the checkpoint that is under way.
    private struct Cut {
        var marker: StateMarker
        var changes: [StoreChange]
    }

    init(
        center: PartitionCenter,
        inputs: PerInput<InputProgress>,
        lineage: String,
        stateEnd: Int64? = nil,
        firedThrough: Timestamp?,
        hasMarker: Bool,
        catchUp: CatchUp? = nil
    ) {
        self.center = center
        self.inputs = inputs
        self.lineage = lineage
        self.stateEnd = stateEnd
        self.catchUp = catchUp
        self.center.holdsTimers = catchUp != nil
        fireLimit = firedThrough ?? Timestamp.earliest
        self.center.sendLimit = fireLimit
        awaitsFirstMarker = !hasMarker
    }

    /// Whether the next checkpoint must have this partition: it was read, it changed, or a timer needs a later limit.
    mutating func wantsCut(at now: Timestamp) -> Bool {
        isTouched || awaitsFirstMarker || center.dirtyCount > 0 || wantsLimit(at: now) || center.isImpatient(at: now)
    }

    /// Whether the changelog knows everything.
    var isWhole: Bool { center.isWhole }

    var isCatchingUp: Bool { catchUp != nil }

    /// Lets timers fire once the backlog is read, or reading has stopped.
    ///
    /// - Parameter lag: Records of an input that are still to be read after a position, nil when unknown.
    mutating func endCatchUp(
        isReadingHeld: Bool,
        at now: ContinuousClock.Instant,
        lag: (InputTopic, _ position: Int64) -> Int64?
    ) {
        guard let catchUp, isReadingHeld || catchUp.isOver(inputs, at: now, lag: lag) else { return }
        self.catchUp = nil
        center.holdsTimers = false
    }

    /// Whether a timer comes near that may not fire yet.
    mutating func wantsLimit(at now: Timestamp) -> Bool {
        guard let due = center.nextDue(), due > fireLimit else { return false }
        return due <= now.adding(milliseconds: Self.leadTime)
    }

    /// When something is to be done without any input; nil when nothing is.
    mutating func nextWork() -> Timestamp? {
        let next = isCatchingUp ? nil : center.nextDue()
        let due = next.map { $0 <= fireLimit ? $0 : $0.adding(milliseconds: -Self.leadTime) }
        guard let refill = center.nextRefill else { return due }
        return min(due ?? refill, refill)
    }

    /// Applies an input, in the order of the log.
    ///
    /// - Returns: its outcome, and whether the next cut has an entry of it; what was finished at once follows later, and is small.
    mutating func apply(
        _ input: CenterInput,
        at now: Timestamp
    ) throws -> (outcome: CenterInput.Outcome, isInNextCut: Bool) {
        let dirty = center.dirtyCount
        let outcome = try center.apply(input, at: now)
        return (outcome, !input.isTimeless || center.dirtyCount > dirty)
    }

    /// Fires what is due and may fire.
    mutating func fireDue(
        at now: Timestamp,
        limit: Int,
        lateness: (Int64) -> Void
    ) -> Int {
        // No occurrence beyond the limit is sent; how late one is, and what expired, is for the clock to say.
        center.fireDue(at: now, through: fireLimit, limit: limit, lateness: lateness)
    }

    // MARK: - Checkpoint

    /// Takes what changed; the positions go to the group.
    ///
    /// - Parameters:
    ///   - all: with what could wait: this owner's work ends.
    ///   - room: bytes that what could wait may fill; what of it was taken is taken off.
    mutating func takeCut(
        topics: TopicNames,
        partitions: Int32,
        timeZoneDataVersion: String,
        at now: Timestamp,
        all: Bool,
        room: inout Int
    ) -> PerInput<InputProgress> {
        let next = now.adding(milliseconds: Self.aheadOfClock)
        let told = max(next, fireLimit)
        fireLimit = min(fireLimit, next)
        let changes = center.cut(at: now, all: all, room: &room)
        let marker = StateMarker(
            offsets: inputs.named(topics) { $0.position },
            wallTime: now,
            partitions: partitions,
            timeZoneDataVersion: timeZoneDataVersion,
            firedThrough: told,
            lineage: lineage,
            replay: PerInput(center.replayOffset).named(topics) { $0 },
            replayEnd: PerInput(center.replayEnd).named(topics) { $0 },
            lives: inputs.named(topics) { $0.life > 0 ? $0.life : nil }
        )
        cut = Cut(marker: marker, changes: changes)
        isTouched = false
        return inputs
    }

    /// What goes to the changelog before the marker.
    var changes: [StoreChange] { cut?.changes ?? [] }
    var marker: StateMarker? { cut?.marker }

    /// The cut is committed: the store may have it, and timers may fire as far as the marker says.
    ///
    /// - Parameter offset: of the marker in `state`.
    /// - Throws: `LaneEnd.changelogInterleaved` when records of another owner are between those of the cut. The store then
    ///   stays what it was before: with the cut it would stand for an offset behind records that it does not contain.
    mutating func commit(markerAt offset: Int64) throws {
        guard let cut else { return }
        self.cut = nil
        if let stateEnd {
            guard offset == stateEnd + Int64(cut.changes.count) else { throw LaneEnd.changelogInterleaved }
            self.stateEnd = offset + 1
        }
        awaitsFirstMarker = false
        // The cut told the limit that was in force, too: what was set back since stays back.
        fireLimit = cut.marker.wallTime.adding(milliseconds: Self.aheadOfClock)
        try center.settle(
            cut.changes,
            position: StorePosition(lineage: lineage, offset: offset + 1, writtenAt: cut.marker.wallTime)
        )
    }
}
