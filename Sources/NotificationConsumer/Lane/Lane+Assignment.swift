import Kafka
import Logging
import NotificationDelivery
import NotificationModel
import NotificationState
import ServiceSupport

/// Assignment and revocation of partitions, inside `poll` and `close`, on the lane's thread.
extension Lane {
    /// Takes over partitions; see `Restore` for the order.
    func assign(_ numbers: [Int32]) throws -> InputOffsets {
        defer { link.endReadingState() }
        assignmentID = context.newAssignmentID()
        owned.beginAssignment()
        heldSignals.dropAll()
        cancelSideWork()
        try checkCounts(numbers)
        let began = link.now
        let stores = try context.stores.take(numbers)
        do {
            let results = try restore(stores)
            for number in numbers {
                context.health.beat()
                owned[number] = try results[number].map { try begin(number, $0) }
            }
            try replay(results)
            noteRestored(results)
        } catch {
            // A partly filled store cannot be a base; its defect is found when it is opened again.
            for (number, store) in stores {
                owned[number] = nil
                store.close(flushing: false)
            }
            throw error
        }
        owned.completeAssignment(numbers)
        resetBackPressure()
        link.pause(owned.afterDevices)
        if numbers.contains(where: { owned[$0]?.awaitsFirstMarker == true }) {
            let deadline = link.now.advanced(by: Restore.brokerDeadline)
            guard case .safe = try finishCheckpoint(by: deadline, waiting: false) else {
                throw LaneEnd.firstMarkersNotWritten
            }
        }
        context.metrics.record(restore: link.now - began)
        context.metrics.count(.assigned)
        context.status.update { $0.restoring = nil }
        if let queries { context.queries?.open(numbers, of: partitions, queries) }
        context.health.ready()
        reportStatus()
        return Dictionary(
            uniqueKeysWithValues: InputPartition.all(of: numbers).map { place in
                (place, owned[place.partition]?.inputs[place.input].position ?? 0)
            }
        )
    }

    /// Checks the current counts: the group rebalances when partitions were added, so nothing is read with the old
    /// count.
    private func checkCounts(_ numbers: [Int32]) throws {
        guard let first = numbers.first else { return }
        let count = try link.countPartitions(within: Restore.brokerDeadline).common()
        guard count == partitions, numbers.allSatisfy(owned.exists) else {
            throw ConsumerRefusal.partitionCountChanged(first, marker: partitions, now: count)
        }
    }

    private func restore(_ stores: [Int32: any EntryStore]) throws -> [Int32: Restore.Result] {
        let restore = Restore(
            settings: .init(
                topics: configuration.topics,
                brokers: configuration.bootstrapServers,
                partitions: partitions,
                start: configuration.lane.start,
                gap: configuration.lane.gap,
                deletionsKept: configuration.store.deletionsKept.milliseconds,
                unwritten: configuration.store.unwrittenChanges
            ),
            logger: logger,
            progress: { [unowned self] read, total in
                report(restoring: stores.keys.sorted(), passed: read, of: total)
            }
        )
        return try restore.run(
            stores,
            over: link,
            at: context.clock(),
            newLineage: context.newLineage
        )
    }

    private func begin(_ number: Int32, _ result: Restore.Result) throws -> OwnedPartition {
        // An event in a transaction that was not committed was not sent.
        let isDoubtful = rules.repeatsEvents || rules.channels.hasSends
        var center = try PartitionCenter(
            rules: rules,
            limits: .init(configuration.center),
            store: result.store,
            zones: context.zones.database,
            firedThrough: isDoubtful ? result.marker?.firedThrough : nil,
            isDoubtFormer: result.marker?.hasKeyedIDs == false,
            at: context.clock()
        )
        let requests = result.inputs[.requests]
        center.lastRequest = .init(.requests, offset: requests.offset - 1, life: requests.life)
        center.keepsRecipients = result.marker?.keepsRecipients ?? false
        center.categories = categories
        center.locatedApplications = result.marker?.locatedApplications ?? []
        return OwnedPartition(
            center: center,
            inputs: result.inputs.map { InputProgress(position: $0.offset, life: $0.life) },
            lineage: result.lineage,
            stateEnd: context.guarantee == .atLeastOnce ? result.stateEnd : nil,
            firedThrough: result.marker?.firedThrough,
            // The marker of an earlier life may match the log again once the log has grown. And after this instance was
            // fenced, only a commit proves that no other process uses its id now.
            hasMarker: result.marker != nil && result.inputs.allSatisfy { !$1.isReborn }
                && (context.fenced == nil || commits > 0),
            replan: result.marker.flatMap(replan),
            catchUp: result.inputs.allSatisfy { $1.offset >= $1.end }
                ? nil
                : CatchUp(
                    from: result.inputs.map(\.offset),
                    to: result.inputs.map(\.end),
                    hasSends: intake.requests.channels.hasSends,
                    at: link.now
                )
        )
    }

    /// What was planned with another version of the time zone data is planned again.
    private func replan(after marker: StateMarker) -> PartitionCenter.Replan? {
        guard marker.timeZoneDataVersion != context.zones.database.version else { return nil }
        return PartitionCenter.Replan(from: marker.timeZoneDataVersion)
    }

