import NotificationModel
import NotificationState

/// The devices that a notification is for, and how each presents it.
extension Turn {
    /// Chooses the devices for a notification, and ends it when there is none.
    ///
    /// A recipient of whom no device is known gets it without a list of devices, unless the settings require one: the user's
    /// gateway knows the devices then.
    ///
    /// - Parameter facts: of its content, if they were read before.
    /// - Returns: whether there is something to send.
    mutating func address(_ handover: inout StateEntry.Handover, _ facts: ContentFacts? = nil) -> Bool {
        let found = describe(&handover, facts)
        handover.devices = recipient.knowsDevices || !found.devices.isEmpty ? found.devices : nil
        if let reason = found.reason { suppress(handover, reason) }
        return found.reason == nil
    }

    /// Describes the devices for an event: what each presents, and its badge. What was delivered to some is for no other devices
    /// than before: one that registers then, perhaps again, does not get it.
    ///
    /// - Returns: the devices that may present it, and why nothing is sent; nil when something is.
    @discardableResult
    mutating func describe(
        _ handover: inout StateEntry.Handover,
        _ facts: ContentFacts? = nil
    ) -> (devices: [String], reason: ReasonCode?) {
        let facts = facts ?? ContentFacts(handover.content)
        if let activity = LiveActivityFacts(facts, in: handover.content) { return describe(&handover, facts, activity) }
        let category = conditions.categories.category(of: facts, in: handover.content, for: key)
        if category == nil, facts.category != nil { unknownCategories += 1 }
        let thread = facts.thread.map { $0.json(in: handover.content) }
        guard recipient.knowsDevices else {
            handover.addressees = nil
            if category != nil || thread != nil {
                handover.addressees = Addressees(at: now, list: nil, category: category, thread: thread)
            }
            guard rules.requiresDevice || rules.channels.reachesDevices(handover.channel) else { return ([], nil) }
            isReplayable = false
            return ([], .noDevice)
        }
        let localizations = ContentLocalizations(facts, in: handover.content)
        var list = DeviceList(facts, localizations, policy: category?.presentation, rules, at: now)
        var names: [String] = []
        // In place: a device has many texts.
        for index in recipient.registrations.indices where recipient.registrations[index].takesNotifications {
            let name = recipient.registrations[index].name
            guard handover.mayBeFor(name) else { continue }
            let counts = facts.badgeIncrement > 0 && !handover.badged.containsUTF8(of: name)
            let platform = recipient.registrations[index].registration.platform
            let isReached = self.isReached(platform, by: handover.channel)
            let added = list.append(&recipient.registrations[index], increments: counts, isReached: isReached)
            if added.changesBadge { isRecipientChanged = true }
            if counts, added.changesBadge { handover.badged.append(name) }
            if added.isTarget { names.append(name) }
        }
        // An app leaves the foreground after some time.
        if list.dependsOnTime || names.isEmpty { isReplayable = false }
        handover.addressees = Addressees(at: now, list: list.end(), category: category, thread: thread)
        return (names, names.isEmpty ? list.reason ?? .noDevice : nil)
    }

    mutating func suppress(_ handover: StateEntry.Handover, _ reason: ReasonCode) {
        end(handover, as: .suppressed, handover.trace) {
            $0.reason = reason
            $0.devices = handover.addressees?.list?.json
        }
    }

    /// Whether any device may present a content, as far as devices are known.
    ///
    /// - Parameters:
    ///   - content: that the facts are of.
    ///   - channel: of the notification.
    func isPresentable(_ facts: ContentFacts, in content: ArraySlice<UInt8>, on channel: ChannelName?) -> Bool {
        if let activity = LiveActivityFacts(facts, in: content) { return hasTarget(activity, on: channel) }
        guard recipient.knowsDevices else {
            return !rules.requiresDevice && !rules.channels.reachesDevices(channel)
        }
        return recipient.registrations.contains { device in
            guard device.takesNotifications, isReached(device.registration.platform, by: channel) else { return false }
            if case .presented = device.presentation(of: facts).verdict { return true }
            return false
        }
    }

    func isReached(_ platform: String, by channel: ChannelName?) -> Bool {
        rules.channels.sender(of: channel, to: platform) != nil
    }

    // MARK: - Lists for events and operations

    /// The list of a `delivered` event, with the outcome of each device.
    func outcomes(of handover: StateEntry.Handover, _ list: DeviceJSON) -> ArraySlice<UInt8> {
        guard let screen = entry.screen, rules.channels.isSent(handover.channel) else { return list.json }
        let channel = rules.channels.route(of: handover.channel)
        return list.json { device in
            guard let place = screen.place(of: device, on: channel) else { return .accepted }
            let target = screen.targets[place]
            if target.surelyShows(handover.showing) {
                return target.reduced.isEmpty ? .accepted : .reduced(target.reduced)
            }
            if target.hasRefused(handover.showing) { return .rejected(target.refusal ?? .gaveUp) }
            return .retrying
        }
    }

