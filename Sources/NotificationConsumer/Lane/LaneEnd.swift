/// Why a lane begins anew.
package enum LaneEnd: Error, Equatable, CustomStringConvertible {
    case assignmentLost
    case notCheckpointedBeforeRevoke
    case checkpointStalled
    case stoodStill
    case firstMarkersNotWritten
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
        case .storeFailed(let reason): "the local store failed: \(reason)"
        }
    }
}
