import Kafka

/// The transactions by transactional id: which producer may write, which partitions and offsets the open transaction
/// contains, and when it times out.
final class TransactionCoordinator {
    /// The member of the group that sends offsets.
    struct GroupMember: Hashable {
        var id: String
        var generation: Int
    }

    private enum State: Equatable {
        case empty, ongoing
        case ended(commit: Bool)
    }

    private struct Entry {
        var producer: ProducerStamp
        var state = State.empty
        /// In the order in which the producer added them.
        var partitions: [(topic: String, partition: Int32)] = []
        var offsets: [GroupOffset] = []
        /// The group of the offsets.
        var group: GroupCoordinator
        /// Identifies the transaction, so that its timeout does not end the next one.
        var number = 0
    }

    /// The transaction timeout in microseconds: the coordinator aborts a transaction that is open for longer.
    static let timeout: Int64 = 10_000_000

    private unowned let broker: SimulatedBroker
    private var entries: [String: Entry] = [:]
    /// By id: writes the end of a transaction that is decided, but not yet in the partitions.
    private var unwritten: [String: () -> Void] = [:]
    /// By id: the offsets of committed transactions whose end is not written yet.
    private var unwrittenOffsets: [String: (group: GroupCoordinator, places: [KafkaTopicPartition])] = [:]
    /// The time between the coordinator's answer and the control records in the partitions, in microseconds.
    var writingTime: () -> Int64 = { 0 }

    init(broker: SimulatedBroker) {
        self.broker = broker
    }

    /// Gives a producer the transactional id: aborts an open transaction, and fences older producers.
    func initialise(_ id: String) -> ProducerStamp {
        if entries[id]?.state == .ongoing { end(id, commit: false, bumping: true) }
        write(id)
        var entry =
            entries[id] ?? Entry(producer: ProducerStamp(id: broker.newProducerID(), epoch: -1), group: broker.group)
        entry.producer.epoch += 1
        entry.state = .empty
        entries[id] = entry
        return entry.producer
    }

    /// - Throws: `.producerFenced` when a newer producer has the id.
    func check(_ id: String, _ producer: ProducerStamp) throws(KafkaError) {
        guard let entry = entries[id], entry.producer == producer else { throw .producerFenced }
    }

    /// Adds a partition to the open transaction, or opens one with it.
    func add(_ topic: String, _ partition: Int32, to id: String, _ producer: ProducerStamp) throws(KafkaError) {
        try open(id, producer)
        guard entries[id]?.partitions.contains(where: { $0.topic == topic && $0.partition == partition }) == false
        else {
            return
        }
        entries[id]?.partitions.append((topic, partition))
    }

    /// Adds offsets of the group to the transaction; they take effect when it is committed.
    ///
    /// - Throws: `.illegalGeneration`, `.unknownMember`: these fence a member that the group has removed.
    func add(
        offsets: [GroupOffset],
        from member: GroupMember,
        of group: GroupCoordinator,
        to id: String,
        _ producer: ProducerStamp
    ) throws(KafkaError) {
        try check(id, producer)
        try group.check(member.id, generation: member.generation)
        try open(id, producer)
        entries[id]?.group = group
        for (place, offset) in offsets {
            entries[id]?.offsets.removeAll { $0.place == place }
            entries[id]?.offsets.append((place, offset))
        }
    }

    /// Ends the open transaction; ending it again in the same way changes nothing.
    func end(_ id: String, _ producer: ProducerStamp, commit: Bool) throws(KafkaError) {
        try check(id, producer)
        switch entries[id]?.state {
        case .ongoing: end(id, commit: commit, bumping: false)
        case .ended(commit): return
        default: throw .wrongTransactionState
        }
    }

    /// Whether the id has an open transaction.
    func isOpen(_ id: String) -> Bool { entries[id]?.state == .ongoing }

    /// Whether the end of a transaction is decided, but not yet in its partitions.
    var isWriting: Bool { !unwritten.isEmpty }

    /// Whether a transaction may still commit an offset of one of the partitions: it is open, or its end is not written.
    func hasPendingOffsets(of group: GroupCoordinator, _ places: Set<KafkaTopicPartition>) -> Bool {
        entries.values.contains { entry in
            entry.state == .ongoing && entry.group === group && entry.offsets.contains { places.contains($0.place) }
        }
            || unwrittenOffsets.values.contains { pending in
                pending.group === group && pending.places.contains { places.contains($0) }
            }
    }

    private func open(_ id: String, _ producer: ProducerStamp) throws(KafkaError) {
        try check(id, producer)
        guard let entry = entries[id], entry.state != .ongoing else { return }
        // The client waits until the previous transaction has ended.
        write(id)
        entries[id]?.state = .ongoing
        entries[id]?.number += 1
        let number = entry.number + 1
        broker.timeline.add(after: Self.timeout) { [unowned self] in
            broker.whenThere { [unowned self] in
                guard let entry = entries[id], entry.state == .ongoing, entry.number == number else { return }
                end(id, commit: false, bumping: true)
            }
        }
    }

    /// - Parameter bumping: The coordinator ends it without a request of its producer, which it fences.
    private func end(_ id: String, commit: Bool, bumping: Bool) {
        guard var entry = entries[id] else { return }
        if bumping { entry.producer.epoch += 1 }
        let (producer, partitions, offsets) = (entry.producer, entry.partitions, entry.offsets)
        let group = entry.group
        if commit { unwrittenOffsets[id] = (group, offsets.map(\.place)) }
        unwritten[id] = { [unowned broker] in
            for (topic, partition) in partitions {
                broker.log(topic, partition).endTransaction(of: producer, commit: commit, at: broker.wall)
            }
            if commit { group.store(offsets) }
            broker.noteActivity()
        }
        let (time, number) = (writingTime(), entry.number)
        if time == 0 {
            write(id)
        } else {
            broker.timeline.add(after: time) { [unowned self] in
                if entries[id]?.number == number { write(id) }
            }
        }
        entry.state = .ended(commit: commit)
        entry.partitions = []
        entry.offsets = []
        entries[id] = entry
    }

    /// Writes the end of a transaction to its partitions; its records and offsets take effect now.
    private func write(_ id: String) {
        unwrittenOffsets[id] = nil
        unwritten.removeValue(forKey: id)?()
    }
}
