/// A fault that the simulation puts into the pipeline to see that its checks find it.
package enum PlantedBug: String, CaseIterable, Sendable {
    /// The changelog is read with what was never committed.
    case readsUncommitted = "reads-uncommitted"
    /// The changelog is read to the last stable offset: what an open transaction hides is not waited for.
    case stopsAtLastStable = "stops-at-last-stable"
    /// Reading goes on where the group's offsets say, not where the marker does.
    case resumesFromGroup = "resumes-from-group"
    /// A transaction is committed without offsets.
    case dropsFence = "drops-fence"
}
