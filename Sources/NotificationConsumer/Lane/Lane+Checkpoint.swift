import Kafka
import Logging
import NotificationModel
import NotificationState
import ServiceSupport

/// Performs the steps of a checkpoint. `Checkpoint` decides their order.
extension Lane {
    /// Serves delivery reports.
    func serveReports(within wait: Duration) throws {
        link.serveReports(within: wait, ledger.note)
        if let failure = ledger.failure { throw failure }
    }

    /// Serves delivery reports while nothing else is published.
    func awaitAcknowledgements(within wait: Duration) throws {
        link.endLinger()
        try serveReports(within: wait)
    }

    /// Closes an epoch: takes the changes of every partition that wants a cut.
    ///
    /// - Parameter all: Include the changes that could wait, because this lane's work ends.
    func cut(all: Bool = false) {
        let now = context.clock()
        var offsets: InputOffsets = [:]
        // The changes that could wait fill the rest of the checkpoint; some room is always theirs, since their number is
        // bounded, too.
        var room = max(ledger.budget.limit / 2, ledger.budget.limit - ledger.budget.bytes)
        for number in owned.numbers where wantsCut(number, at: now, all: all) {
            let next = owned[number]?.takeCut(
                topics: configuration.topics,
                partitions: partitions,
                timeZoneDataVersion: context.zones.database.version,
                at: now,
                all: all,
                room: &room
            )
            for input in InputTopic.allCases { offsets[InputPartition(input, number)] = next?[input].position }
        }
        ledger.budget.cut(at: link.now)
        guard !offsets.isEmpty else { return }
        uncommittedSince = link.now
        ledger.checkpoint.cut(offsets)
    }

    private func wantsCut(_ number: Int32, at now: Timestamp, all: Bool) -> Bool {
        owned[number]?.wantsCut(at: now) == true || all && owned[number]?.isWhole == false
    }

    /// Performs the next actions of the checkpoint until it waits for acknowledgements of the broker.
    func advanceCheckpoint(waiting: Bool) throws {
        while let action = ledger.checkpoint.next() {
            switch action {
            case .writeEntries(let numbers):
                try transactions?.beginIfNeeded()
                for number in numbers {
                    for change in owned[number]?.changes ?? [] {
                        try emission.publish(change, partition: number)
                    }
                }
            case .writeMarkers(let numbers):
                for number in numbers {
                    guard let marker = owned[number]?.marker else { continue }
                    try emission.publish(marker, partition: number)
                }
            case .commit(let offsets, let numbers):
                ledger.budget.acknowledged(at: link.now)
                try commit(offsets, waiting: waiting)
                for number in numbers {
                    let marker = ledger.markerOffsets[number] ?? -1
                    try usingStore { try owned[number]?.commit(markerAt: marker, at: context.clock()) }
                }
                if let since = uncommittedSince { context.metrics.record(checkpoint: link.now - since) }
                context.metrics.record(checkpointAt: context.clock())
                uncommittedSince = nil
                uncommittedChanges = []
                commits += 1
            }
        }
    }

    /// The last step, and the only one in which the guarantees differ.
    private func commit(_ offsets: InputOffsets, waiting: Bool) throws {
        guard let transactions else {
            // The group's offsets only show lag: the client logs a failure, and the next checkpoint commits later offsets.
            do throws(KafkaError) {
                try link.commitOffsets(offsets, within: waiting ? .seconds(5) : nil)
            } catch {
                guard !error.isFatal else { throw error }
            }
            return
        }
        try transactions.sendOffsets(offsets, until: link.now.advanced(by: configuration.transactionTimeout))
        try transactions.commit(until: link.now.advanced(by: configuration.commitTimeout))
    }

    /// Aborts the open transaction, if any.
    ///
    /// - Returns: whether none is open now.
    @discardableResult
    func abortTransaction() -> Bool {
        guard let transactions, transactions.isOpen else { return true }
        context.metrics.countAbort()
        do {
            try transactions.abort(until: link.now.advanced(by: .seconds(5)))
            return true
        } catch {
            logger.warning("the transaction could not be aborted", metadata: [LogMetadata.error: "\(error)"])
            return false
        }
    }

    /// The transaction with the checkpoint in progress was aborted.
    func discardCheckpoint() {
        ledger.reset()
        putBackChannelChanges()
        uncommittedSince = nil
    }

    /// Checkpoints all work until the deadline. The changes that could wait are included if there is time: the next owner can
    /// make them again from the requests.
    ///
    /// - Parameter waiting: Whether to wait for the group's answer to the offsets.
    func finishCheckpoint(by deadline: ContinuousClock.Instant, waiting: Bool = true) throws -> CheckpointEnd {
        var began = link.now
        var isOpenPartSafe = false
        while true {
            try advanceCheckpoint(waiting: waiting)
            if !ledger.checkpoint.isUnderWay {
                let now = context.clock()
                let isSafe = !owned.numbers.contains { wantsCut($0, at: now, all: false) }
                if isSafe, ledger.checkpoint.isSettled {
                    // The next checkpoint takes about as long as the last one.
                    let hasTime = deadline - link.now > max(.seconds(1), (link.now - began) * 2)
                    let isDone = !waiting || !owned.numbers.contains { wantsCut($0, at: now, all: true) }
                    if isDone || !hasTime { return .safe }
                }
                began = link.now
                isOpenPartSafe = isSafe && ledger.checkpoint.isSettled
                cut(all: waiting && isSafe)
            } else {
                try awaitAcknowledgements(within: .milliseconds(20))
            }
            guard link.now < deadline else { return isOpenPartSafe ? .onlyOpenWhatCouldWait : .open }
        }
    }
}

/// How far a checkpoint came by its deadline.
enum CheckpointEnd {
    /// Everything is committed, or can be made again from the requests.
    case safe
    /// As `safe`, but a checkpoint of the changes that could wait is in progress.
    case onlyOpenWhatCouldWait
    /// Uncommitted work would be repeated.
    case open
}
