import NotificationDelivery
import NotificationModel
import NotificationState

/// What targets show follows what is wanted. At the end of each turn the operations begin that lead there; see ``Screen``.
extension Turn {
    /// Whether an attempt has no answer yet.
    var isInFlight: Bool { entry.screen?.isInFlight ?? false }

    /// Whether an attempt at a notification that is on its way has no answer yet. What else is in flight neither delivers it nor
    /// answers for it.
    func isInFlight(_ handover: StateEntry.Handover) -> Bool { entry.screen?.isInFlight(handover.showing) ?? false }

    /// Begins what is wanted and not under way, until nothing more can begin.
    mutating func reconcile() {
        for _ in 0..<Self.passes {
            if fireTurn() { continue }
            guard entry.hasScreen, beginOperations() else { break }
        }
        settleRemoval()
        tidy()
    }

    /// Each pass begins or ends something. What is left is due, and fires again.
    private static var passes: Int { 16 }

    /// What has waited for its turn goes first: it replaces what is shown.
    private mutating func fireTurn() -> Bool {
        guard let pending = entry.pending, case .turn = pending.timer, let due = pending.due, due <= now, !isInFlight,
            !holdsHandovers(by: pending.channel)
        else { return false }
        fire()
        return entry.pending != pending
    }

    /// - Returns: whether something else is wanted now, so that another pass is needed.
    private mutating func beginOperations() -> Bool {
        spreadOverDevices()
        // A target of which nothing needs to be known has what is wanted, where notifications are permitted.
        if !entry.hasHandover, let screen = entry.screen, screen.operations.isEmpty, isPermittedOnAll(screen.targets) {
            tidy()
        }
        guard var screen = entry.screen else { return false }
        let handover = entry.handover
        // Not in a closure of the plan, which would copy the whole turn.
        var wanted: [ScreenTarget.Wanted] = []
        for place in screen.targets.indices { wanted.append(self.wanted(on: screen.targets[place], handover)) }
        let former = screen.operations
        let ready = screen.plan(for: cause(of: handover), rules.channels.grouping, wanted: wanted)
        if screen.operations != former { isChanged = true }
        entry.screen = screen
        awaitTokensOfEnds()
        for place in ready where begin(at: place) == .changed { return true }
        return chooseAgain()
    }

    /// All targets of a handover have left, or its channel is not there any more: it is addressed again, or ends. It ends when
    /// those that are left have answered.
    private mutating func chooseAgain() -> Bool {
        guard let handover = entry.handover, handover.start == nil,
            !(entry.screen?.isDelivering(handover.showing) ?? false)
        else { return false }
        isChanged = true
        let isAnswered = entry.screen?.targets.contains { target in
            isAddressed(handover, to: target)
                && (target.hasRefused(handover.showing) || target.surelyShows(handover.showing))
        }
        if isAnswered ?? false, !handover.isClosed {
            settle(handover)
            return true
        }
        entry.handover = nil
        guard !handover.isClosed else { return true }
        handOver(handover)
        return true
    }

    /// When what this turn decides is committed, at the earliest.
    var afterCommit: Timestamp {
        conditions.sendLimit == .latest ? now : max(now, conditions.sendLimit.adding(milliseconds: 1))
    }

    /// The cause of operations that begin now.
    private func cause(of handover: StateEntry.Handover?) -> Screen.Cause {
        let place = entry.applied[.requests]
        // Later than what was sent before.
        var earlier = entry.delivered?.at ?? .earliest
        let operations = entry.screen?.operations ?? []
        for place in operations.indices { earlier = max(earlier, operations[place].sequence.time) }
        func sequence(_ time: Timestamp) -> OperationSequence {
            OperationSequence(life: place.life, offset: place.offset, time: time)
        }
        return Screen.Cause(
            now: now,
            coming: .init(sequence: sequence(handover?.time ?? now), trace: handover?.trace ?? cause.trace),
            correction: .init(sequence: sequence(max(cause.time ?? now, earlier)), trace: cause.trace, id: cause.id),
            // The next owner may get another answer.
            correctionStart: cause.isTentative ? afterCommit : now
        )
    }

    // MARK: - What is wanted