    /// The devices that are to remove what they show: all that may show something under the key.
    func removalNames(of delivered: StateEntry.Delivered, except device: String?) -> [String] {
        var names = delivered.devices
        for case let name? in entry.screen?.targets.filter(\.mayShowAnything).map(\.device) ?? []
        where !names.containsUTF8(of: name) {
            names.append(name)
        }
        if let device { names.removeUTF8(of: device) }
        return names
    }

    /// What a list says of a removal on a device.
    enum RemovalState {
        /// Nothing: the gateway has to ask.
        case none
        /// It is tried again.
        case retrying
        case ended(RemovalOutcome, ReasonCode?)
    }

    /// - Parameter state: of each device.
    /// - Returns: nil without a device.
    func removalList(_ names: [String], _ state: (String) -> RemovalState) -> ArraySlice<UInt8>? {
        guard !names.isEmpty else { return nil }
        var json: [UInt8] = [UInt8(ascii: "[")]
        for name in names {
            if json.count > 1 { json.append(UInt8(ascii: ",")) }
            var object = JSONObjectWriter()
            object.member("device", name, &json)
            if let place = recipient.place(of: name) {
                recipient.registrations[place].writeAddress(to: &object, &json, rules)
            }
            switch state(name) {
            case .none: break
            case .retrying: object.member("outcome", "retrying", &json)
            case .ended(let outcome, let reason):
                object.member("outcome", outcome.rawValue, &json)
                object.member("reason", reason?.rawValue, &json)
            }
            object.end(&json)
        }
        json.append(UInt8(ascii: "]"))
        return json[...]
    }

    /// The list of devices that are given again, quietly, what they are to show.
    mutating func quietList(of content: ArraySlice<UInt8>, for names: [String]) -> ArraySlice<UInt8>? {
        guard !names.isEmpty else { return nil }
        let facts = ContentFacts(content)
        var list = DeviceList(
            facts,
            ContentLocalizations(facts, in: content),
            policy: .options([.list, .badge]),
            rules,
            at: now,
            isQuiet: true
        )
        if let activity = LiveActivityFacts(facts, in: content) { return quietList(list, of: activity, for: names) }
        for index in recipient.registrations.indices where names.containsUTF8(of: recipient.registrations[index].name) {
            _ = list.append(&recipient.registrations[index], increments: false)
        }
        return list.end().json
    }

    // MARK: - Badges

    /// What was not delivered has added nothing to the badges.
    mutating func takeBackBadges(of handover: StateEntry.Handover) {
        guard !handover.badged.isEmpty else { return }
        changeBadges(by: -ContentFacts(handover.content).badgeIncrement, on: handover.badged)
    }

    /// A device that has refused a delivered notification has not counted it; one that has accepted it after all has.
    mutating func changeBadge(by sign: Int64, of delivered: StateEntry.Delivered, on device: String) {
        guard let content = delivered.details?.content else { return }
        let facts = ContentFacts(content)
        guard facts.badgeIncrement > 0,
            let place = recipient.place(of: device),
            case .presented(let options) = recipient.registrations[place].presentation(of: facts).verdict,
            options.contains(.badge)
        else { return }
        changeBadges(by: sign * facts.badgeIncrement, on: [device])
    }

    private mutating func changeBadges(by difference: Int64, on devices: [String]) {
        for index in recipient.registrations.indices
        where devices.containsUTF8(of: recipient.registrations[index].name) {
            guard let badge = recipient.registrations[index].badge else { continue }
            recipient.registrations[index].badge = min(ModelLimits.badge, max(0, badge + difference))
            isRecipientChanged = true
        }
    }
}

extension RecipientRecord.RegisteredDevice {
    /// What it presents of a content while its app is not in the foreground.
    fileprivate func presentation(of facts: ContentFacts) -> DevicePresentation {
        DevicePresentation(
            of: facts,
            status: registration.authorizationStatus,
            settings: registration.settings,
            isForeground: false,
            category: nil
        )
    }

    /// Appends how a gateway reaches it.
    func writeAddress(to object: inout JSONObjectWriter, _ json: inout [UInt8], _ rules: LifecycleRules) {
        guard rules.listsRegistrations else { return }
        object.member("platform", registration.platform, &json)
        object.member("token", registration.token, &json)
        if registration.kind != .device { object.member("kind", registration.kind.rawValue, &json) }
        object.member("environment", registration.environment?.rawValue, &json)
        object.member("bundleIdentifier", registration.bundleIdentifier, &json)
    }
}
