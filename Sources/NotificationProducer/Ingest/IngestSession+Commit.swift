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
            ? configuration.commitInterval : min(configuration.commitInterval, IngestTransactions.longestInterval)
    }

    var untilCommit: Duration { commitInterval - (clock.now - lastCommit) }

    func commitWhenDue() {
        let isFull = (transactions?.records ?? 0) >= configuration.maximumTransactionRecords
        guard isCommitDue || isFull || untilCommit <= .zero else { return }
        guard let transactions else {
            lastCommit = clock.now
            commitBehind()
            return
        }
        guard transactions.isOpen || !tracker.committable().isEmpty else {
            lastCommit = clock.now
            return
        }
        // Read nothing more until everything is acknowledged.
        isCommitDue = true
        guard isSettled else { return }
        commitNow(until: clock.now + configuration.commitTimeout)
        lastCommit = clock.now
        isCommitDue = false
    }

    /// Commits without waiting for the answer.
    private func commitBehind() {
        let offsets = tracker.committable()
        guard !offsets.isEmpty else { return }
        do {
            try consumer.commit(topicPartitions(offsets), within: nil)
            tracker.committed(offsets)
            metrics.record(committedAt: now())
        } catch {
            logger.warning("committing offsets failed; retrying", metadata: [LogMetadata.error: "\(error)"])
        }
    }

    /// Commits all acknowledged offsets again, even those already committed: an asynchronous commit may have failed.
    /// With a transaction it commits all offsets read, which are acknowledged then.
    private func commitNow(_ partitions: Set<Int32>? = nil, until deadline: ContinuousClock.Instant) {
        let offsets = tracker.lowWaterMarks(of: partitions)
        guard let transactions else {
            guard !offsets.isEmpty else { return }
            do {
                let left = max(deadline - clock.now, .milliseconds(100))
                try consumer.commit(topicPartitions(offsets), within: left)
                tracker.committed(offsets)
                metrics.record(committedAt: now())
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
            try transactions.commit(topicPartitions(tracker.lowWaterMarks()), until: deadline) {
                report($0.tag, $0.error)
            }
            noteCommit()
            tracker.committed(offsets)
            metrics.record(committedAt: now())
        } catch {
            failure = failure ?? error
        }
    }

    /// Aborts the open transaction: its events count as unread.
    private func abort(until deadline: ContinuousClock.Instant) {
        guard let transactions, transactions.isOpen else { return }
        isCommitDue = false
        do throws(KafkaTransactionFailure) {
            try transactions.abort(until: deadline) { giveUp($0) }
        } catch {
            logger.warning(
                "the transaction was not aborted; the next producer of this instance ends it",
                metadata: [LogMetadata.error: "\(error)"]
            )
            failure = failure ?? error
        }
        dropBacklog { _ in true }
        tracker.drop(Set(tracker.lowWaterMarks().keys))
    }

    private func topicPartitions(_ offsets: [Int32: Int64]) -> [KafkaTopicPartition: Int64] {
        let topic = configuration.topics.businessEvents
        return Dictionary(
            uniqueKeysWithValues: offsets.map { (KafkaTopicPartition(topic: topic, partition: $0), $1) }
        )
    }

    // MARK: Rebalance

    func assigned(_ partitions: Set<KafkaTopicPartition>) -> [KafkaTopicPartition: Int64] {
        noteContact()
        metrics.count(.assigned)
        logger.info(
            "partitions assigned",
            metadata: ["partitions": "\(partitions.map(\.partition).sorted())"]
        )
        return [:]
    }

    func revoked(_ partitions: Set<KafkaTopicPartition>, lost: Bool, until deadline: ContinuousClock.Instant) {
        metrics.count(lost ? .lost : .revoked)
        let ids = Set(partitions.map(\.partition))
        if !lost && !isClosing {
            settle(until: deadline - .milliseconds(transactions == nil ? 500 : 3_000))
            if transactions == nil || isSettled { commitNow(ids, until: deadline - .seconds(1)) }
        }
        // Lost, not acknowledged in time, or refused: all partitions are revoked together, so the whole transaction can
        // be aborted.
        abort(until: deadline)
        tracker.drop(ids)
        // The new owner reads these events again.
        dropBacklog { ids.contains($0.source) }
        // Resume them while they are assigned: otherwise the consumer would treat them as paused when they return.
        consumer.resume(pausedPartitions.intersection(partitions))
        pausedPartitions.subtract(partitions)
        lag.remove(ids)
        logger.info(
            "partitions revoked",
            metadata: ["partitions": "\(ids.sorted())", "lost": "\(lost)"]
        )
    }

    private func dropBacklog(_ isDropped: (OutgoingRecord) -> Bool) {
        for record in backlog where isDropped(record) { tracker.acknowledge(record.slot) }
        backlog.removeAll(where: isDropped)
    }

    /// Nothing is in flight, and nothing was refused.
    private var isSettled: Bool { failure == nil && backlog.isEmpty && tracker.waiting == 0 }

    /// Waits for the records in flight.
    private func settle(until deadline: ContinuousClock.Instant) {
        while clock.now < deadline, failure == nil, !isSettled {
            sendBacklog()
            serveReports(within: .milliseconds(10))
        }
    }

    // MARK: The end

    func drain(until deadline: ContinuousClock.Instant) {
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

    func close() {
        if transactions != nil {
            abort(until: clock.now + .seconds(2))
        } else if failure != nil {
            commitNow(until: clock.now + .seconds(2))
        }
        isClosing = true
        lag.removeAll()
        consumer.close(within: .seconds(5))
        lane.close(within: .zero)
    }
}
