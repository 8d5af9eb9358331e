import NotificationDelivery
import OutboundHTTP

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