    private func wanted(on target: ScreenTarget, _ handover: StateEntry.Handover?) -> ScreenTarget.Wanted {
        var wanted = ScreenTarget.Wanted()
        if let pending = entry.pending, !pending.isBetweenCrossings,
            rules.channels.route(of: pending.channel) == target.channel
        {
            wanted.waiting.append(pending.showing)
        }
        if let handover, handover.start != nil { wanted.waiting.append(handover.showing) }
        guard isPermitted(on: target) else { return wanted }
        if shown(on: target.device, target.channel) != nil, let delivered = entry.delivered {
            wanted.base = delivered.showing
            wanted.isRestorable = delivered.details?.content != nil
        }
        if let handover, handover.start == nil, isAddressed(handover, to: target),
            !target.hasRefused(handover.showing)
        {
            wanted.coming = handover.showing
            // An activity that was ended could not be updated: what comes takes the place of all that it may show.
            if target.mayShowAnything, LiveActivityFacts.mayBe(in: handover.content),
                !isEndedFirst(target, before: handover.showing)
            {
                wanted.waiting += target.maybes + (target.sure.map { [$0] } ?? [])
            }
        }
        return wanted
    }

    private func isPermitted(on target: ScreenTarget) -> Bool {
        target.device.map(recipient.permitsNotifications) ?? true
    }

    /// A loop: a closure would copy the whole turn.
    private func isPermittedOnAll(_ targets: [ScreenTarget]) -> Bool {
        for target in targets where !isPermitted(on: target) { return false }
        return true
    }

    private func isAddressed(_ handover: StateEntry.Handover, to target: ScreenTarget) -> Bool {
        guard rules.channels.route(of: handover.channel) == target.channel else { return false }
        guard let device = target.device else { return handover.devices == nil }
        return handover.devices?.containsUTF8(of: device) ?? false
    }

    // MARK: - Targets

    /// What the events say that a target shows.
    func shown(on device: String?, _ channel: ChannelName?) -> Showing? {
        guard let delivered = entry.delivered, rules.channels.areSame(delivered.channel, channel) else { return nil }
        let devices = delivered.devices
        // Without a name nobody has it.
        if devices.isEmpty, rules.channels.reachesDevices(channel) { return nil }
        guard let device, !devices.isEmpty else { return devices.isEmpty ? delivered.showing : nil }
        return devices.containsUTF8(of: device) ? delivered.showing : nil
    }

    /// Lists the targets that show what was delivered, before that changes.
    mutating func listShown() {
        guard let delivered = entry.delivered, rules.channels.isSent(delivered.channel) else { return }
        let channel = rules.channels.route(of: delivered.channel)
        if delivered.devices.isEmpty, rules.channels.reachesDevices(channel) { return }
        guard delivered.devices.isEmpty, entry.screen?.isSpread(on: channel) ?? false else {
            return list(delivered.devices, on: channel)
        }
        // It was given to all that the gateway knows, and these have names by now, unless all have left.
        list(recipient.registrations.filter(\.takesNotifications).map(\.name), on: channel)
    }

    /// Lists targets; the one for all that the gateway knows when there are no names.
    mutating func list(_ devices: [String], on channel: ChannelName) {
        var screen = entry.screen ?? Screen()
        if devices.isEmpty, !rules.channels.reachesDevices(channel) {
            screen.list(nil, on: channel, showing: shown(on: nil, channel))
        }
        for device in devices { screen.list(device, on: channel, showing: shown(on: device, channel)) }
        entry.screen = screen
    }

    /// Lists the targets of a handover, and those that show something else.
    mutating func listTargets(of handover: StateEntry.Handover) {
        listShown()
        let channel = rules.channels.route(of: handover.channel)
        if handover.devices == nil { entry.screen?.gather(on: channel) }
        list(handover.devices ?? [], on: channel)
    }

    /// What all that the gateway knows may show is on the devices that are known, once an operation is for some of these.
    mutating func spreadOverDevices() {
        guard let screen = entry.screen else { return }
        for place in screen.targets.indices where screen.targets[place].device == nil {
            let channel = screen.targets[place].channel
            let isOfHandover =
                entry.handover.map { $0.devices != nil && rules.channels.areSame($0.channel, channel) } ?? false
            // One beside others was kept while the backlog was read.
            guard isOfHandover || screen.isSpread(on: channel) || !screen.targets[place].maybes.isEmpty else {
                continue
            }
            let activityTargets = activityTargetsInDoubt(isOfHandover)
            guard recipient.knowsDevices || activityTargets != nil else { continue }
            var devices = isOfHandover ? entry.handover?.devices ?? [] : []
            let others = activityTargets ?? recipient.registrations.filter(mayHaveGotten).map(\.name)
            for name in (entry.delivered?.devices ?? []) + others where !devices.containsUTF8(of: name) {
                devices.append(name)
            }
            let known = devices.map { ($0, shown(on: $0, channel)) }
            // An owner before may have sent to what is registered further on in the backlog.
            entry.screen?.spread(over: known, on: channel, isKept: conditions.isBacklogInDoubt)
            for name in others where !recipient.hasActiveDevice(name) {
                if let place = entry.screen?.place(of: name, on: channel) { keepAddress(at: place) }
            }
        }
    }