    /// Replays the records that finished at once and are not in the changelog yet.
    private func replay(_ results: [Int32: Restore.Result]) throws {
        var ranges: [InputPartition: Range<Int64>] = [:]
        for place in InputPartition.all(of: results.keys.sorted()) {
            guard let replay = results[place.partition]?.inputs[place.input].replay, !replay.isEmpty else { continue }
            ranges[place] = replay
        }
        guard !ranges.isEmpty else { return }
        try link.readInputs(of: ranges, stallingAtMost: Restore.brokerDeadline) { record in
            guard let result = results[record.partition], let then = result.marker?.wallTime else { return }
            let life = result.inputs[record.input].life
            var record = record
            if spans != nil { record.nameIntake() }
            // Dead letters were published before, and none of these was rejected because of its time.
            guard let input = try? intake.input(from: record, life: life, at: then, isReadAgain: true) else { return }
            try owned[record.partition]?.center.replay(input, at: then)
        }
        for (place, range) in ranges {
            guard let start = results[place.partition]?.inputs[place.input] else { continue }
            owned[place.partition]?.center.endReplay(
                before: .init(place.input, offset: range.upperBound, life: start.life),
                of: start.offset
            )
        }
    }

    private func noteRestored(_ results: [Int32: Restore.Result]) {
        context.metrics.count(keylessState: results.values.reduce(0) { $0 + $1.keyless })
        let records = results.values.reduce(0) { $0 + $1.records }
        let pending = results.keys.reduce(0) { $0 + (owned[$1]?.center.pendingCount ?? 0) }
        guard records > 0 else { return }
        logger.info(
            "restored",
            metadata: [
                LogMetadata.partitions: "\(results.keys.sorted())", "records": "\(records)", "pending": "\(pending)",
            ]
        )
    }

    /// Gives up partitions:
    ///
    /// 1. nothing more is read: this method runs instead;
    /// 2. sends in progress get half of the time to be answered, and are then given up;
    /// 3. completed work is checkpointed by the deadline or, in a transaction, aborted. Changes that the next owner can
    ///    replay from the requests are included as far as there is time;
    /// 4. every timer is dropped, and the stores are kept for the next owner in this process.
    ///
    /// A lost assignment may already have another owner: nothing is committed.
    func revoke(_ numbers: [Int32], lost: Bool, deadline: ContinuousClock.Instant) {
        context.metrics.count(lost ? .lost : .revoked)
        var isCheckpointed = false
        if !lost, !hasFailed {
            do {
                try awaitSends(before: deadline)
                switch try finishCheckpoint(by: deadline) {
                case .safe: isCheckpointed = true
                case .onlyOpenWhatCouldWait: isCheckpointed = giveUpWhatCouldWait()
                case .open: break
                }
            } catch {
                logger.error("the checkpoint before the revocation failed", metadata: [LogMetadata.error: "\(error)"])
            }
        }
        if !isCheckpointed {
            abortTransaction()
            mustRestart = lost ? .assignmentLost : .notCheckpointedBeforeRevoke
        }
        cancelSends { numbers.contains($0.partition) }
        cancelEnrichments { numbers.contains($0.partition) }
        for number in numbers { release(number, isStoreSound: true) }
        context.health.notReady(
            lost
                ? "the session with the group is lost: the broker does not answer, or answered too late"
                : "partitions are being reassigned"
        )
        reportStatus()
    }

    /// Aborts the transaction with the changes that could wait. Without a transaction, records in flight could arrive
    /// after those of the next owner.
    ///
    /// - Returns: whether nothing remains in flight.
    private func giveUpWhatCouldWait() -> Bool {
        guard context.guarantee == .exactlyOnce, abortTransaction() else { return false }
        discardCheckpoint()
        return true
    }

    /// The store holds committed changes only, so it can be a base whatever the outcome of the other changes.
    private func release(_ number: Int32, isStoreSound: Bool) {
        heldSignals.drop(number)
        guard let partition = owned.remove(number) else { return }
        if let queries { context.queries?.close(number, queries) }
        if isStoreSound {
            context.stores.giveBack(partition.center.store, of: number, at: link.now)
        } else {
            partition.center.close(flushing: false)
        }
    }

    // MARK: - The end

    /// Stops reading, and waits within the time limit until all work is acknowledged and checkpointed.
    package func drain() {
        context.health.notReady("shutting down")
        link.pauseReading()
        let deadline = link.now.advanced(by: configuration.drainTimeout / 2)
        do {
            try awaitSends(before: deadline)
            if case .open = try finishCheckpoint(by: deadline) {
                logger.error("not all work was committed in time; the next start repeats the rest")
            }
        } catch {
            hasFailed = true
            logger.error(
                "the final checkpoint failed; the next start repeats the uncommitted work",
                metadata: [LogMetadata.error: "\(error)"]
            )
        }
    }

    private func cancelSideWork() {
        cancelSends()
        cancelEnrichments()
    }

    /// Leaves the group and frees everything.
    ///
    /// - Parameter error: the error of a turn; uncommitted work is discarded.
    package func close(after error: (any Error)? = nil) {
        if error != nil {
            hasFailed = true
            abortTransaction()
            cancelSideWork()
        }
        var isStoreSound = true
        if case .storeFailed = error as? LaneEnd {
            isStoreSound = false
            for number in owned.numbers { release(number, isStoreSound: false) }
        }
        link.close(within: configuration.drainTimeout / 2)
        cancelSideWork()
        for number in owned.numbers { release(number, isStoreSound: isStoreSound) }
        putBackChannelChanges()
        queries?.close()
        letters.end(logger)
        context.metrics.flush()
        context.health.remark(nil)
        context.status.update { $0 = .init() }
    }
}
