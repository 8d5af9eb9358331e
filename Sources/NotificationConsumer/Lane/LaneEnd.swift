import Kafka

/// Why a lane restarts.
package enum LaneEnd: Error, Equatable, CustomStringConvertible {
    case assignmentLost
    case notCheckpointedBeforeRevoke
    case checkpointStalled
    case suspended
    case firstMarkersNotWritten
    case changelogInterleaved
    case storeFailed(String)

    package var description: String {
        switch self {
        case .assignmentLost:
            "the session with the group was lost: the broker did not answer, or this process was suspended"
        case .notCheckpointedBeforeRevoke: "partitions were revoked before completed work could be committed"
        case .checkpointStalled: "no commit succeeded in time; another owner may be active"
        case .suspended: "this process was suspended for longer than the session timeout; another owner may be active"
        case .firstMarkersNotWritten:
            "the first markers of the assigned partitions were not acknowledged in time"
        case .changelogInterleaved: "another owner wrote to the changelog of a partition of this lane"
        case .storeFailed(let reason): "the local store failed: \(reason)"
        }
    }
}

extension LaneEnd {
    /// Whether no lane may be started after this error: continuing would lose or guess something, or a setting is
    /// wrong.
    package static func isFinal(_ error: any Error) -> Bool {
        switch error {
        case is ConsumerRefusal: true
        case let error as EntryStoreError: error.isOfConfiguration
        // If librdkafka rejects a property now, it will reject it the next time too.
        case let error as KafkaError: error.code == .invalidArgument
        default: false
        }
    }
}
