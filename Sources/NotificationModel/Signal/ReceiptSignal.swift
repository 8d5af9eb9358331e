/// How far a notification came on a device: the value of a `carillon.signal.receipt.v1` record.
public struct ReceiptSignal: Sendable, Hashable {
    /// The steps, in their usual order.
    public enum Receipt: String, CaseIterable, Sendable, Hashable {
        /// The device has it.
        case received
        /// The device showed it.
        case presented
        /// The person opened it.
        case opened
    }

    /// The application; nil for the service's default one.
    public var application: String?
    /// The notification.
    public var identifier: String
    /// The request that the device has.
    public var requestID: RequestID
    /// The device.
    public var device: String
    /// The step.
    public var receipt: Receipt

    /// A receipt.
    public init(
        application: String? = nil,
        identifier: String,
        requestID: RequestID,
        device: String,
        receipt: Receipt
    ) {
        (self.application, self.identifier, self.requestID) = (application, identifier, requestID)
        (self.device, self.receipt) = (device, receipt)
    }
}

extension ReceiptSignal: SignalValue {
    static let fields: [SignalMembers.Field] = [.application, .identifier, .requestID, .device, .receipt]

    init(_ members: SignalMembers) throws(ModelError) {
        application = members.application
        identifier = try SignalMembers.required(members.identifier, .identifier)
        requestID = try SignalMembers.required(members.requestID, .requestID)
        device = try SignalMembers.required(members.device, .device)
        receipt = try SignalMembers.required(members.receipt, .receipt)
    }

    var members: SignalMembers {
        var members = SignalMembers(
            application: application,
            identifier: identifier,
            requestID: requestID,
            device: device
        )
        members.receipt = receipt
        return members
    }
}
