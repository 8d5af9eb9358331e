import NotificationDelivery
import NotificationModel
import NotificationState

/// Live Activities: start, update and end are request, replacement and removal of one identifier. Which token of a target gets it is
/// decided when an attempt begins.
extension Turn {
    /// How long what changes an activity waits for the token of the one that was started, in milliseconds: no activity lasts longer.
    static let activityLife: Int64 = 12 * 3_600_000
    /// How long a start waits for what becomes of an activity that may be shown, in milliseconds. An app registers the token of one
    /// that was started, which then gets what would have started a second one; one that may have ended is ended again.
    static let doubtedActivityPause: Int64 = 30_000

    /// How a target gets a content.
    enum ActivityRoute {
        /// By the token of this device.
        case token(RecipientRecord.RegisteredDevice)
        /// It shows the activity, and its app has not registered the token of it yet.
        case awaitsToken
        case none(ReasonCode)
    }

    /// - Parameter name: of a target.
    func activityRoute(to name: String, _ activity: LiveActivityFacts) -> ActivityRoute {
        if let token = recipient.activityToken(on: name, of: key.identifier), doubtedEnd(on: name) == nil {
            return .token(token)
        }
        guard let device = recipient.activeDevice(name), device.takesActivities else { return .none(.unregistered) }
        guard device.registration.kind == .liveActivityStart else { return .token(device) }
        guard isActivityShown(on: name) else {
            // After an attempt without an answer it may be a second one: better than none.
            return activity.attributesType == nil ? .none(.unsupportedForm) : .token(device)
        }
        let followsChannel =
            activity.followsChannel
            || entry.delivered?.details?.content.flatMap { LiveActivityFacts($0) }?.followsChannel ?? false
        return followsChannel ? .none(.unsupportedForm) : .awaitsToken
    }

    /// What has followed the end of the activity that got no answer; nil without such an end.
    private func doubtedEnd(on name: String) -> ScreenTarget.DoubtedEnd? {
        entry.screen?.place(of: name, on: .devices).flatMap { entry.screen?.targets[$0].doubtedEnd }
    }

    private mutating func set(_ end: ScreenTarget.DoubtedEnd?, on name: String) {
        guard let place = entry.screen?.place(of: name, on: .devices) else { return }
        entry.screen?.targets[place].doubtedEnd = end
    }

    /// Whether a target shows the activity for certain.
    private func isActivityShown(on name: String) -> Bool {
        if let screen = entry.screen, let place = screen.place(of: name, on: .devices) {
            return screen.targets[place].sure != nil
        }
        return shown(on: name, .devices) != nil
    }

    // MARK: - Which devices

    /// Describes the targets of a Live Activity for an event, as ``describe(_:_:)`` does those of a notification.
    mutating func describe(
        _ handover: inout StateEntry.Handover,
        _ facts: ContentFacts,
        _ activity: LiveActivityFacts
    ) -> (devices: [String], reason: ReasonCode?) {
        handover.addressees = nil
        // Tokens decide it, which the log of requests does not have.
        isReplayable = false
        // A gateway would show it as a notification.
        guard rules.channels.reachesDevices(handover.channel) else { return ([], .unsupportedForm) }
        let localizations = ContentLocalizations(facts, in: handover.content)
        var list = DeviceList(facts, localizations, policy: nil, rules, at: now)
        var names: [String] = []
        for name in activityTargets(activity) where handover.mayBeFor(name) {
            let (device, isTaken) = activityDevice(name, activity)
            guard var device else { continue }
            let isReached = isTaken && self.isReached(device.registration.platform, by: handover.channel)
            if list.append(&device, increments: false, isReached: isReached).isTarget { names.append(name) }
        }
        for var device in recipient.registrations where device.takesNotifications {
            _ = list.append(&device, increments: false, isReached: false)
        }
        handover.addressees = Addressees(at: now, list: list.end(), category: nil, thread: nil)
        return (names, names.isEmpty ? list.reason ?? .noDevice : nil)
    }

    func activityTargets(_ activity: LiveActivityFacts) -> [String] {
        recipient.activityTargets(of: key.identifier, starting: activity.attributesType) { isActivityShown(on: $0) }
    }

