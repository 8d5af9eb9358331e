package import NotificationModel

/// The tokens of Live Activities. A phone is one target of an activity, whether a push or the app has started it: the token to start
/// it and that of the activity itself are registered under two names, and the target has the first.
extension RecipientRecord.RegisteredDevice {
    /// Whether content of Live Activities may be sent to it.
    package var takesActivities: Bool {
        guard isActive, registration.platform == Self.platform else { return false }
        switch registration.kind {
        case .broadcastChannel, .liveActivityStart: return true
        case .liveActivity: return registration.liveActivity != nil
        default: return false
        }
    }

    /// The only platform that has them.
    private static let platform = "apns"

    /// Whether its token is of a single activity, whose identifier is known: what ends with it is that activity only.
    package var isOfActivity: Bool {
        if case .activity? = registration.liveActivity { true } else { false }
    }

    /// The name of the target that it is a token of.
    package var target: String {
        if case .activity(_, let start?)? = registration.liveActivity { start } else { name }
    }

    /// Whether it starts activities of a type.
    fileprivate func starts(_ type: String) -> Bool {
        if case .start(let own)? = registration.liveActivity { own.hasSameUTF8(as: type) } else { false }
    }

    /// Whether it updates and ends the activity of an identifier.
    fileprivate func updates(_ identifier: String) -> Bool {
        if case .activity(let own, _)? = registration.liveActivity { own.hasSameUTF8(as: identifier) } else { false }
    }
}

extension RecipientRecord {
    /// The names of the targets of a Live Activity, in the order of the registrations.
    ///
    /// - Parameters:
    ///   - identifier: of the activity.
    ///   - type: of the activities that the content can start; nil when it starts none.
    ///   - isShown: whether a target shows the activity already.
    package func activityTargets(
        of identifier: String,
        starting type: String?,
        _ isShown: (String) -> Bool
    ) -> [String] {
        var names: [String] = []
        for index in registrations.indices where registrations[index].takesActivities {
            let device = registrations[index]
            let name = device.target
            let isOne: Bool
            switch device.registration.kind {
            case .liveActivityStart: isOne = type.map(device.starts) ?? false || isShown(name)
            case .liveActivity: isOne = device.updates(identifier) && !isOrdinary(name)
            default: isOne = true
            }
            if isOne, !names.containsUTF8(of: name) { names.append(name) }
        }
        return names
    }

    /// Whether an ordinary device has the name, which takes notifications only.
    private func isOrdinary(_ name: String) -> Bool {
        registrations.contains { $0.registration.kind == .device && $0.name.hasSameUTF8(as: name) }
    }

    /// The token by which a target gets what changes its activity: the one registered last. Nil when the app has registered none.
    package func activityToken(on target: String, of identifier: String) -> RegisteredDevice? {
        activityTokens(on: target, of: identifier).last
    }

    /// The tokens of the activities of an identifier on a target, the one registered last at the end.
    package func activityTokens(on target: String, of identifier: String) -> [RegisteredDevice] {
        registrations
            .filter { $0.takesActivities && $0.updates(identifier) && $0.target.hasSameUTF8(as: target) }
            .sorted { $0.writtenAt < $1.writtenAt }
    }

    /// The name under which a token is registered.
    package func name(of registration: DeviceRegistration) -> String? {
        registrations.first { $0.registration.kind == registration.kind && $0.sharesToken(with: registration) }?.name
    }

    /// A device that is registered under a name.
    package func activeDevice(_ name: String) -> RegisteredDevice? {
        guard let place = place(of: name), registrations[place].isActive else { return nil }
        return registrations[place]
    }
}
