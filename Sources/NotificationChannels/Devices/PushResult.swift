import NotificationDelivery
import NotificationModel
import OutboundHTTP

extension ChannelResult {
    /// What it means that a push service takes what was made of a send.
    ///
    /// - Parameters:
    ///   - changes: what it lacks.
    ///   - removal: what a removal does to what the device shows.
    init(takenFor kind: ChannelSend.Kind, lacking changes: [PayloadChange], removal: RemovalOutcome = .requested) {
        switch kind {
        case .remove: self = .removed(removal)
        case .deliver:
            let reduced = ReducedPart.allCases.filter(changes.compactMap(\.reducedPart).contains)
            self = reduced.isEmpty ? .accepted : .reduced(reduced)
        }
    }
}

extension HTTP2Request.Priority {
    init(_ priority: WorkPriority) {
        switch priority {
        case .high: self = .high
        case .normal: self = .normal
        case .low: self = .low
        }
    }
}

extension OutboundFailure {
    /// The outcome of an attempt without an answer.
    var result: ChannelResult {
        if isSent { return .unanswered(retryAfter: nil) }
        switch clientCode {
        // It waited for a stream until its deadline, or had no room to wait.
        case .overloaded?, .cancelled?, .timedOut?: return .deferred(retryAfter: nil)
        default: return .failed(retryAfter: nil)
        }
    }
}
