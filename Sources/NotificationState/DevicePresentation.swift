package import NotificationModel

/// How a device presents a notification: what its authorization and settings leave of what the content asks for and, while
/// the app is in the foreground, what the app's delegate would decide.
///
/// A content asks for a banner and the list (alert text), a sound, a badge; a passive one neither for a banner nor a sound.
/// A content that asks for nothing, such as `userInfo` alone, is data for the app: it is presented with no options, not left
/// out.
package struct DevicePresentation: Sendable, Hashable {
    /// Whether the device gets the notification.
    package enum Verdict: Sendable, Hashable {
        /// It gets it and shows this; no options are silent.
        case presented(PresentationOptions)
        /// It does not: `not-authorized`, or `disabled` when its settings allow nothing of what the content asks for.
        case left(ReasonCode)
    }

    /// Who decided the options.
    package enum Decider: String, CaseIterable, Sendable, Hashable {
        /// The system: the app is not in the foreground, or the device does not allow the notification.
        case system
        /// The delegate, by the policy of the notification.
        case notification
        /// The delegate, by the policy of the category.
        case category
        /// A delegate without the method: nothing is shown.
        case unhandled = "no-method"
        /// There is no delegate: the notification's own options count.
        case noDelegate = "no-delegate"
    }

    /// Whether the device gets the notification, and what it shows.
    package var verdict: Verdict
    /// Who decided the options.
    package var decider: Decider
    /// The level that the device allows: without its settings `critical` is `timeSensitive`, and that `active`.
    package var level: InterruptionLevel

    /// Decides for one device.
    ///
    /// Settings that are not known restrict nothing. Those about places and times (`lockScreen`, `carPlay`, `announcement`,
    /// `scheduledDelivery`, `directMessages`) are left to the device, and so are `showPreviews` and the kind of alert.
    ///
    /// - Parameters:
    ///   - facts: of the content.
    ///   - status: what the person decided; `provisional` is quiet.
    ///   - settings: of the device.
    ///   - isForeground: whether the app is in the foreground on the device.
    ///   - category: the policy of the content's category.
    package init(
        of facts: ContentFacts,
        status: AuthorizationStatus,
        settings: DeviceSettings,
        isForeground: Bool,
        category: ForegroundPolicy?
    ) {
        level = settings.limiting(facts.level)
        decider = .system
        let isQuiet: Bool
        switch status {
        case .notDetermined, .denied:
            verdict = .left(.notAuthorized)
            return
        case .provisional: isQuiet = true
        case .authorized, .ephemeral: isQuiet = false
        }
        let asked = facts.options
        var allowed = asked.subtracting(settings.disabledOptions(facts))
        if isQuiet { allowed.subtract(.disturbing) }
        guard asked.isEmpty || !allowed.isEmpty else {
            verdict = .left(.disabled)
            return
        }
        if isForeground {
            switch facts.foreground ?? category {
            case .options(let options):
                decider = facts.foreground == nil ? .category : .notification
                allowed.formIntersection(options)
            case .unhandled:
                decider = .unhandled
                allowed = []
            case nil: decider = .noDelegate
            }
        }
        verdict = .presented(allowed)
    }
}

extension PresentationOptions {
    /// What passive notifications and provisional authorization do without.
    fileprivate static let disturbing: PresentationOptions = [.banner, .sound]
}

extension ContentFacts {
    /// What the content asks for.
    fileprivate var options: PresentationOptions {
        var options: PresentationOptions = []
        if hasAlert { options.formUnion([.banner, .list]) }
        if hasSound { options.formUnion(.sound) }
        if badge != nil || badgeIncrement > 0 { options.formUnion(.badge) }
        if level == .passive { options.subtract(.disturbing) }
        return options
    }
}

extension DeviceSettings {
    /// The level or, where a setting does not allow it, the next lower one that is allowed.
    fileprivate func limiting(_ level: InterruptionLevel) -> InterruptionLevel {
        switch level {
        case .passive, .active: level
        case .critical where allows(.criticalAlert): .critical
        case .critical, .timeSensitive: allows(.timeSensitive) ? .timeSensitive : .active
        }
    }

    /// What the settings take away.
    fileprivate func disabledOptions(_ facts: ContentFacts) -> PresentationOptions {
        var options: PresentationOptions = []
        if !allows(.alert) { options.formUnion([.banner, .list]) }
        if !allows(.notificationCenter) { options.formUnion(.list) }
        if alertStyle == .nothing { options.formUnion(.banner) }
        if !allows(.badge) { options.formUnion(.badge) }
        // Only a known permission lets a critical sound pass where sounds are off.
        if !allows(.sound), !(facts.hasCriticalSound && self[.criticalAlert] == .enabled) { options.formUnion(.sound) }
        return options
    }
}

extension AuthorizationStatus {
    /// Whether the person lets the device show anything.
    package var permitsNotifications: Bool {
        switch self {
        case .authorized, .provisional, .ephemeral: true
        case .notDetermined, .denied: false
        }
    }
}
