/// What a gateway says about its attempt at a device: the value of a `carillon.signal.report.v1` record.
public struct ReportSignal: Sendable, Hashable {
    /// What became of the attempt.
    public enum Outcome: String, CaseIterable, Sendable, Hashable {
        /// The platform took it.
        case accepted
        /// The platform refused it.
        case rejected
        /// The platform no longer knows the token.
        case unregistered
        /// The platform did not take it yet, and the gateway tries again.
        case deferred
    }

    /// The application; nil for the service's default one.
    public var application: String?
    /// The notification.
    public var identifier: String
    /// The request that was attempted.
    public var requestID: RequestID
    /// The device.
    public var device: String
    /// What became of it.
    public var outcome: Outcome
    /// Why, in the gateway's or the platform's words; at most 256 bytes.
    public var reason: String?

    /// A report.
    public init(
        application: String? = nil,
        identifier: String,
        requestID: RequestID,
        device: String,
        outcome: Outcome,
        reason: String? = nil
    ) {
        (self.application, self.identifier, self.requestID) = (application, identifier, requestID)
        (self.device, self.outcome, self.reason) = (device, outcome, reason)
    }
}

extension ReportSignal: SignalValue {
    static let fields: [SignalMembers.Field] = [.application, .identifier, .requestID, .device, .outcome, .reason]

    init(_ members: SignalMembers) throws(ModelError) {
        application = members.application
        identifier = try SignalMembers.required(members.identifier, .identifier)
        requestID = try SignalMembers.required(members.requestID, .requestID)
        device = try SignalMembers.required(members.device, .device)
        outcome = try SignalMembers.required(members.outcome, .outcome)
        reason = members.reason
    }

    var members: SignalMembers {
        var members = SignalMembers(
            application: application,
            identifier: identifier,
            requestID: requestID,
            device: device
        )
        (members.outcome, members.reason) = (outcome, reason)
        return members
    }
}
