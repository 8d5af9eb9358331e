import NotificationModel
import NotificationState

/// The list of a notification's devices: `[{"device":"iphone-1","outcome":"accepted",…}]`.
struct DeviceList {
    private let facts: ContentFacts
    private let policy: ForegroundPolicy?
    private let rules: LifecycleRules
    private let now: Timestamp
    private let isQuiet: Bool
    private let localizations: ContentLocalizations?
    private var list = DeviceJSON()
    /// Why the first device does not present it.
    private(set) var reason: ReasonCode?
    /// Whether an app was in the foreground when it said so last: it decides only for some time.
    private(set) var dependsOnTime = false

    /// - Parameters:
    ///   - facts: of the content.
    ///   - localizations: of the content.
    ///   - policy: of its category, for apps in the foreground.
    ///   - now: when it is sent.
    ///   - isQuiet: whether neither a banner is shown nor a sound is played.
    init(
        _ facts: ContentFacts,
        _ localizations: ContentLocalizations?,
        policy: ForegroundPolicy?,
        _ rules: LifecycleRules,
        at now: Timestamp,
        isQuiet: Bool = false
    ) {
        (self.facts, self.policy, self.rules, self.now, self.isQuiet) = (facts, policy, rules, now, isQuiet)
        self.localizations = localizations
        list.bytes.reserveCapacity(512)
        list.bytes.append(UInt8(ascii: "["))
    }

    /// - Parameters:
    ///   - device: an active one; its badge becomes what it shows then.
    ///   - increments: whether this notification adds to the device's badge, and has not yet.
    ///   - isReached: whether a channel of the service reaches it.
    /// - Returns: whether the device gets the notification, and whether its badge has changed.
    mutating func append(
        _ device: inout RecipientRecord.RegisteredDevice,
        increments: Bool,
        isReached: Bool = true
    ) -> (isTarget: Bool, changesBadge: Bool) {
        dependsOnTime = dependsOnTime || device.isForeground
        let presentation = DevicePresentation(
            of: facts,
            status: device.registration.authorizationStatus,
            settings: device.registration.settings,
            isForeground: !isQuiet && device.isInForeground(at: now, kept: rules.foregroundKept),
            category: policy
        )
        if list.bytes.count > 1 { list.bytes.append(UInt8(ascii: ",")) }
        let start = list.bytes.count
        var object = JSONObjectWriter()
        object.member("device", device.name, &list.bytes)
        var badge: Int64?
        var isTarget = false
        switch isReached ? presentation.verdict : .left(.unsupportedForm) {
        case .left(let reason):
            self.reason = self.reason ?? reason
            object.member("outcome", "suppressed", &list.bytes)
            object.member("reason", reason.rawValue, &list.bytes)
            device.writeAddress(to: &object, &list.bytes, rules)
        case .presented(var options):
            isTarget = true
            if isQuiet { options.subtract([.banner, .sound]) }
            list.targets.append(.init(device: device.name, start: start, outcome: list.bytes.count))
            JSONWriter.append(DeviceJSON.accepted, to: &list.bytes)
            device.writeAddress(to: &object, &list.bytes, rules)
            object.begin("presentation", &list.bytes)
            options.write(to: &list.bytes)
            if options.contains(.badge) { badge = self.badge(after: device.badge, increments: increments) }
            object.member("badge", badge, &list.bytes)
            if presentation.level != facts.level {
                object.member("interruptionLevel", presentation.level.rawValue, &list.bytes)
            }
            if presentation.decider != .system {
                object.member("decidedBy", presentation.decider.rawValue, &list.bytes)
            }
            object.member("locale", device.registration.locale, &list.bytes)
            object.member("localization", localizations?.tag(for: device.registration.locale), &list.bytes)
        }
        object.end(&list.bytes)
        if isTarget { list.targets[list.targets.count - 1].end = list.bytes.count }
        guard let badge, badge != device.badge else { return (isTarget, false) }
        device.badge = badge
        return (isTarget, true)
    }

    private func badge(after former: Int64?, increments: Bool) -> Int64? {
        // What is delivered again changes no badge: others may have come since.
        if isQuiet, let former { return former }
        if let badge = facts.badge { return badge }
        guard facts.badgeIncrement > 0 else { return nil }
        return increments ? min(ModelLimits.badge, (former ?? 0) + facts.badgeIncrement) : former ?? 0
    }

    /// The list.
    mutating func end() -> DeviceJSON {
        list.bytes.append(UInt8(ascii: "]"))
        return list
    }
}
