import Kafka
import ServiceSupport

/// What a lane does at its bounds.
extension Lane {
    /// How long a bound may be reached before reading is paused: librdkafka then drops what it has read ahead, and fetches it
    /// again later, while not to ask for it costs nothing.
    private static var holdBeforePause: Duration { .seconds(2) }

    /// What may not be done now.
    enum Hold {
        case nothing
        /// A new input needs room; what fires changes or ends what is there.
        case reading
        case everything
    }

    /// At a bound nothing more is read: nothing is buffered beyond it. At half of it reading goes on.
    func regulate() throws -> Hold {
        let (outstanding, unwritten, dirty) = (link.outstanding, unwrittenChanges(), dirtyEntries())
        let (limits, isHeld) = (configuration, heldSince != nil)
        hurryStores(unwritten)
        var reason: String?
        var hold = Hold.everything
        if let since = uncommittedSince, link.now - since > configuration.sessionTimeout {
            // Another owner may be at work by now: what is sent from here on would be sent twice.
            guard context.guarantee == .atLeastOnce else { throw LaneEnd.checkpointStalled }
            reason = "nothing could be committed for longer than the session timeout"
        } else if isInTransaction, link.now - transactionBegan > configuration.transactionTimeout {
            throw LaneEnd.checkpointStalled
        } else if outstanding >= limits.outstandingRecords / (isHeld ? 2 : 1) {
            reason = "the broker does not acknowledge: \(outstanding) records outstanding"
        } else if ledger.checkpoint.isUnderWay, isHeld ? ledger.budget.isFull : ledger.budget.isOverfull {
            reason = "a checkpoint is under way, and the broker is not done with what was written since"
        } else if dirty >= limits.checkpointEntries * (isHeld ? 1 : 2) {
            reason = "a checkpoint is under way and \(dirty) entries have changed since"
        } else if unwritten >= limits.unwrittenChanges / (isHeld ? 2 : 1) {
            reason = storeTrouble() ?? "the disk store is behind: \(unwritten) changes are not written"
            hold = .reading
        }
        if reason == nil { reason = sendsAtBound(isHeld: isHeld) }
        guard let reason else {
            heldSince = nil
            if isPaused {
                if unfinished == nil { link.resumeReading() }
                isPaused = false
                context.health.ready()
            }
            return .nothing
        }
        let since = heldSince ?? link.now
        heldSince = since
        if isPaused || link.now - since >= Self.holdBeforePause {
            if !isPaused { link.pauseReading() }
            isPaused = true
            context.health.notReady("\(reason); reading is paused")
        }
        return hold
    }

    /// What fires, too, is sent; what waits for an attempt is due like a timer.
    private func sendsAtBound(isHeld: Bool) -> String? {
        guard let sends, sends.count >= max(1, sends.bound / (isHeld ? 2 : 1)) else { return nil }
        return "the channel does not answer: \(sends.count) sends have no outcome"
    }

    func tendStores() {
        for number in ownedNumbers { owned[Int(number)]?.center.store.tend(at: link.now) }
    }

    /// At half of the bound the stores no longer wait for their batches to fill: the bound is for a disk that is slow.
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