    /// Whether an earlier owner may have sent to a device: registrations are read before the requests of a backlog, and one that
    /// this owner has ended was still active for that one.
    private func mayHaveGotten(_ device: RecipientRecord.RegisteredDevice) -> Bool {
        guard device.registration.kind == .device else { return false }
        // One that is leaving now is retired at the latest instant.
        guard let end = device.retiredAt, end != .latest else { return true }
        return conditions.doubtThrough != nil && end >= conditions.takenOverAt
    }

    /// A notification is delivered: what other targets have refused before does not count any more.
    mutating func noteDelivered(_ showing: Showing) {
        for place in entry.screen?.targets.indices ?? 0..<0 {
            guard let refused = entry.screen?.targets[place].refused, !refused.isSameOccurrence(as: showing) else {
                continue
            }
            entry.screen?.targets[place].endRefusal()
        }
    }

    /// Drops what the entry says without a screen, and what no channel can change.
    private mutating func tidy() {
        guard var screen = entry.screen else { return }
        let coming = entry.handover?.showing
        for place in screen.targets.indices.reversed() {
            if !rules.channels.isSent(screen.targets[place].channel) {
                // It waits, and an event that says it may have been published.
                let waiting = [entry.pending?.showing, coming]
                screen.targets[place].maybes.removeAll { maybe in
                    !waiting.contains { $0.map(maybe.isSameOccurrence) ?? false }
                }
                if screen.targets[place].maybes.isEmpty, !screen.targets[place].isLeft {
                    screen.targets.remove(at: place)
                    continue
                }
            }
            let known = shown(on: screen.targets[place].device, screen.targets[place].channel)
            if !screen.isNeeded(screen.targets[place], coming, showing: known) { screen.targets.remove(at: place) }
        }
        entry.screen = screen.isEmpty ? nil : screen
    }

    // MARK: - Attempts

    private enum Beginning {
        case begun
        /// It must wait.
        case held
        /// Something else is wanted now.
        case changed
    }

    private mutating func begin(at place: Int) -> Beginning {
        guard var operation = entry.screen?.operations[place] else { return .held }
        if operation.isCorrection, operation.attempt == 1, !operation.awaitsToken {
            // It may have waited for the backlog, and something newer of the key was read since.
            let sequence = cause(of: entry.handover).correction.sequence
            entry.screen?.refreshCorrection(at: place, sequence)
            operation = entry.screen?.operations[place] ?? operation
        }
        guard !holdsSends(by: operation.channel) else { return .held }
        var send = ChannelSend(operation, of: key)
        switch operation.goal {
        case .remove:
            send.devices = removalList(operation.devices) { _ in .ended(.requested, nil) }
        case .show where operation.isQuiet:
            guard let delivered = entry.delivered, let content = delivered.details?.content else { return .held }
            send.kind = .deliver(content: content)
            send.devices = quietList(of: content, for: operation.devices)
        case .show: guard fill(&send, for: operation) else { return .changed }
        }
        if rules.channels.reachesDevices(operation.channel) {
            switch reach(operation, send.kind) {
            case .by(let sender, let registration): (send.channel, send.registration) = (sender, registration)
            case .token:
                if awaitToken(at: place) { return .held }
                giveUp(at: place, .noDevice)
                return .changed
            case .nothing(let reason):
                giveUp(at: place, reason)
                return .changed
            }
            if let kind = send.registration?.kind, kind.isOfLiveActivities, let target = operation.devices.first {
                if kind == .liveActivityStart {
                    if awaitDoubtedActivity(at: place, on: target) { return .changed }
                    noteActivityStart(on: target)
                }
                send.activity = .init(
                    timestamp: activityTimestamp(at: place),
                    dismissalDate: entry.screen?.removal?.dismissalDate
                )
            }
        }
        send.id = send.id(of: operation)
        entry.screen?.operations[place].begin(at: now, id: send.id, list: send.devices)
        if operation.isCorrection { noteTakenAway(by: operation) } else { noteShownAgain(by: operation) }
        isChanged = true
        attempts += 1
        effects.append(.send(send))
        return .begun
    }

