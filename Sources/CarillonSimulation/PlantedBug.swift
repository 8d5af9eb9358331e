/// A fault that the simulation puts between the shipping lanes and what they run on, to see that its checks find it.
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
    /// What a channel answered to an earlier life of a centre counts for the present one.
    case acceptsLateOutcomes = "accepts-late-outcomes"
    /// A local store says where it stands before it holds what came until there.
    case storePositionFirst = "store-position-first"
}
