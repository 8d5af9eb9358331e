import Logging
import NotificationModel
import ServiceSupport

/// What a lane does about time zones whose rules changed.
extension Lane {
    /// Plans some of a partition's calendar triggers again, as far as the next checkpoint has room for them.
    func replan(_ number: Int32, at now: Timestamp) throws {
        guard let replan = owned[number]?.center.replan, !isCheckpointFull,
            owned.dirtyCount < configuration.lane.checkpointEntries
        else { return }
        try usingStore { try owned[number]?.replan(at: now, limit: DueWindow.loadedAtATime) }
        ledger.budget.expect(owned[number]?.center.takeCharge() ?? 0)
        guard owned[number]?.isReplanning == false else { return }
        logger.info(
            "calendar triggers are planned with the current time zone data",
            metadata: [
                LogMetadata.partition: "\(number)", "before": "\(replan.version)",
                "now": "\(context.zones.database.version)",
            ]
        )
    }

    /// Warns once of each zone that the database does not have, and counts the entries that wait for times in it.
    func noteMissingZones(of number: Int32) {
        let missing = owned[number]?.center.missingZones ?? [:]
        owned[number]?.center.missingZones = [:]
        for (zone, count) in missing.sorted(by: { $0.key < $1.key }) {
            context.metrics.count(missingZone: count)
            guard missingZones.insert(zone).inserted else { continue }
            logger.warning(
                """
                the time zone database does not have a zone that calendar triggers wait for; they keep the offset from UTC \
                of their planned occurrence until it has
                """,
                metadata: ["zone": "\(zone)", "version": "\(context.zones.database.version)"]
            )
        }
    }
}