    /// Whether a Live Activity has a target.
    func hasTarget(_ activity: LiveActivityFacts, on channel: ChannelName?) -> Bool {
        activityTargets(activity).contains { name in
            let (device, isTaken) = activityDevice(name, activity)
            return isTaken && device.map { isReached($0.registration.platform, by: channel) } ?? false
        }
    }

    /// A target as a device of a list, with the registration whose token it gets the content by.
    private func activityDevice(
        _ name: String,
        _ activity: LiveActivityFacts
    ) -> (device: RecipientRecord.RegisteredDevice?, isTaken: Bool) {
        switch activityRoute(to: name, activity) {
        case .token(var device):
            device.name = name
            return (device, true)
        case .awaitsToken: return (recipient.activeDevice(name), true)
        case .none: return (recipient.activeDevice(name), false)
        }
    }

    /// The list of targets that are given again what they are to show.
    func quietList(_ list: consuming DeviceList, of activity: LiveActivityFacts, for names: [String]) -> ArraySlice<
        UInt8
    > {
        var list = list
        for name in names {
            guard var device = activityDevice(name, activity).device else { continue }
            _ = list.append(&device, increments: false)
        }
        return list.end().json
    }

    /// The names of the targets that an earlier owner may have sent the activity to; nil when what is shown or on its way is none.
    func activityTargetsInDoubt(_ isOfHandover: Bool) -> [String]? {
        let content = isOfHandover ? entry.handover?.content : entry.delivered?.details?.content
        return content.flatMap { LiveActivityFacts($0) }.map(activityTargets)
    }

    // MARK: - Attempts

    /// Nothing reaches the activity on the device of an operation before its app registers the token.
    ///
    /// - Returns: false when it has waited for long enough.
    mutating func awaitToken(at place: Int) -> Bool {
        guard let operation = entry.screen?.operations[place] else { return false }
        var end = operation.sequence.time.adding(milliseconds: Self.activityLife)
        guard now < end else { return false }
        if !operation.isCorrection, let expiration = entry.handover?.expiration { end = min(end, expiration) }
        entry.screen?.operations[place].awaitsToken = true
        entry.screen?.operations[place].phase = .waiting(until: end)
        isChanged = true
        return true
    }

    /// Whether nothing reaches the activity on a target, also one that has left, before its app registers the token.
    func lacksActivityToken(_ name: String, _ channel: ChannelName) -> Bool {
        registration(ofTarget: name, channel)?.kind == .liveActivityStart
            && recipient.activityToken(on: name, of: key.identifier) == nil
    }

    /// An end that is planned for later waits for a token that is not known from now on: the next owner must not think that it may
    /// have been sent.
    mutating func awaitTokensOfEnds() {
        let operations = entry.screen?.operations ?? []
        for place in operations.indices where operations[place].goal == .remove {
            let operation = operations[place]
            guard operation.begun == nil, !operation.isInFlight, !operation.awaitsToken,
                rules.channels.reachesDevices(operation.channel), let name = operation.devices.first,
                lacksActivityToken(name, operation.channel)
            else { continue }
            _ = awaitToken(at: place)
        }
    }

    /// A start waits once while a target may show another activity: for the token of that one, or, when the token is known, for its
    /// end, which is sent again.
    ///
    /// - Returns: false when there is no such doubt, or it has waited.
    mutating func awaitDoubtedActivity(at place: Int, on target: String) -> Bool {
        guard let operation = entry.screen?.operations[place], !operation.awaitsToken,
            let known = entry.screen?.place(of: target, on: operation.channel),
            entry.screen?.targets[known].maybes.isEmpty == false
        else { return false }
        var end = now.adding(milliseconds: Self.doubtedActivityPause)
        if !operation.isCorrection, let expiration = entry.handover?.expiration { end = min(end, expiration) }
        entry.screen?.operations[place].awaitsToken = true
        entry.screen?.operations[place].phase = .waiting(until: end)
        isChanged = true
        return true
    }

