import NotificationModel

/// The devices that a notification is for, and how each presents it.
extension Turn {
    /// Chooses the devices for an attempt.
    ///
    /// A recipient of whom no device is known gets it without a list of devices, unless the settings require one: the user's
    /// gateway knows the devices then.
    ///
    /// - Parameter facts: of its content, if they were read before.
    /// - Returns: why nothing is sent; nil when something is.
    mutating func address(_ sending: inout StateEntry.Sending, _ facts: ContentFacts?) -> ReasonCode? {
        guard let content = sending.content else { return nil }
        let facts = facts ?? ContentFacts(content)
        let category = categories.category(of: facts, in: content, for: key)
        if category == nil, facts.category != nil { unknownCategories += 1 }
        let thread = facts.thread.map { $0.json(in: content) }
        guard !recipient.registrations.isEmpty else {
            sending.addressees = nil
            if category != nil || thread != nil {
                sending.addressees = .init(devices: nil, targets: 0, category: category, thread: thread)
            }
            guard rules.requiresDevice else { return nil }
            isReplayable = false
            return .noDevice
        }
        var list = DeviceList(
            facts: facts,
            policy: category?.presentation,
            at: now,
            foregroundKept: rules.foregroundKept
        )
        // In place: a device has many texts.
        for index in recipient.registrations.indices where recipient.registrations[index].isActive {
            let name = recipient.registrations[index].name
            let counts = facts.badgeIncrement > 0 && !sending.badged.containsUTF8(of: name)
            let added = list.append(&recipient.registrations[index], increments: counts)
            if added.changesBadge { isRecipientChanged = true }
            if counts, added.changesBadge { sending.badged.append(name) }
            if added.isTarget, !sending.devices.containsUTF8(of: name) { sending.devices.append(name) }
        }
        sending.addressees = .init(devices: list.end(), targets: list.targets, category: category, thread: thread)
        // An app leaves the foreground after some time, and a replay takes what is not sent for one in doubt.
        if list.dependsOnTime || list.targets == 0 { isReplayable = false }
        return list.targets > 0 ? nil : list.reason ?? .noDevice
    }

    /// Whether any device may present a content, as far as devices are known.
    func isPresentable(_ facts: ContentFacts) -> Bool {
        guard !recipient.registrations.isEmpty else { return !rules.requiresDevice }
        return recipient.registrations.contains { device in
            guard device.isActive else { return false }
            let presentation = DevicePresentation(
                of: facts,
                status: device.registration.authorizationStatus,
                settings: device.registration.settings,
                isForeground: false,
                category: nil
            )
            if case .presented = presentation.verdict { return true }
            return false
        }
    }

    /// What was not delivered has added nothing to the badges, unless a device may show it.
    mutating func takeBackBadges(of sending: StateEntry.Sending) {
        guard !sending.badged.isEmpty, !sending.isInDoubt, let content = sending.content else { return }
        let increment = ContentFacts(content).badgeIncrement
        for index in recipient.registrations.indices
        where sending.badged.containsUTF8(of: recipient.registrations[index].name) {
            guard let badge = recipient.registrations[index].badge else { continue }
            recipient.registrations[index].badge = max(0, badge - increment)
            isRecipientChanged = true
        }
    }
}

/// Writes the list of a notification's devices: `[{"device":"iphone-1","outcome":"accepted",…}]`.
struct DeviceList {
    private let facts: ContentFacts
    private let policy: ForegroundPolicy?
    private let now: Timestamp
    private let foregroundKept: Int64
    private var json: [UInt8] = []
    /// How many devices present it.
    private(set) var targets = 0
    /// Why the first device does not.
    private(set) var reason: ReasonCode?
    /// Whether an app was in the foreground when it said so last: it decides only for some time.
    private(set) var dependsOnTime = false

    /// - Parameters:
    ///   - facts: of the content.
    ///   - policy: of its category, for apps in the foreground.
    ///   - now: when it is sent.
    ///   - foregroundKept: how long an app counts as being in the foreground, in milliseconds.
    init(facts: ContentFacts, policy: ForegroundPolicy?, at now: Timestamp, foregroundKept: Int64) {
        (self.facts, self.policy, self.now, self.foregroundKept) = (facts, policy, now, foregroundKept)
        json.reserveCapacity(384)
        json.append(UInt8(ascii: "["))
    }

    /// - Parameters:
    ///   - device: an active one; its badge becomes what it shows then.
    ///   - increments: whether this notification adds to the device's badge, and has not yet.
    /// - Returns: whether the device gets the notification, and whether its badge has changed.
    mutating func append(
        _ device: inout RecipientRecord.RegisteredDevice,
        increments: Bool
    ) -> (isTarget: Bool, changesBadge: Bool) {
        dependsOnTime = dependsOnTime || device.isForeground
        let presentation = DevicePresentation(
            of: facts,
            status: device.registration.authorizationStatus,
            settings: device.registration.settings,
            isForeground: device.isInForeground(at: now, kept: foregroundKept),
            category: policy
        )
        if json.count > 1 { json.append(UInt8(ascii: ",")) }
        JSONWriter.append("{\"device\":", to: &json)
        JSONWriter.append(string: device.name, to: &json)
        let before = targets
        var badge: Int64?
        switch presentation.verdict {
        case .left(let reason):
            self.reason = self.reason ?? reason
            JSONWriter.append(",\"outcome\":\"suppressed\",\"reason\":", to: &json)
            JSONWriter.append(string: reason.rawValue, to: &json)
        case .presented(let options):
            targets += 1
            JSONWriter.append(",\"outcome\":\"accepted\",\"presentation\":", to: &json)
            options.write(to: &json)
            if options.contains(.badge) { badge = self.badge(after: device.badge ?? 0, increments: increments) }
            if let badge {
                JSONWriter.append(",\"badge\":", to: &json)
                JSONWriter.append(number: badge, to: &json)
            }
            if presentation.level != facts.level {
                JSONWriter.append(",\"interruptionLevel\":", to: &json)
                JSONWriter.append(string: presentation.level.rawValue, to: &json)
            }
            if presentation.decider != .system {
                JSONWriter.append(",\"decidedBy\":", to: &json)
                JSONWriter.append(string: presentation.decider.rawValue, to: &json)
            }
            if let locale = device.registration.locale {
                JSONWriter.append(",\"locale\":", to: &json)
                JSONWriter.append(string: locale, to: &json)
            }
        }
        json.append(UInt8(ascii: "}"))
        let isTarget = targets > before
        guard let badge, badge != device.badge else { return (isTarget, false) }
        device.badge = badge
        return (isTarget, true)
    }

    private func badge(after former: Int64, increments: Bool) -> Int64? {
        if let badge = facts.badge { return badge }
        guard facts.badgeIncrement > 0 else { return nil }
        return increments ? min(ModelLimits.badge, former + facts.badgeIncrement) : former
    }

    /// The list.
    mutating func end() -> ArraySlice<UInt8> {
        json.append(UInt8(ascii: "]"))
        return json[...]
    }
}
