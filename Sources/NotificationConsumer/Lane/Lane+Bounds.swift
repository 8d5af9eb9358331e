import Kafka
import ServiceSupport

/// The limits of a lane.
extension Lane {
    /// Measures the load, and pauses or resumes reading as `BackPressure` decides.
    func regulate() throws -> BackPressure.Hold {
        let load = load()
        owned.hurryStores(unwritten: load.unwritten, bound: configuration.store.unwrittenChanges)
        let (hold, action) = try backPressure.regulate(load, within: bounds, at: link.now)
        switch action {
        case .none: break
        case .pause(let reason):
            link.pauseReading()
            context.health.notReady("\(reason); reading is paused")
        case .stayPaused(let reason): context.health.notReady("\(reason); reading is paused")
        case .resume:
            if owned.unfinished == nil { link.resumeReading() }
            context.health.ready()
        }
        return hold
    }

    /// When side work times out, or queued work may begin.
    func nextSideWork() -> ContinuousClock.Instant? {
        let now = link.now
        if !declined.isEmpty { return now }
        guard let send = sends.nextInstant(at: now) else { return enrichments.nextInstant(at: now) }
        return enrichments.nextInstant(at: now).map { min($0, send) } ?? send
    }

    /// A new assignment begins: reading is not paused.
    func resetBackPressure() { backPressure = BackPressure() }

    private func load() -> BackPressure.Load {
        let isUnderWay = ledger.checkpoint.isUnderWay
        let unwritten = owned.unwritten
        return BackPressure.Load(
            outstanding: link.outstanding,
            dirty: owned.dirtyCount,
            unwritten: unwritten,
            storeTrouble: unwritten >= configuration.store.unwrittenChanges / 2 ? owned.storeTrouble : nil,
            sends: sends.largest,
            isNextCheckpointFull: isUnderWay && ledger.budget.isFull,
            isNextCheckpointOverfull: isUnderWay && ledger.budget.isOverfull,
            uncommittedSince: uncommittedSince,
            transactionBegan: transactions?.openSince
        )
    }

    private var bounds: BackPressure.Bounds {
        .init(
            guarantee: context.guarantee,
            outstandingRecords: configuration.lane.outstandingRecords,
            checkpointEntries: configuration.lane.checkpointEntries,
            unwrittenChanges: configuration.store.unwrittenChanges,
            sends: configuration.lane.outstandingSends,
            sessionTimeout: configuration.sessionTimeout,
            transactionTimeout: configuration.transactionTimeout
        )
    }
}