    /// Whether a start on a target waits for the end of an activity that may be there.
    func isEndedFirst(_ target: ScreenTarget, before showing: Showing) -> Bool {
        guard let device = target.device, let operations = entry.screen?.operations,
            operations.contains(where: { $0.awaitsToken && $0.delivers(showing) && $0.concerns(target) })
        else { return false }
        return recipient.activityToken(on: device, of: key.identifier) != nil
    }

    /// The timestamp of the pushes of an operation: the version of the request or removal that it is of, else the time. It grows, and
    /// later versions are compared with it.
    mutating func activityTimestamp(at place: Int) -> Int64 {
        guard let operation = entry.screen?.operations[place] else { return 0 }
        let seconds = max(0, operation.sequence.time.rawValue / 1000)
        var id = operation.isQuiet ? nil : operation.showing?.requestID ?? operation.cause
        if operation.goal == .remove, entry.screen?.removal?.by != id {
            // What caused it may be a request whose own push comes after it, and later than it.
            id = operation.removes.last?.requestID ?? id
        }
        var timestamp = operation.timestamp ?? seconds
        if operation.timestamp == nil, let newest = entry.version {
            // The occurrences of a repeat have one version.
            // What is shown again comes after that, and so does an end that no removal asked for.
            let isOwn =
                newest.by == id && operation.showing?.round ?? 0 == 0
                && (operation.goal != .remove || isOnly(operation, of: id))
            let next = newest.number < .max ? newest.number + 1 : newest.number
            timestamp = isOwn ? newest.number : max(seconds, next)
            if isOwn, operation.showing?.occurrence != nil { timestamp = max(timestamp, seconds) }
        }
        entry.screen?.operations[place].timestamp = timestamp
        // Also when a new owner has made that of an end later.
        if entry.version?.number ?? .min < timestamp, let by = id ?? operation.showing?.requestID ?? entry.version?.by {
            entry.version = .init(number: timestamp, by: by)
        }
        isReplayable = false
        return timestamp
    }

    /// Whether an end takes away what a removal has removed, and nothing else: that may have been sent after the removal was read.
    private func isOnly(_ end: ScreenOperation, of id: RequestID?) -> Bool {
        guard let removal = entry.screen?.removal, removal.by == id else { return false }
        return end.removes.allSatisfy(removal.showing.isSameOccurrence)
    }

    // MARK: - Tokens of activities

    /// A push starts an activity. If it does not arrive, one that was to end may still be there: its token is kept until more is known.
    mutating func noteActivityStart(on target: String) {
        set(recipient.activityToken(on: target, of: key.identifier) == nil ? nil : .startedAgain, on: target)
    }

    /// An activity was started: the tokens of those before take nothing more.
    mutating func activityStarted(by operation: ScreenOperation, _ send: ChannelSend) {
        guard send.registration?.kind == .liveActivityStart, operation.goal != .remove,
            let target = operation.devices.first, doubtedEnd(on: target) == .startedAgain
        else { return }
        retireActivityTokens(recipient.activityTokens(on: target, of: key.identifier)[...], operation.trace)
    }

    /// The app has registered the token of an activity.
    ///
    /// - Parameter isNew: whether it was not registered before.
    mutating func activityRegistered(on target: String, isNew: Bool, _ trace: CarriedTrace) {
        if isNew, doubtedEnd(on: target) == .startedAgain {
            // It is of the one that was started last.
            retireActivityTokens(recipient.activityTokens(on: target, of: key.identifier).dropLast(), trace)
            set(nil, on: target)
            isChanged = true
        }
        endActivityWait(on: target)
    }

    /// What waits for the token of the activity on a target, or for its end, begins.
    private mutating func endActivityWait(on target: String) {
        let start = afterCommit
        if entry.screen?.endWait(forTokenOf: target, at: now, removingAt: start) ?? false { isChanged = true }
    }

    /// The token of the activity on a target is gone, and with it the activity.
    ///
    /// - Parameter gone: since when: one that was delivered later is another activity.
    mutating func activityEnded(on target: String, at gone: Timestamp, _ trace: CarriedTrace) {
        // Tokens change.
        guard recipient.activityToken(on: target, of: key.identifier) == nil else { return }
        // APNs would accept it, and nothing would be shown.
        withdraw(from: target)
        guard doubtedEnd(on: target) != .startedAgain else {
            set(nil, on: target)
            isChanged = true
            return endActivityWait(on: target)
        }
        if let delivered = entry.delivered, delivered.at > gone, delivered.devices.containsUTF8(of: target) { return }
        endActivity(on: target, trace)
        endActivityWait(on: target)
    }

