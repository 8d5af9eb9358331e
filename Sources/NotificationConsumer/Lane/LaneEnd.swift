import Kafka

/// Why a lane begins anew.
package enum LaneEnd: Error, Equatable, CustomStringConvertible {
    case assignmentLost
    case notCheckpointedBeforeRevoke
    case checkpointStalled
    case stoodStill
    case firstMarkersNotWritten
    case changelogInterleaved
    case storeFailed(String)

    package var description: String {
        switch self {
        case .assignmentLost:
            "the session with the group was lost: the broker did not answer, or this process stood still"
        case .notCheckpointedBeforeRevoke: "partitions left before what was done could be committed"
        case .checkpointStalled: "nothing could be committed in time; another owner may be at work"
        case .stoodStill: "this process stood still for longer than the session timeout; another owner may be at work"
        case .firstMarkersNotWritten:
            "the first markers of the assigned partitions were not acknowledged in time"
        case .changelogInterleaved: "another owner wrote to the changelog of a partition of this lane"
        case .storeFailed(let reason): "the local store failed: \(reason)"
        }
    }
}

extension LaneEnd {
    /// Whether no lane may follow one that threw this: going on would lose or guess something, or a setting is wrong.
    static func isFinal(_ error: any Error) -> Bool {
        switch error {
        case is ConsumerRefusal: true
        case let error as EntryStoreError: error.isOfConfiguration
        // A property that librdkafka does not take now it does not take the next time either.
        case let error as KafkaError: error.code == .invalidArgument
        default: false
        }
    }
}
