import CRDKafka
import Logging
import Synchronization

/// The state of a consumer's callbacks. The rebalance callback runs on the polling thread, inside `poll`. The other
/// callbacks may run on any thread, and use locked state only.
final class RebalanceContext: RDKafkaContext {
    var onAssign: KafkaConsumer.AssignHook?
    var onRevoke: KafkaConsumer.RevokeHook?
    private(set) var assignment: Set<KafkaTopicPartition> = []
    /// Partitions paused by the consumer: resuming a partition that is not paused would rewind it (librdkafka before
    /// 2.4).
    var paused: Set<KafkaTopicPartition> = []
    /// While an assign hook runs: the partitions to pause with the assignment, before any of their records is polled.
    var pausedAtAssignment: Set<KafkaTopicPartition>?
    /// The deadline of any hook while the consumer closes.
    var limit: ContinuousClock.Instant?
    /// The owner has closed the consumer: callbacks, now on another thread, only acknowledge.
    let isClosing = Atomic(false)

    /// Failures among the commits without a wait.
    let failedCommits = Atomic(0)

    private let revokeTimeout: Duration
    private var failure: (any Error)?

    init(logger: Logger, revokeTimeout: Duration) {
        self.revokeTimeout = revokeTimeout
        super.init(logger: logger)
    }

    static func register(on conf: OpaquePointer?) {
        rd_kafka_conf_set_rebalance_cb(conf) { client, code, partitions, _ in
            guard let client, let context = RDKafkaContext.of(client) as? RebalanceContext else { return }
            context.rebalance(client, code, partitions)
        }
        rd_kafka_conf_set_offset_commit_cb(conf) { client, code, _, _ in
            guard code != RD_KAFKA_RESP_ERR_NO_ERROR, code != RD_KAFKA_RESP_ERR__NO_OFFSET else { return }
            guard let context = RDKafkaContext.of(client) as? RebalanceContext else { return }
            context.failedCommits.add(1, ordering: .relaxed)
            context.noteTrouble(KafkaError(code, doing: "commit offsets"))
        }
        rd_kafka_conf_set_error_cb(conf) { client, code, reason, _ in
            let text = reason.map { String(cString: $0) } ?? ""
            RDKafkaContext.of(client)?.noteTrouble(KafkaError(rd_kafka_resp_err_t(rawValue: code), doing: text))
        }
    }

    func takeFailure() -> (any Error)? {
        defer { failure = nil }
        return failure
    }

    /// Releases the owner's closures on the owner's thread.
    func forget() {
        (onAssign, onRevoke) = (nil, nil)
        (assignment, paused) = ([], [])
    }

    /// Assigns partitions, for the owner or for the group.
    func assign(_ offsets: [KafkaTopicPartition: Int64], to client: OpaquePointer) throws(KafkaError) {
        resumeAll(client)
        let list = RDKafkaTopicPartitionList(offsets)
        try KafkaError.check(list.withPointer { rd_kafka_assign(client, $0) }, doing: "assign partitions")
        assignment = Set(offsets.keys)
    }

    /// Before partitions leave: a partition that returns while librdkafka still has it paused would not be fetched.
    private func resumeAll(_ client: OpaquePointer) {
        guard !paused.isEmpty else { return }
        RDKafkaTopicPartitionList(paused).withPointer { _ = rd_kafka_resume_partitions(client, $0) }
        paused = []
    }

    /// Pauses assigned partitions that are not paused yet.
    func pause(_ partitions: Set<KafkaTopicPartition>, on client: OpaquePointer) {
        guard !partitions.isEmpty else { return }
        RDKafkaTopicPartitionList(partitions).withPointer { _ = rd_kafka_pause_partitions(client, $0) }
        paused.formUnion(partitions)
    }

    private func rebalance(
        _ client: OpaquePointer,
        _ code: rd_kafka_resp_err_t,
        _ partitions: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
    ) {
        guard !isClosing.load(ordering: .acquiring) else {
            rd_kafka_assign(client, nil)
            return
        }
        let places = partitions.map { Set(RDKafkaTopicPartitionList.elements(of: $0).map(\.place)) } ?? []
        guard code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS else {
            revoke(client, places)
            return
        }
        pausedAtAssignment = []
        defer { pausedAtAssignment = nil }
        do {
            let chosen = try onAssign?(places) ?? [:]
            var offsets: [KafkaTopicPartition: Int64] = [:]
            for place in places { offsets[place] = chosen[place] ?? Int64(RD_KAFKA_OFFSET_INVALID) }
            try assign(offsets, to: client)
            pause((pausedAtAssignment ?? []).intersection(assignment), on: client)
        } catch {
            failure = error
            rd_kafka_assign(client, nil)
            assignment = []
        }
    }

    private func revoke(_ client: OpaquePointer, _ places: Set<KafkaTopicPartition>) {
        if !assignment.isEmpty, let onRevoke {
            let budget = ContinuousClock.now.advanced(by: revokeTimeout)
            let deadline = limit.map { min($0, budget) } ?? budget
            onRevoke(places, rd_kafka_assignment_lost(client) != 0, deadline)
            if ContinuousClock.now > deadline {
                logger.warning("the revoke hook took longer than its budget: the group may remove this member")
            }
        }
        resumeAll(client)
        rd_kafka_assign(client, nil)
        assignment = []
    }
}
