import ServiceSupport

/// Finds out whether a service whose media are on a local disk shares its group with another instance: then links to media lead to
/// an instance that does not have them.
///
/// Partitions may be without an owner for a while: lanes join one after the other, and after a crash the group waits for the
/// session of the former member. An instance that once owned all partitions was there first, and goes on.
struct SoleInstance {
    /// For how long some partitions may be without an owner.
    let patience: Duration
    private var since: ContinuousClock.Instant?
    private var hasOwnedAll = false

    init(patience: Duration) { self.patience = patience }

    /// - Parameters:
    ///   - assigned: the partitions of this instance.
    ///   - partitions: all of them; 0 while it is not known.
    ///   - now: of a monotonic clock.
    /// - Throws: `Refusal` when another instance has owned some of them for longer than the patience.
    mutating func check(
        assigned: Int,
        of partitions: Int,
        at now: ContinuousClock.Instant
    ) throws(Refusal) {
        hasOwnedAll = hasOwnedAll || partitions > 0 && assigned >= partitions
        guard !hasOwnedAll, assigned > 0, assigned < partitions else {
            since = nil
            return
        }
        let began = since ?? now
        since = began
        guard now - began <= patience else { throw Refusal(others: partitions - assigned, of: partitions) }
    }

    /// Another instance is in the group.
    struct Refusal: Error, Hashable, CustomStringConvertible {
        let others: Int
        let of: Int

        var description: String {
            """
            media.shared: another instance of the service has \(others) of \(of) partitions, and the media in media.directory are \
            served by this one only. Give all instances one directory and set media.shared to true, or run one instance.
            """
        }
    }
}
