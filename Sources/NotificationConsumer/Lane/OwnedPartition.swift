import NotificationModel
import NotificationState

/// How far an input of a partition was read.
struct InputProgress: Sendable {
    /// The next record to read.
    var position: Int64
    /// The life of the topic to which the position belongs.
    let life: Int64
}

/// A partition that a lane owns: its center, its read positions, and how far its timers may fire. A class, since its center is
/// changed in place for each record.
///
/// ## Fired through
/// 1. A timer fires only when it is due at or before `fireLimit`, and nothing is sent to a channel after it. The marker
///    commits the limit: after a crash, nothing due after the marker's `firedThrough` was sent.
/// 2. A cut proposes the next limit, a second ahead of the clock, or twice as long as the last checkpoint took: it takes effect
///    once the cut is committed, and must not have passed by then.
/// 3. When the clock was set back, the current limit is lowered at once, and the marker contains the higher of the two
///    once more: timers up to it may have fired since the previous cut.
final class OwnedPartition {
    /// How far ahead of the clock a marker allows timers to fire, in milliseconds, at least and at most.
    static let aheadOfClock: ClosedRange<Int64> = 1_000...30_000
    /// How long before a timer is due its limit is requested, in milliseconds.
    static let leadTime: Int64 = 500

    // Unchecked: what each record uses several times. Only its lane's thread uses it.
    @exclusivity(unchecked) var center: PartitionCenter
    /// How far each input was read.
    @exclusivity(unchecked) var inputs: PerInput<InputProgress>
    /// The id of the changelog.
    let lineage: String
    /// The offset of the next changelog record; nil when a fence prevents other writers.
    private var stateEnd: Int64?
    /// Whether the first marker is not written yet: after a crash before the first checkpoint, it shows where this
    /// owner began.
    private(set) var awaitsFirstMarker: Bool
    /// No timer due later may fire.
    private(set) var fireLimit: Timestamp {
        didSet { center.sendLimit = fireLimit }
    }
    /// The backlog to read before timers fire; nil when it is read.
    private var catchUp: CatchUp?
    /// The same while its registrations are read, before requests and signals.
    private var devicesFirst: CatchUp?
    /// Whether a record was read since the last cut.
    @exclusivity(unchecked) var isTouched = false
    private var cut: Cut?
    /// How far ahead of the clock the next marker is.
    private var ahead = OwnedPartition.aheadOfClock.lowerBound

    /// The changes taken for the checkpoint in progress.
    private struct Cut {
        var marker: StateMarker
        /// The limit that it proposes.
        var limit: Timestamp
        var changes: [StoreChange]
    }

    init(
        center: PartitionCenter,
        inputs: PerInput<InputProgress>,
        lineage: String,
        stateEnd: Int64? = nil,
        firedThrough: Timestamp?,
        hasMarker: Bool,
        replan: PartitionCenter.Replan? = nil,
        catchUp: CatchUp? = nil
    ) {
        self.center = center
        self.inputs = inputs
        self.lineage = lineage
        self.stateEnd = stateEnd
        self.catchUp = catchUp
        if let catchUp, inputs[.devices].position < catchUp.ends[.devices] { devicesFirst = catchUp }
        self.center.holdsTimers = catchUp != nil
        self.center.replan = replan
        fireLimit = firedThrough ?? Timestamp.earliest
        self.center.sendLimit = fireLimit
        awaitsFirstMarker = !hasMarker
    }

    /// Whether the next checkpoint must include this partition: records were read, entries changed, or a timer needs a
    /// later limit.
    func wantsCut(at now: Timestamp) -> Bool {
        isTouched || awaitsFirstMarker || center.dirtyCount > 0 || wantsLimit(at: now) || center.isImpatient(at: now)
    }

    /// Whether the changelog is complete.
    var isWhole: Bool { center.isWhole }
    // Read here: from outside of the class the whole center would be copied for each.
    /// Changes that the store has not written.
    var unwritten: Int { center.store.unwritten }
    /// Entries that changed since the last cut.
    var dirtyCount: Int { center.dirtyCount }
    /// Sends that the channel has not answered yet.
    var inFlight: Int { center.inFlight }
    /// Why the store cannot write; nil when it can.
    var storeTrouble: String? { center.store.trouble }
    /// Whether a calendar trigger waits for a zone that the database does not have.
    var lacksZones: Bool { !center.missingZones.isEmpty }

    var isCatchingUp: Bool { catchUp != nil }

    /// Whether calendar triggers are planned again.
    var isReplanning: Bool { center.replan != nil }

    /// Plans some of the calendar triggers again. After the last, the next marker has the current version.
    func replan(at now: Timestamp, limit: Int) throws {
        try center.replan(at: now, limit: limit)
        if !isReplanning { isTouched = true }
    }

