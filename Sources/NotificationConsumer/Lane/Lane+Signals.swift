import Kafka
import NotificationModel
import NotificationState

/// The order of signals and requests; see `HeldSignals`.
extension Lane {
    /// Applies a record now, or holds a signal until the requests before it are applied.
    func take(_ record: Intake.Record, at now: Timestamp, _ copy: () -> KafkaConsumerRecord) throws {
        guard record.input == .signals else {
            // Signals wait for requests only: a newer record of another input says nothing of the requests before it.
            if record.input == .requests, !heldSignals.isEmpty {
                try applyHeld(of: record.partition, at: now, before: record.timestamp)
                // The rest of a signal comes before the request, too.
                while let place = owned.unfinished { try takePiece(of: place) }
            }
            return try apply(record, at: now, copy)
        }
        // Both would change the order of the signals of a partition: wait behind those that wait.
        guard owned.contains(record.partition) else { return }
        if heldSignals.isHolding(record.partition) || hasUnreadRequests(record.partition) {
            if heldSignals.isFull { try applyHeld(of: heldSignals.numbers.first ?? record.partition, at: now) }
            heldSignals.append(record, copy(), at: link.now)
        } else {
            try apply(record, at: now, copy)
        }
    }

    private func hasUnreadRequests(_ number: Int32) -> Bool {
        guard let position = owned[number]?.inputs[.requests].position else { return false }
        return link.lag(of: InputPartition(.requests, number), after: position) != 0
    }

    /// Applies the waiting signals that are older than a request which is about to be applied. Without a timestamp its order
    /// is not known.
    private func applyHeld(of number: Int32, at now: Timestamp, before timestamp: Int64?) throws {
        guard let timestamp, heldSignals.isHolding(number) else { return }
        while owned.unfinished == nil,
            let held = heldSignals.popFirst(of: number, where: { $0.record.timestamp ?? timestamp < timestamp })
        {
            try apply(held.record, at: now) { held.copy }
        }
    }

    /// Applies the first waiting signal of a partition.
    private func applyHeld(of number: Int32, at now: Timestamp) throws {
        guard let held = heldSignals.popFirst(of: number, where: { _ in true }) else { return }
        try apply(held.record, at: now) { held.copy }
    }

    /// Applies the waiting signals of partitions whose requests are read, and those that waited long enough.
    func applyReadySignals() throws {
        guard !heldSignals.isEmpty else { return }
        let (now, instant) = (context.clock(), link.now)
        for number in heldSignals.numbers {
            guard owned.contains(number) else {
                heldSignals.drop(number)
                continue
            }
            let isReady = !hasUnreadRequests(number)
            while owned.unfinished == nil, !isCheckpointFull, sends.room > 0,
                let held = heldSignals.popFirst(of: number, where: { isReady || $0.until <= instant })
            {
                try apply(held.record, at: now) { held.copy }
            }
        }
    }
}
