import Kafka
import Logging
import NotificationModel
import ServiceSupport

/// Commits: the one step in which the two guarantees differ, when it is due, and what happens when a partition or the
/// session ends.
extension IngestSession {
    /// An open transaction blocks readers and has a timeout, so its interval is limited.
    private var commitInterval: Duration {
        transactions == nil
            ? configuration.commitInterval : min(configuration.commitInterval, IngestTimes.longestTransaction)
    }

    var untilCommit: Duration { commitInterval - (link.now - lastCommit) }

    func commitWhenDue() {
        let isFull = transactions != nil && transactionRecords >= configuration.maximumTransactionRecords
        guard isCommitDue || isFull || untilCommit <= .zero else { return }
        guard let transactions else {
            lastCommit = link.now
            commitBehind()
            return
        }
        guard transactions.isOpen || !tracker.committable().isEmpty else {
            lastCommit = link.now
            return
        }
        // Read nothing more until everything is acknowledged.
        isCommitDue = true
        guard isSettled else { return }
        commitNow(until: link.now + configuration.commitTimeout)
        lastCommit = link.now
        isCommitDue = false
    }

    /// Commits without waiting for the answer.
    private func commitBehind() {
        let offsets = tracker.committable()
        guard !offsets.isEmpty else { return }
        do {
            try link.commitOffsets(offsets, within: nil)
            tracker.committed(offsets)
            metrics.record(committedAt: context.now())
        } catch {
            logger.warning("committing offsets failed; retrying", metadata: [LogMetadata.error: "\(error)"])
        }
    }

    /// Commits all acknowledged offsets again, even those already committed: an asynchronous commit may have failed.
    /// With a transaction it commits all offsets read, which are acknowledged then.
    private func commitNow(_ partitions: Set<IngestPartition>? = nil, until deadline: ContinuousClock.Instant) {
        let offsets = tracker.lowWaterMarks(of: partitions)
        guard let transactions else {
            guard !offsets.isEmpty else { return }
            do {
                let left = max(deadline - link.now, .milliseconds(100))
                try link.commitOffsets(offsets, within: left)
                tracker.committed(offsets)
                metrics.record(committedAt: context.now())
            } catch {
                logger.warning(
                    "committing offsets failed; their events will be read again with the same request ids",
                    metadata: [LogMetadata.error: "\(error)"]
                )
            }
            return
        }
        guard transactions.isOpen || !tracker.committable().isEmpty else { return }
        do throws(KafkaTransactionFailure) {
            // Of every partition with events read, whichever are leaving: they are one transaction.
            try transactions.sendOffsets(tracker.lowWaterMarks(), until: deadline)
            try transactions.commit(until: deadline)
            transactionRecords = 0
            noteCommit()
            tracker.committed(offsets)
            metrics.record(committedAt: context.now())
        } catch {
            failure = failure ?? error
        }
    }

    /// Aborts the open transaction: its events count as unread.
    private func abort(until deadline: ContinuousClock.Instant) {
        guard let transactions, transactions.isOpen else { return }
        isCommitDue = false
        do throws(KafkaTransactionFailure) {
            try transactions.abort(until: deadline)
        } catch {
            logger.warning(
                "the transaction was not aborted; the next producer of this instance ends it",
                metadata: [LogMetadata.error: "\(error)"]
            )
            failure = failure ?? error
        }
        // What becomes of its records is irrelevant.
        (transactionRecords, backlog) = (0, [])
        tracker.reset()
    }

    // MARK: Rebalance

    func assigned(_ partitions: [IngestPartition]) {
        noteContact()
        metrics.count(.assigned)
        logger.info("partitions assigned", metadata: [LogMetadata.partitions: names(of: partitions)])
    }

    func revoked(_ partitions: [IngestPartition], lost: Bool, until deadline: ContinuousClock.Instant) {
        metrics.count(lost ? .lost : .revoked)
        let ids = Set(partitions)
        if !lost && !isClosing {
            settle(until: deadline - .milliseconds(transactions == nil ? 500 : 3_000))
            if transactions == nil || isSettled { commitNow(ids, until: deadline - .seconds(1)) }
        }
        // Lost, not acknowledged in time, or refused: all partitions are revoked together, so the whole transaction can
        // be aborted.
        abort(until: deadline)
        tracker.drop(ids)
        // The new owner reads these events again.
        dropBacklog(of: ids)
        lag.remove(ids)
        logger.info(
            "partitions revoked",
            metadata: [LogMetadata.partitions: names(of: partitions), "lost": "\(lost)"]
        )
    }

    private func names(of partitions: [IngestPartition]) -> Logger.MetadataValue {
        .array(partitions.map { "\($0.input.name(in: configuration.topics))/\($0.number)" })
    }

    private func dropBacklog(of partitions: Set<IngestPartition>) {
        for record in backlog where partitions.contains(record.source) { tracker.acknowledge(record.slot) }
        backlog.removeAll { partitions.contains($0.source) }
    }

    /// Nothing is in flight, and nothing was refused.
    private var isSettled: Bool { failure == nil && backlog.isEmpty && tracker.waiting == 0 }

    /// Waits for the records in flight.
    private func settle(until deadline: ContinuousClock.Instant) {
        while link.now < deadline, failure == nil, !isSettled {
            sendBacklog()
            serveReports(within: .milliseconds(10))
        }
    }

    // MARK: The end

    package func drain() {
        let deadline = link.now + configuration.drainTimeout
        settle(until: deadline - (transactions == nil ? .seconds(1) : min(.seconds(3), configuration.drainTimeout / 2)))
        if tracker.waiting > 0 {
            logger.warning(
                "not all records were acknowledged in time; their events will be read again at the next start",
                metadata: [LogMetadata.count: "\(tracker.waiting)"]
            )
        }
        guard transactions == nil || isSettled else { return }
        commitNow(until: deadline)
        if let failure {
            logger.warning(
                "the last transaction was not committed; its events will be read again at the next start",
                metadata: [LogMetadata.error: "\(failure)"]
            )
        }
    }

    /// Aborts an open transaction, or commits what is acknowledged if the broker allows it, and leaves the group.
    package func close(after error: (any Error)? = nil) {
        if transactions != nil {
            abort(until: link.now + .seconds(2))
        } else if failure != nil {
            commitNow(until: link.now + .seconds(2))
        }
        isClosing = true
        letters.end(logger)
        lag.removeAll()
        link.close(within: .seconds(5))
    }
}