    /// An activity has ended: its token takes nothing more, and the operation goes on with the next one of its target.
    ///
    /// - Returns: false when there is no other activity: one that an owner before may have started, whose token is known, or one that was
    ///   started again, whose token may come.
    mutating func endNextActivity(after operation: ScreenOperation, _ send: ChannelSend) -> Bool {
        // APNs goes on accepting what is sent to the token of an activity that has ended, or answers that it is gone.
        guard operation.goal == .remove, let registration = send.registration, registration.kind == .liveActivity,
            let target = operation.devices.first
        else { return false }
        if let name = recipient.name(of: registration) {
            retireActivityToken(name, registration.token, operation.trace)
        }
        if recipient.activityToken(on: target, of: key.identifier) == nil {
            guard doubtedEnd(on: target) == .startedAgain else { return false }
            set(nil, on: target)
        }
        var next = operation
        next.wait(until: now, isTried: true)
        entry.screen?.operations.append(next)
        return true
    }

    /// Follows what an answer says of the activity on the device of an operation.
    mutating func followActivity(_ result: ChannelResult, _ operation: ScreenOperation, _ send: ChannelSend) {
        guard let registration = send.registration, registration.kind == .liveActivity,
            let target = operation.devices.first
        else { return }
        switch result {
        case .failed, .unanswered, .deferred: return
        case .gone:
            let token = recipient.activityToken(on: target, of: key.identifier)
            if token?.sharesToken(with: registration) ?? true { endActivity(on: target, operation.trace) }
        case .accepted, .reduced, .removed, .rejected: break
        }
        // A start may wait for the end.
        if operation.goal == .remove { endActivityWait(on: target) }
    }

    private mutating func retireActivityTokens(
        _ tokens: ArraySlice<RecipientRecord.RegisteredDevice>,
        _ trace: CarriedTrace
    ) {
        for token in tokens { retireActivityToken(token.name, token.registration.token, trace) }
    }

    /// The token of an activity that is over takes nothing more: at once, since what follows on the target must not go to it.
    private mutating func retireActivityToken(_ name: String, _ token: String, _ trace: CarriedTrace) {
        guard let owner = try? key.withIdentifier(name),
            let device = recipient.retire(name, token: token, gone: .latest, in: key.application, at: now)
        else { return }
        isRecipientChanged = true
        isReplayable = false
        isChanged = true
        let claim = TokenClaim(owner: owner, writtenAt: device.writtenAt, isReleased: true)
        effects.append(.claim(claim, token: device.registration.tokenHash(application: key.application), trace))
        let event = DeviceEvent(.retired, owner, device.registration, at: now, .unregistered, rules)
        effects.append(.announce(event, trace))
    }

    /// An owner before may have ended the activities that a removal takes away, which is read again: APNs goes on accepting what is
    /// sent to their tokens.
    mutating func doubtEnds(by scope: RemovalScope) {
        for place in entry.screen?.targets.indices ?? 0..<0 {
            guard let target = entry.screen?.targets[place], let device = target.device,
                scope != .pending || target.sure == nil,
                recipient.activityToken(on: device, of: key.identifier) != nil
            else { continue }
            entry.screen?.targets[place].doubtEnd()
        }
    }

    private mutating func endActivity(on target: String, _ trace: CarriedTrace) {
        if let delivered = entry.delivered, let details = delivered.details, details.devices.containsUTF8(of: target) {
            isChanged = true
            let others = details.devices.filter { !$0.hasSameUTF8(as: target) }
            if others.isEmpty {
                let id = RequestID.derive(caller: "retirement", idempotencyKey: "\(delivered.requestID)")
                remove(delivered, by: id, from: target, trace)
            } else {
                entry.delivered?.details = details.on(others)
            }
        }
        if entry.screen?.end(on: target) ?? false { isChanged = true }
    }
}
