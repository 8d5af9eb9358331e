/// A token that its platform calls gone: the value of a `carillon.signal.retirement.v1` record. A registration that is
/// newer than ``gone`` stays.
public struct RetirementSignal: Sendable, Hashable {
    /// The application; nil for the service's default one.
    public var application: String?
    /// The device.
    public var device: String
    /// The token, 1 to 4,096 bytes; compare it with ``DeviceRegistration/hasToken(_:)``. In hexadecimal it is in the
    /// normal form of a registration's. Nil for whatever token the device has.
    public var token: String?
    /// When the platform knew that it is gone.
    public var gone: Timestamp

    /// A retirement.
    public init(application: String? = nil, device: String, token: String? = nil, gone: Timestamp) {
        (self.application, self.device, self.gone) = (application, device, gone)
        self.token = token.map { DeviceToken.hexadecimal($0) ?? $0 }
    }
}

extension RetirementSignal: SignalValue {
    static let fields: [SignalMembers.Field] = [.application, .device, .token, .gone]

    init(_ members: SignalMembers) throws(ModelError) {
        try self.init(
            application: members.application,
            device: SignalMembers.required(members.device, .device),
            token: members.token,
            gone: SignalMembers.required(members.gone, .gone)
        )
    }

    var members: SignalMembers {
        var members = SignalMembers(application: application, device: device)
        (members.token, members.gone) = (token, gone)
        return members
    }
}
