/// A fault that the simulation inserts between the production lanes, or the production ingest, and the simulated Kafka,
/// stores and clocks. The tests verify that the checks detect it.
package enum PlantedBug: String, CaseIterable, Sendable {
    /// A restore also reads uncommitted and aborted records of the changelog.
    case readsUncommitted = "reads-uncommitted"
    /// Timers fire before the whole changelog is read: a restore leaves out its last records.
    case firesBeforeRestored = "fires-before-restored"
    /// A restore does not replay the requests that the changelog does not contain yet.
    case skipsReplay = "skips-replay"
    /// A transaction is committed without offsets.
    case dropsFence = "drops-fence"
    /// The offsets become durable first: events are written after the marker.
    case offsetsFirst = "offsets-first"
    /// The marker becomes durable before the entries that it covers.
    case markerBeforeEntries = "marker-before-entries"
    /// A marker contains a `firedThrough` that is too early.
    case forgetsFiredThrough = "forgets-fired-through"
    /// A commit without an answer counts as done.
    case trustsUnknownCommit = "trusts-unknown-commit"
    /// A transaction that must be aborted is committed.
    case commitsInsteadOfAborting = "commits-instead-of-aborting"
    /// A channel's answer to an earlier owner's send counts for the current owner.
    case acceptsLateOutcomes = "accepts-late-outcomes"
    /// A send that the channel does not answer never times out.
    case neverTimesOut = "never-times-out"
    /// A local store records its position before it contains the changes up to that position.
    case storePositionFirst = "store-position-first"

    // MARK: Published records

    /// An entry is reported as acknowledged, but is not in the changelog.
    case losesEntry = "loses-entry"
    /// An entry that was forgotten is not deleted from the changelog.
    case swallowsTombstones = "swallows-tombstones"
    /// A dead letter is reported as acknowledged, but is not written.
    case losesDeadLetter = "loses-dead-letter"
    /// Two events are published in the wrong order.
    case reordersEvents = "reorders-events"
    /// A delivery is published twice.
    case duplicatesDelivery = "duplicates-delivery"

    // MARK: Replay

    /// The marker's replay offset is too late.
    case replaysTooLate = "replays-too-late"
    /// The replay leaves out every other record.
    case replaysPart = "replays-part"

    // MARK: The center

    /// The versions of requests are ignored.
    case ignoresVersions = "ignores-versions"
    /// A notification that expired within the last hour is still sent.
    case ignoresExpiration = "ignores-expiration"
    /// A removal of pending notifications also removes delivered ones.
    case widensRemovals = "widens-removals"
    /// A collapse window is not kept.
    case ignoresCollapseWindows = "ignores-collapse-windows"
    /// A repeating request ends with its first occurrence.
    case endsRepeats = "ends-repeats"
    /// The ids of closed requests are forgotten too early.
    case forgetsEarly = "forgets-early"
    /// Requests are suppressed before the limit on entries is reached.
    case capsEarly = "caps-early"

    // MARK: Timers

    /// A time interval starts when its record is read, instead of at the record's timestamp.
    case anchorsAtReading = "anchors-at-reading"
    /// The lane's clock is ahead of its machine's.
    case firesEarly = "fires-early"
    /// The lane's clock is behind its machine's.
    case firesLate = "fires-late"

    // MARK: The store

    /// A store returns an entry as it was before its last change.
    case storeIsStale = "store-is-stale"
    /// A store does not find entries without a pending notification.
    case storeForgets = "store-forgets"
    /// A store leaves out one of the due entries.
    case storeMissesDue = "store-misses-due"

    // MARK: Taking over
    //
    // There is no bug that commits work of a lost assignment: the coordinator refuses the offsets of an older generation,
    // and with them the transaction.

    /// A restore reads the changelog only up to the last stable offset, the end for a `read_committed` client.
    case readsToLastStable = "reads-to-last-stable"
    /// Reading resumes at the group's offsets.
    case resumesFromGroup = "resumes-from-group"
    /// A transaction leaves out the offsets that did not change.
    case leavesOutUnchanged = "leaves-out-unchanged"

    /// A restore forgets what is on its way to its targets.
    case forgetsHandovers = "forgets-handovers"
    /// A restore forgets what targets may show, and what was to be done about it.
    case forgetsScreens = "forgets-screens"
    /// A restore forgets what was delivered.
    case forgetsDelivered = "forgets-delivered"
    /// A restore forgets the ids of closed requests.
    case forgetsClosed = "forgets-closed"
    /// A restore forgets the newest version.
    case forgetsVersions = "forgets-versions"

    // MARK: Locations

    /// The first fix of a device counts as a crossing.
    case countsInitialSide = "counts-initial-side"
    /// A fix counts as new whenever it is read, also a late one.
    case countsLateFixes = "counts-late-fixes"
    /// A request that waits for an entry waits for an exit, and the reverse.
    case swapsCrossings = "swaps-crossings"
    /// A restore leaves out the recipients' records, and with them the sides.
    case forgetsSides = "forgets-sides"

    // MARK: Channels

    /// A restore forgets which channel a notification names.
    case forgetsChannels = "forgets-channels"

    /// The channel that a request names is not read.
    case ignoresChannels = "ignores-channels"
    /// A removal is reported as accepted, but does not reach the device.
    case losesRecalls = "loses-recalls"
    /// What a device has rejected counts as accepted.
    case trustsRejections = "trusts-rejections"
    /// An attempt without an answer counts as one that has certainly not reached the device.
    case trustsSilence = "trusts-silence"

    // MARK: Enrichment

    /// A result is that of the key's earlier request.
    case mixesEnrichments = "mixes-enrichments"
    /// An enrichment without a result is awaited for ever.
    case awaitsEnrichments = "awaits-enrichments"

    // MARK: Devices, responses and limits

    /// A restore leaves out the recipients' records, and with them devices and badges.
    case forgetsDevices = "forgets-devices"
    /// A restore forgets what devices have told.
    case forgetsReceipts = "forgets-receipts"
    /// A response is reported as acknowledged, but is not written.
    case losesResponses = "loses-responses"
    /// A claim of a token, or the retirement of its former device, is reported as acknowledged, but is not written.
    case losesRetirements = "loses-retirements"
    /// A response comes out twice.
    case repeatsResponses = "repeats-responses"
    /// Quiet hours begin when they end, and end when they begin.
    case invertsQuietHours = "inverts-quiet-hours"
    /// What is to be held in quiet hours is suppressed.
    case suppressesHeld = "suppresses-held"
    /// Caps are not read.
    case ignoresCaps = "ignores-caps"

    // MARK: Live Activities

    /// What updates an activity is sent to the token that starts another one.
    case updatesByStarting = "updates-by-starting"
    /// The timestamp of an update or an end is lower than that of the start.
    case lowersTimestamps = "lowers-timestamps"
    /// An end does not say when a Live Activity disappears.
    case dismissesAtOnce = "dismisses-at-once"
    /// An end does not reach a broadcast channel, which accepts it.
    case losesBroadcastEnds = "loses-broadcast-ends"
    /// A restore forgets that the tokens of activities have ended.
    case keepsEndedTokens = "keeps-ended-tokens"
    /// The registration of the token of an activity is not read.
    case losesActivityTokens = "loses-activity-tokens"

    // MARK: The ingest of business events

    /// A request is reported as acknowledged, but is not written: the offset of its event is committed anyway.
    case ingestLosesRequest = "ingest-loses-request"
    /// A dead letter is reported as acknowledged, but is not written.
    case ingestLosesDeadLetter = "ingest-loses-dead-letter"
    /// Without transactions, records are acknowledged before they are written.
    case ingestAcknowledgesEarly = "ingest-acknowledges-early"
    /// A transaction that must be aborted is committed.
    case ingestCommitsAborts = "ingest-commits-aborts"
    /// A transaction is committed without offsets.
    case ingestDropsOffsets = "ingest-drops-offsets"
    /// An event that is read again gets another id.
    case ingestRenewsIDs = "ingest-renews-ids"
    /// Requests are written to the partition after that of their recipient.
    case ingestMisroutes = "ingest-misroutes"
    /// Reading starts at the end of a partition instead of the group's offset.
    case ingestResumesAtEnd = "ingest-resumes-at-end"
    /// Reading starts without waiting for a transaction that may still commit offsets.
    case ingestReadsUnstableOffsets = "ingest-reads-unstable-offsets"
    /// Two requests are written in the wrong order.
    case ingestReorders = "ingest-reorders"

    /// A restore that reads less of each entry.
    static let ofEntries: Set<PlantedBug> = [
        .forgetsHandovers, .forgetsScreens, .forgetsDelivered, .forgetsClosed, .forgetsVersions, .forgetsReceipts,
    ]

    /// The bugs that need location triggers.
    static let ofLocations: Set<PlantedBug> = [.countsInitialSide, .countsLateFixes, .swapsCrossings, .forgetsSides]

    /// The bugs that need notifications that name a channel.
    static let ofChannels: Set<PlantedBug> = [.forgetsChannels, .ignoresChannels]

    /// The bugs that need notifications that are enriched.
    static let ofEnrichment: Set<PlantedBug> = [.mixesEnrichments, .awaitsEnrichments]

    /// The bugs that need devices, responses or limits.
    static let ofLoop: Set<PlantedBug> = [
        .forgetsDevices, .losesResponses, .losesRetirements, .repeatsResponses, .invertsQuietHours, .suppressesHeld,
        .ignoresCaps, .forgetsReceipts,
    ]

    /// The bugs that need Live Activities.
    static let ofActivities: Set<PlantedBug> = [
        .updatesByStarting, .lowersTimestamps, .dismissesAtOnce, .losesBroadcastEnds, .keepsEndedTokens,
        .losesActivityTokens,
    ]

    /// The bugs that need business events.
    static let ofIngest: Set<PlantedBug> = [
        .ingestLosesRequest, .ingestLosesDeadLetter, .ingestAcknowledgesEarly, .ingestCommitsAborts,
        .ingestDropsOffsets, .ingestRenewsIDs, .ingestMisroutes, .ingestResumesAtEnd, .ingestReadsUnstableOffsets,
        .ingestReorders,
    ]
}