    /// What reaches the device of an operation.
    private enum Reach {
        case by(ChannelName, DeviceRegistration)
        /// The token of the Live Activity that it shows, once its app registers it.
        case token
        case nothing(ReasonCode)
    }

    /// The channel that reaches the device of an operation, also after the end of its registration, and how.
    private mutating func reach(_ operation: ScreenOperation, _ kind: ChannelSend.Kind) -> Reach {
        guard let name = operation.devices.first,
            let place = entry.screen?.place(of: name, on: operation.channel)
        else { return .nothing(.unregistered) }
        // What is shown goes to a device that was registered again.
        if operation.goal != .remove { entry.screen?.targets[place].formerly = nil }
        var known = registration(ofTarget: name, operation.channel)
        switch kind {
        case .deliver(let content):
            guard let activity = LiveActivityFacts(content) else { break }
            switch activityRoute(to: name, activity) {
            case .token(let device): known = device.registration
            case .awaitsToken: return .token
            case .none(let reason): return .nothing(reason)
            }
        case .remove:
            if let token = recipient.activityToken(on: name, of: key.identifier) {
                known = token.registration
            } else if known?.kind == .liveActivityStart {
                return .token
            }
        }
        guard let known, let sender = rules.channels.sender(of: operation.channel, to: known.platform) else {
            return .nothing(.unregistered)
        }
        return .by(sender, known)
    }

    /// How a target is reached, or was before it left.
    func registration(ofTarget name: String, _ channel: ChannelName) -> DeviceRegistration? {
        let place = entry.screen?.place(of: name, on: channel)
        return place.flatMap { entry.screen?.targets[$0].formerly } ?? recipient.registration(of: name)
    }

    /// Nothing reaches the device of an operation any more.
    private mutating func giveUp(at place: Int, _ reason: ReasonCode) {
        guard let operation = entry.screen?.operations.remove(at: place) else { return }
        isChanged = true
        refuse(operation, reason)
        // Of what has waited for a token, the event of the others said that it is still tried.
        guard operation.awaitsToken, let handover = entry.handover, handover.isClosed,
            operation.delivers(handover.showing)
        else { return }
        settle(operation, of: handover)
    }

    /// Completes an attempt at what is on its way, for the devices that may present it now.
    ///
    /// - Returns: false when it is not made: the notification has ended or is held back, or its devices have changed.
    private mutating func fill(_ send: inout ChannelSend, for operation: ScreenOperation) -> Bool {
        guard var handover = entry.handover else { return false }
        if hasExpired(handover) {
            expire(handover)
            return false
        }
        if isHeldBack(handover) { return false }
        if handover.addressees?.at != now {
            let former = handover.devices
            guard address(&handover) else { return false }
            entry.handover = handover
            if handover.devices != former {
                listTargets(of: handover)
                return false
            }
        }
        send.kind = .deliver(content: handover.content)
        (send.closes, send.expiration) = (handover.closes, handover.expiration)
        send.isInDoubt = entry.isInDoubt(handover.showing)
        send.actions = handover.addressees?.category?.actionsJSON
        if !operation.devices.isEmpty { send.devices = handover.addressees?.list?.json(of: operation.devices) }
        return true
    }

    /// What is sent once more after a person has answered it comes to the device of the answer, too, and has not left it with that.
    private mutating func noteShownAgain(by operation: ScreenOperation) {
        guard let device = entry.handover?.answer?.device,
            entry.handover.map({ operation.delivers($0.showing) }) ?? false,
            operation.devices.isEmpty || operation.devices.containsUTF8(of: device)
        else { return }
        entry.handover?.answer?.device = nil
    }

    /// A correction takes away what waits for its next attempt, or may be there already: when that comes, it is another operation
    /// than before, and a later one.
    private mutating func noteTakenAway(by correction: ScreenOperation) {
        if correction.isQuiet, let round = correction.showing?.round { entry.delivered?.round = round }
        guard let targets = entry.screen?.targets.filter(correction.concerns) else { return }
        if let handover = entry.handover, handover.start == nil,
            targets.contains(where: { isAddressed(handover, to: $0) })
        {
            entry.handover?.showing = handover.showing.again
            entry.handover?.time = max(handover.time, correction.sequence.time.adding(milliseconds: 1))
            entry.screen?.renew(handover.showing, after: correction.sequence)
        }
        if let pending = entry.pending, targets.contains(where: { $0.isInDoubt(pending.showing) }) {
            entry.pending?.round += 1
        }
    }
}