    /// Allows timers to fire once the backlog is read, or has taken too long (`CatchUp`).
    ///
    /// - Parameter lag: The records of an input still to be read after a position; nil when unknown.
    func endCatchUp(
        isReadingHeld: Bool,
        at now: ContinuousClock.Instant,
        lag: (InputTopic, _ position: Int64) -> Int64?
    ) {
        guard let catchUp, catchUp.isOver(inputs, isReadingHeld: isReadingHeld, at: now, lag: lag) else { return }
        self.catchUp = nil
        center.holdsTimers = false
    }

    /// Whether only registrations and tokens are read.
    var readsDevicesFirst: Bool { devicesFirst != nil }

    /// Lets requests and signals be read once the registrations are.
    func endDevicesFirst(at now: ContinuousClock.Instant, lag: (InputTopic, _ position: Int64) -> Int64?) {
        if devicesFirst?.hasDevices(inputs, at: now, lag: lag) == true { devicesFirst = nil }
    }

    /// Whether a timer will soon be due and may not fire yet, or was due within the limit and what it sends may not begin since
    /// the limit has passed.
    func wantsLimit(at now: Timestamp) -> Bool {
        guard !isCatchingUp, let due = center.nextDue(), max(due, now) > fireLimit else { return false }
        return due <= now.adding(milliseconds: Self.leadTime)
    }

    /// When the partition has work without new input; nil when it has none.
    func nextWork() -> Timestamp? {
        if isReplanning { return .earliest }
        let next = isCatchingUp ? nil : center.nextDue()
        let due = next.map { $0 <= fireLimit ? $0 : $0.adding(milliseconds: -Self.leadTime) }
        guard let refill = center.nextRefill else { return due }
        return min(due ?? refill, refill)
    }

    /// Fires due timers up to the limit.
    func fireDue(
        at now: Timestamp,
        limit: Int,
        urgentOnly: Bool = false,
        lateness: (Int64) -> Void
    ) throws -> (count: Int, isAll: Bool) {
        // No occurrence after the limit is sent; the clock decides lateness and expiration.
        try center.fireDue(at: now, through: fireLimit, limit: limit, urgentOnly: urgentOnly, lateness: lateness)
    }

    // MARK: - Checkpoint

    /// Takes the changes; the positions go to the group.
    ///
    /// - Parameters:
    ///   - all: include the changes that could wait, because this owner's work ends.
    ///   - room: the maximum bytes for changes that could wait; the bytes used are subtracted.
    func takeCut(
        topics: TopicNames,
        partitions: Int32,
        timeZoneDataVersion: String,
        at now: Timestamp,
        all: Bool,
        room: inout Int
    ) -> PerInput<InputProgress> {
        let next = now.adding(milliseconds: ahead)
        let firedThrough = max(next, fireLimit)
        fireLimit = min(fireLimit, next)
        let changes = center.cut(at: now, all: all, room: &room)
        let marker = StateMarker(
            offsets: inputs.named(topics) { $0.position },
            wallTime: now,
            partitions: partitions,
            timeZoneDataVersion: center.replan?.version ?? timeZoneDataVersion,
            firedThrough: firedThrough,
            lineage: lineage,
            replay: PerInput(center.replayOffset).named(topics) { $0 },
            replayEnd: PerInput(center.replayEnd).named(topics) { $0 },
            lives: inputs.named(topics) { $0.life > 0 ? $0.life : nil },
            locatedApplications: center.locatedApplications,
            keepsRecipients: center.keepsRecipients
        )
        cut = Cut(marker: marker, limit: next, changes: changes)
        isTouched = false
        return inputs
    }

    /// The changes to write to the changelog before the marker.
    var changes: [StoreChange] { cut?.changes ?? [] }
    var marker: StateMarker? { cut?.marker }

    /// The cut is committed: writes it to the store, and allows timers to fire up to the marker's limit.
    ///
    /// - Parameters:
    ///   - offset: the offset of the marker in `state`.
    ///   - now: by the clock of the cut.
    /// - Throws: `LaneEnd.changelogInterleaved` when another owner's records are between those of the cut. The store
    ///   then stays unchanged: with the cut, its position would be after records that it does not contain.
    func commit(markerAt offset: Int64, at now: Timestamp) throws {
        guard let cut else { return }
        self.cut = nil
        if let stateEnd {
            guard offset == stateEnd + Int64(cut.changes.count) else { throw LaneEnd.changelogInterleaved }
            self.stateEnd = offset + 1
        }
        awaitsFirstMarker = false
        // The cut also contained the limit in effect: a limit that was lowered since stays lowered.
        fireLimit = cut.limit
        let spent = now.rawValue - cut.marker.wallTime.rawValue
        // One quick checkpoint does not mean that the next one is.
        ahead = min(max(2 * spent, ahead / 2, Self.aheadOfClock.lowerBound), Self.aheadOfClock.upperBound)
        try center.noteCommitted(
            cut.changes,
            position: StorePosition(lineage: lineage, offset: offset + 1, writtenAt: cut.marker.wallTime)
        )
    }
}
