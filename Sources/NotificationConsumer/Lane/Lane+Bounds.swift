import Kafka
import ServiceSupport

/// The limits of a lane.
extension Lane {
    /// Measures the load, and pauses or resumes reading as `BackPressure` decides.
    func regulate() throws -> BackPressure.Hold {
        let load = load()
        hurryStores(load.unwritten)
        let (hold, action) = try backPressure.regulate(load, within: bounds, at: link.now)
        switch action {
        case .none: break
        case .pause(let reason):
            link.pauseReading()
            context.health.notReady("\(reason); reading is paused")
        case .stayPaused(let reason): context.health.notReady("\(reason); reading is paused")
        case .resume:
            if unfinished == nil { link.resumeReading() }
            context.health.ready()
        }
        return hold
    }

    private func load() -> BackPressure.Load {
        let isUnderWay = ledger.checkpoint.isUnderWay
        let unwritten = unwrittenChanges()
        return BackPressure.Load(
            outstanding: link.outstanding,
            dirty: dirtyEntries(),
            unwritten: unwritten,
            storeTrouble: unwritten >= configuration.unwrittenChanges / 2 ? storeTrouble() : nil,
            sends: sends?.count ?? 0,
            isNextCheckpointFull: isUnderWay && ledger.budget.isFull,
            isNextCheckpointOverfull: isUnderWay && ledger.budget.isOverfull,
            uncommittedSince: uncommittedSince,
            transactionBegan: transactions?.openSince
        )
    }

    private var bounds: BackPressure.Bounds {
        .init(
            guarantee: context.guarantee,
            outstandingRecords: configuration.outstandingRecords,
            checkpointEntries: configuration.checkpointEntries,
            unwrittenChanges: configuration.unwrittenChanges,
            sends: sends?.bound ?? 1,
            sessionTimeout: configuration.sessionTimeout,
            transactionTimeout: configuration.transactionTimeout
        )
    }

    func tendStores() {
        for number in ownedNumbers { owned[Int(number)]?.center.store.tend(at: link.now) }
    }

    /// At half of the limit, the stores write without waiting for full batches: the limit is meant for a slow disk.
    func hurryStores(_ unwritten: Int) {
        if unwritten < configuration.unwrittenChanges / 4 { areStoresHurried = false }
        guard unwritten >= configuration.unwrittenChanges / 2, !areStoresHurried else { return }
        areStoresHurried = true
        for number in ownedNumbers { owned[Int(number)]?.center.store.beginFlush() }
    }

    func unwrittenChanges() -> Int {
        ownedNumbers.reduce(0) { $0 + (owned[Int($1)]?.center.unwritten ?? 0) }
    }

    func dirtyEntries() -> Int {
        ownedNumbers.reduce(0) { $0 + (owned[Int($1)]?.center.dirtyCount ?? 0) }
    }

    func storeTrouble() -> String? {
        for number in ownedNumbers {
            if let trouble = owned[Int(number)]?.center.storeTrouble { return "the disk store: \(trouble)" }
        }
        return nil
    }
}
