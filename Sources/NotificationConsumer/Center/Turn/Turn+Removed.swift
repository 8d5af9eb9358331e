import NotificationModel
import NotificationState

/// The event `removed`. Where the service reaches each device itself, the event is published once a removal was tried on each device,
/// with the outcome of each. A device that answers later has a `device.attempted` event.
extension Turn {
    /// Tells that nobody is to show a notification any more, at once or when its devices have answered.
    ///
    /// - Parameters:
    ///   - id: of the cause.
    ///   - left: the device that it has left already.
    ///   - names: the devices that may show it.
    ///   - channel: of the notification, or its route.
    mutating func tellRemoved(
        _ showing: Showing,
        by id: RequestID,
        left: String?,
        from names: [String],
        on channel: ChannelName?,
        _ trace: CarriedTrace
    ) {
        // One waits at most.
        tellRemoval()
        // What is replayed was finished at once, and its event published.
        if rules.channels.reachesDevices(channel), !names.isEmpty, !conditions.isReplay {
            let route = rules.channels.route(of: channel)
            var screen = entry.screen ?? Screen()
            screen.removal = OpenRemoval(showing, by: id, left: left, from: names, on: route, trace: trace)
            entry.screen = screen
            return
        }
        let isSent = rules.channels.isSent(channel)
        let devices = removalList(names) { _ in isSent ? .ended(.requested, nil) : .none }
        publish(.removed, of: showing.requestID, closes: false, trace) {
            // Each occurrence of a repeating notification can be removed.
            $0.occurrence = showing.occurrence
            $0.by = id
            $0.device = left
            $0.devices = devices
        }
    }

    /// Publishes the event of a removal, if it still waits. It is the first of the key's events that follow.
    mutating func tellRemoval() {
        guard entry.screen?.isRemoving ?? false, let screen = entry.screen, let removal = screen.removal,
            !removal.isTold
        else { return }
        isChanged = true
        let isReplaced = isReplaced
        let devices = removalList(removal.devices.map(\.name)) { name in
            guard let device = removal.devices.first(where: { $0.name.hasSameUTF8(as: name) }) else { return .none }
            if let outcome = device.outcome { return .ended(outcome, device.reason) }
            // What nobody reaches any more stays.
            return isReplaced || screen.isRemovalOpen(on: device) ? .retrying : .ended(.impossible, .unregistered)
        }
        var event = DeliveryEvent(name: .removed, requestID: removal.showing.requestID, key: key, closes: false)
        (event.occurrence, event.by) = (removal.showing.occurrence, removal.by)
        (event.device, event.devices) = (removal.left, devices)
        effects.append(.publish(event, removal.trace))
        entry.screen?.removal?.isTold = true
    }

    /// Whether something newer is on its way to the devices.
    private var isReplaced: Bool { entry.handover.map { $0.start == nil } ?? false }

    /// Notes what became of a removal on the devices of an operation.
    mutating func note(_ outcome: RemovalOutcome, because reason: ReasonCode? = nil, of operation: ScreenOperation) {
        guard let late = entry.screen?.note(outcome, because: reason, of: operation), !late.isEmpty,
            let removal = entry.screen?.removal
        else { return }
        for device in late {
            publish(.deviceAttempted, of: removal.showing.requestID, closes: false, removal.trace) {
                $0.occurrence = removal.showing.occurrence
                $0.device = device
                $0.removal = outcome
                $0.reason = reason
            }
        }
    }

    /// Tells what became of a removal once each device was tried, or something newer is on its way, and forgets it at its end.
    mutating func settleRemoval() {
        guard entry.screen?.isRemoving ?? false, let screen = entry.screen, let removal = screen.removal else { return }
        if !screen.isRemovalAwaited(isReplaced: isReplaced) { tellRemoval() }
        guard entry.screen?.removal?.isTold ?? false, !isReplaced,
            !removal.devices.contains(where: screen.isRemovalOpen)
        else { return }
        // The date is also for what is still on its way, and ended when it has arrived.
        guard
            removal.dismissalDate == nil || !screen.operations.contains(where: { $0.goal == .remove || $0.isInFlight })
        else { return }
        entry.screen?.removal = nil
        isChanged = true
    }
}
