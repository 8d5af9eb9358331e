import Kafka
import Logging
import NotificationModel
import NotificationState
import ServiceSupport

/// What a lane shows of itself: in metrics, in readiness and, while it restores, in the log.
extension Lane {
    func report(restoring partitions: [Int32], passed: Int64, of total: Int64) {
        context.health.beat()
        context.health.notReady(
            "restoring \(partitions.count) partitions: \(passed) of \(total) offsets of the changelog"
        )
        context.status.update { $0.restoring = (passed, total) }
        guard nextStatus <= link.now else { return }
        nextStatus = link.now.advanced(by: .seconds(5))
        logger.info(
            "restoring",
            metadata: [LogMetadata.partitions: "\(partitions)", "offsets": "\(passed)", "ofOffsets": "\(total)"]
        )
    }

    func reportStatus() {
        nextStatus = link.now.advanced(by: .milliseconds(500))
        let now = context.clock()
        context.stores.tend(at: link.now)
        letters.flush(at: link.now, logger)
        context.health.remark(owned.storeTrouble.map { "\($0); entries are kept in memory" })
        context.status.update { status in
            status = LaneStatus.Snapshot()
            status.partitions = Int(partitions)
            status.outstanding = link.outstanding
            status.sends = sends.count
            for number in owned.numbers {
                status.add(owned[number], now)
                for input in InputTopic.allCases {
                    guard let position = owned[number]?.inputs[input].position else { continue }
                    let place = InputPartition(input, number)
                    status.lag[place] = link.lag(of: place, after: position)
                }
            }
        }
    }
}

extension LaneStatus.Snapshot {
    fileprivate mutating func add(_ partition: OwnedPartition?, _ now: Timestamp) {
        guard partition != nil else { return }
        assigned += 1
        pending += partition?.center.pendingCount ?? 0
        open += partition?.center.openCounts ?? OpenCounts()
        entries += partition?.center.entryCount ?? 0
        recipients += partition?.center.recipientCount ?? 0
        resident += partition?.center.residentCount ?? 0
        unwritten += partition?.center.store.unwritten ?? 0
        troubledStores += partition?.center.store.trouble == nil ? 0 : 1
        if let due = partition?.center.nextDue() { oldestDueAge = max(oldestDueAge, now.rawValue - due.rawValue) }
    }
}
