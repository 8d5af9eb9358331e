import NotificationModel
import NotificationState

/// Devices that are no longer the recipient's, or are not allowed to show notifications any more.
extension Turn {
    /// Whether an owner before may have addressed again what is on its way: it had read the registration, and its turn is lost.
    func mayHaveBeenAddressed(to device: String) -> Bool {
        guard conditions.isBacklogInDoubt, let handover = entry.handover, handover.start == nil, !handover.isClosed,
            handover.devices?.containsUTF8(of: device) == false, rules.channels.isSent(handover.channel)
        else { return false }
        return !LiveActivityFacts.mayBe(in: handover.content) && recipient.registration(of: device)?.kind == .device
    }

    /// A device leaves: it is asked to remove what it shows or may show.
    ///
    /// - Parameter id: of the cause.
    mutating func leave(_ device: String, by id: RequestID, _ trace: CarriedTrace) {
        // The next owner may read first that it is back: devices, signals and requests are read from topics of their own.
        cause = Cause(id: id, trace: trace, isTentative: true)
        if let handover = entry.handover, handover.devices?.containsUTF8(of: device) ?? false {
            isChanged = true
            list([device], on: rules.channels.route(of: handover.channel))
            entry.handover?.devices?.removeUTF8(of: device)
            withdraw()
        } else if let handover = entry.handover, mayHaveBeenAddressed(to: device) {
            isChanged = true
            let channel = rules.channels.route(of: handover.channel)
            list([device], on: channel)
            if let place = entry.screen?.place(of: device, on: channel) {
                entry.screen?.targets[place].doubt(handover.showing)
            }
        }
        if let delivered = entry.delivered, let details = delivered.details, details.devices.containsUTF8(of: device) {
            isChanged = true
            if rules.channels.isSent(delivered.channel) {
                list([device], on: rules.channels.route(of: delivered.channel))
            }
            let others = details.devices.filter { !$0.hasSameUTF8(as: device) }
            if others.isEmpty {
                remove(delivered, by: id, from: device, trace)
            } else {
                entry.delivered?.details = details.on(others)
            }
        }
        for place in entry.screen?.targets.indices ?? 0..<0
        where entry.screen?.targets[place].device.map({ $0.hasSameUTF8(as: device) }) ?? false {
            isChanged = true
            entry.screen?.targets[place].endRefusal()
            keepAddress(at: place)
            if let channel = entry.screen?.targets[place].channel, lacksActivityToken(device, channel) {
                // Its app may have ended the activity without a word.
                entry.screen?.targets[place].doubtRemoval()
            }
        }
    }

    /// A target that has left is reached as it was: its registration may be forgotten before it has removed what it shows.
    ///
    /// - Parameter place: of the target.
    mutating func keepAddress(at place: Int) {
        guard let target = entry.screen?.targets[place], let device = target.device,
            rules.channels.reachesDevices(target.channel)
        else { return }
        entry.screen?.targets[place].formerly = recipient.registration(of: device)
    }

    /// What has accepted a notification although it had left meanwhile shows it, and is reached as it was then.
    mutating func keepAddressIfLeft(by operation: ScreenOperation, _ registration: DeviceRegistration?) {
        guard operation.goal != .remove, let registration, registration.kind == .device,
            let device = operation.devices.first, !recipient.hasActiveDevice(device),
            let place = entry.screen?.place(of: device, on: operation.channel)
        else { return }
        entry.screen?.targets[place].formerly = registration
    }
}
