import Foundation
import Kafka
import Logging
import NotificationModel
import ServiceSupport

/// The order is that of `Checkpoint`, which decides; here each of its steps is done.
extension Lane {
    /// Serves delivery reports.
    func serveReports(within wait: Duration) throws {
        link.serveReports(within: wait, ledger.note)
        if let failure = ledger.failure { throw failure }
    }

    /// Closes an epoch: takes what changed in every partition that has something to say.
    ///
    /// - Parameter all: with what could wait: this lane's work ends.
    func cut(all: Bool = false) {
        let now = context.clock()
        var offsets: InputOffsets = [:]
        // What could wait fills what is left of the checkpoint, and has a share of each: it is bounded, too.
        var room = max(ledger.budget.limit / 2, ledger.budget.limit - ledger.budget.bytes)
        for number in ownedNumbers where wantsCut(number, at: now, all: all) {
            let next = owned[Int(number)]?.takeCut(
                topics: configuration.topics,
                partitions: partitions,
                timeZoneDataVersion: TimeZone.timeZoneDataVersion,
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
        owned[Int(number)]?.wantsCut(at: now) == true || all && owned[Int(number)]?.isWhole == false
    }

    /// Does what the checkpoint says, as far as it goes without waiting for the broker's acknowledgements.
    func advanceCheckpoint(waiting: Bool) throws {
        while let action = ledger.checkpoint.next() {
            switch action {
            case .writeEntries(let numbers):
                try transactions?.beginIfNeeded()
                for number in numbers {
                    for change in owned[Int(number)]?.changes ?? [] {
                        try emission.publish(change, partition: number)
                    }
                }
            case .writeMarkers(let numbers):
                for number in numbers {
                    guard let marker = owned[Int(number)]?.marker else { continue }
                    try emission.publish(marker, partition: number)
                }
            case .commit(let offsets, let numbers):
                ledger.budget.acknowledged(at: link.now)
                try commit(offsets, waiting: waiting)
                for number in numbers {
                    let marker = ledger.markerOffsets[number] ?? -1
                    try usingStore { try owned[Int(number)]?.commit(markerAt: marker) }
                }
                if let since = uncommittedSince { context.metrics.record(checkpoint: link.now - since) }
                context.metrics.record(checkpointAt: context.clock())
                uncommittedSince = nil
                commits += 1
            }
        }
    }

    /// The last step, and the only one in which the guarantees differ.
    private func commit(_ offsets: InputOffsets, waiting: Bool) throws {
        guard let transactions else {
            // They only show lag: a failure is logged by the client, and the next checkpoint commits later ones.
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

    /// Gives up what is not committed.
    ///
    /// - Returns: whether nothing of it is left.
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

    /// Checkpoints all that was done, until the deadline; with what could wait, as long as there is time: it is made again from
    /// the requests, so it is no loss.
    ///
    /// - Parameter waiting: whether the group's answer is waited for.
    func finishCheckpoint(by deadline: ContinuousClock.Instant, waiting: Bool = true) throws -> CheckpointEnd {
        var began = link.now
        var isOpenPartSafe = false
        while true {
            try advanceCheckpoint(waiting: waiting)
            if !ledger.checkpoint.isUnderWay {
                let now = context.clock()
                let isSafe = !ownedNumbers.contains { wantsCut($0, at: now, all: false) }
                if isSafe, ledger.checkpoint.isSettled {
                    // Another one takes about as long as the last.
                    let hasTime = deadline - link.now > max(.seconds(1), (link.now - began) * 2)
                    let isDone = !waiting || !ownedNumbers.contains { wantsCut($0, at: now, all: true) }
                    if isDone || !hasTime { return .safe }
                }
                began = link.now
                isOpenPartSafe = isSafe && ledger.checkpoint.isSettled
                cut(all: waiting && isSafe)
            } else {
                try serveReports(within: .milliseconds(20))
            }
            guard link.now < deadline else { return isOpenPartSafe ? .onlyOpenWhatCouldWait : .open }
        }
    }
}

/// How far a checkpoint came by its deadline.
enum CheckpointEnd {
    /// Everything is committed that would be lost otherwise.
    case safe
    /// So it is, and a checkpoint of the rest is under way.
    case onlyOpenWhatCouldWait
    /// What is not committed would be lost, or done again.
    case open
}
