import CRDKafka
import Logging
import Synchronization

/// What the callbacks of a consumer work on. The rebalance callback runs on the polling thread, inside `poll`; the
/// others may too, and touch only what is locked.
final class RebalanceContext: RDKafkaContext {
    var onAssign: KafkaConsumer.AssignHook?
    var onRevoke: KafkaConsumer.RevokeHook?
    var assignment: Set<KafkaTopicPartition> = []

    private let revokeTimeout: Duration
    private var failure: (any Error)?
    private var freshlyAssigned: Set<KafkaTopicPartition> = []
    private let lastTrouble = Mutex<(code: KafkaError.Code, at: ContinuousClock.Instant)?>(nil)

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
            (RDKafkaContext.of(client) as? RebalanceContext)?.noteTrouble(KafkaError(code, doing: "commit offsets"))
        }
        rd_kafka_conf_set_error_cb(conf) { client, code, reason, _ in
            let text = reason.map { String(cString: $0) } ?? ""
            let error = KafkaError(rd_kafka_resp_err_t(rawValue: code), doing: text)
            (RDKafkaContext.of(client) as? RebalanceContext)?.noteTrouble(error)
        }
    }

    func takeFailure() -> (any Error)? {
        defer { failure = nil }
        return failure
    }

    /// Those of the partitions that were assigned since they were paused.
    func assignedAnew(_ partitions: Set<KafkaTopicPartition>) -> Set<KafkaTopicPartition> {
        defer { freshlyAssigned.subtract(partitions) }
        return freshlyAssigned.intersection(partitions)
    }

    /// Logs trouble that mends itself, each kind at most every 10 s.
    func noteTrouble(_ error: KafkaError) {
        let isNews = lastTrouble.withLock { last in
            let now = ContinuousClock.now
            if let last, last.code == error.code, now - last.at < .seconds(10) { return false }
            last = (error.code, now)
            return true
        }
        if isNews { logger.warning("kafka trouble", metadata: ["error": "\(error)"]) }
    }

    private func rebalance(
        _ client: OpaquePointer,
        _ code: rd_kafka_resp_err_t,
        _ partitions: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
    ) {
        let places = partitions.map { Set(RDKafkaTopicPartitionList.elements(of: $0).map(\.place)) } ?? []
        guard code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS else {
            revoke(client, places)
            return
        }
        do {
            let offsets = try onAssign?(places) ?? [:]
            let list = RDKafkaTopicPartitionList(
                places.map { (key: $0, value: offsets[$0] ?? Int64(RD_KAFKA_OFFSET_INVALID)) }
            )
            try KafkaError.check(rd_kafka_assign(client, list.pointer), doing: "assign partitions")
            assignment = places
            freshlyAssigned = places
        } catch {
            failure = error
            rd_kafka_assign(client, nil)
        }
    }

    private func revoke(_ client: OpaquePointer, _ places: Set<KafkaTopicPartition>) {
        if !assignment.isEmpty {
            onRevoke?(places, rd_kafka_assignment_lost(client) != 0, .now.advanced(by: revokeTimeout))
        }
        rd_kafka_assign(client, nil)
        assignment = []
    }
}
