/// A fault that the simulation puts between the shipping lanes, or the ingest, and what they run on, to see that its checks find it.
package enum PlantedBug: String, CaseIterable, Sendable {
    /// The changelog is read with what was never committed.
    case readsUncommitted = "reads-uncommitted"
    /// Timers fire before the changelog was read to its end: the last records of it are left out.
    case firesBeforeRestored = "fires-before-restored"
    /// What the changelog was not told yet is not read again from the requests.
    case skipsReplay = "skips-replay"
    /// A transaction is committed without offsets.
    case dropsFence = "drops-fence"
    /// The offsets are made durable first: events follow the marker.
    case offsetsFirst = "offsets-first"
    /// The marker is made durable before the entries that it covers.
    case markerBeforeEntries = "marker-before-entries"
    /// A marker tells that timers have fired less far than they may have.
    case forgetsFiredThrough = "forgets-fired-through"
    /// A commit whose answer did not come counts as done.
    case trustsUnknownCommit = "trusts-unknown-commit"
    /// What is to be aborted is committed.
    case commitsInsteadOfAborting = "commits-instead-of-aborting"
    /// What a channel answered to an earlier life of a center counts for the present one.
    case acceptsLateOutcomes = "accepts-late-outcomes"
    /// What a channel does not answer is waited for.
    case neverTimesOut = "never-times-out"
    /// A local store says where it stands before it holds what came until there.
    case storePositionFirst = "store-position-first"

    // MARK: What is written

    /// An entry is said to be acknowledged, and is not in the changelog.
    case losesEntry = "loses-entry"
    /// An entry that is gone is not deleted from the changelog.
    case swallowsTombstones = "swallows-tombstones"
    /// A dead letter is said to be acknowledged, and is not written.
    case losesDeadLetter = "loses-dead-letter"
    /// An event comes after the one that follows it.
    case reordersEvents = "reorders-events"
    /// A delivery is published twice.
    case duplicatesDelivery = "duplicates-delivery"

    // MARK: Replay

    /// A marker tells too late an offset from which requests are to be read again.
    case replaysTooLate = "replays-too-late"
    /// Every other record that is read again is left out.
    case replaysPart = "replays-part"

    // MARK: The center

    /// A version that a request brings counts for nothing.
    case ignoresVersions = "ignores-versions"
    /// What has expired within the last hour is sent.
    case ignoresExpiration = "ignores-expiration"
    /// A removal of what is pending takes what is delivered as well.
    case widensRemovals = "widens-removals"
    /// Ids of what is closed are forgotten before their time.
    case forgetsEarly = "forgets-early"
    /// Requests are refused before the bound of entries is reached.
    case capsEarly = "caps-early"

    // MARK: Timers

    /// An instant of a trigger is counted from when its record was read.
    case anchorsAtReading = "anchors-at-reading"
    /// The clock of the lane is ahead of its machine's.
    case firesEarly = "fires-early"
    /// The clock of the lane is behind its machine's.
    case firesLate = "fires-late"

    // MARK: The store

    /// A store gives an entry as it was before its last change.
    case storeIsStale = "store-is-stale"
    /// A store does not find what has nothing pending.
    case storeForgets = "store-forgets"
    /// A store leaves one out of those that are due.
    case storeMissesDue = "store-misses-due"

    // MARK: Taking over
    //
    // A commit of what was done before the assignment was lost is no bug of its own: the offsets of an older generation are
    // refused, and with them the transaction.

    /// The changelog is read to where a `read_committed` client sees its end.
    case readsToLastStable = "reads-to-last-stable"
    /// Reading goes on at the group's offsets.
    case resumesFromGroup = "resumes-from-group"
    /// Offsets that did not move are left out of the transaction.
    case leavesOutUnchanged = "leaves-out-unchanged"

    // MARK: The ingest of business events

    /// A request is said to be acknowledged, and is not written: the offset of its event is committed nevertheless.
    case ingestLosesRequest = "ingest-loses-request"
    /// A dead letter is said to be acknowledged, and is not written.
    case ingestLosesDeadLetter = "ingest-loses-dead-letter"
    /// Records are acknowledged before they are written; without transactions.
    case ingestAcknowledgesEarly = "ingest-acknowledges-early"
    /// What is to be aborted is committed.
    case ingestCommitsAborts = "ingest-commits-aborts"
    /// A transaction is committed without offsets.
    case ingestDropsOffsets = "ingest-drops-offsets"
    /// An event that is read again has another id.
    case ingestRenewsIDs = "ingest-renews-ids"
    /// Requests go to the partition after that of their recipient.
    case ingestMisroutes = "ingest-misroutes"
    /// Reading begins at the end of a partition instead of the group's offset.
    case ingestResumesAtEnd = "ingest-resumes-at-end"
    /// Offsets that a transaction may still commit are not waited for.
    case ingestReadsUnstableOffsets = "ingest-reads-unstable-offsets"
    /// A request comes after the one that follows it.
    case ingestReorders = "ingest-reorders"

    /// Those that need business events.
    static let ofIngest: Set<PlantedBug> = [
        .ingestLosesRequest, .ingestLosesDeadLetter, .ingestAcknowledgesEarly, .ingestCommitsAborts,
        .ingestDropsOffsets, .ingestRenewsIDs, .ingestMisroutes, .ingestResumesAtEnd, .ingestReadsUnstableOffsets,
        .ingestReorders,
    ]
}
