package import NotificationModel

/// How notifications of one application reach its users' Android devices.
package struct FCMApplication: Sendable {
    /// Who shows a notification.
    package enum Display: String, CaseIterable, Hashable, Sendable {
        /// The system, while the app is in the background: a notification message.
        case system
        /// The same in the newer form, `androidV2`: the content's `mutableContent` hands it to the app first.
        case systemV2 = "system-v2"
        /// The app, always: a data message.
        case app
    }

    /// Package names of its apps.
    package var packages: [String]
    /// Who sends.
    package var account: ServiceAccount
    /// The Firebase project; the account's own unless the file says otherwise.
    package var project: String
    package var display = Display.system
    /// Android's notification channel by interruption level; that of `active` is also for levels that are not there.
    package var channels: [InterruptionLevel: String] = [:]
    /// The action of the activity that a tap starts; nil for the app's first one.
    package var clickAction: String?
    /// Whether messages of one thread that a device has not got yet are merged into the last one (`collapse_key`).
    package var collapsesThreads = false
    /// What becomes of a message that is too large.
    package var oversize = OversizePolicy.standard

    package init(packages: [String], account: ServiceAccount, project: String? = nil) {
        (self.packages, self.account, self.project) = (packages, account, project ?? account.project)
    }

    /// Whether a registration is one of its apps: one that names no package is.
    func has(package name: String?) -> Bool {
        guard let name else { return true }
        return packages.contains { $0.hasSameUTF8(as: name) }
    }

    /// Android's notification channel for a level; nil for the app's default.
    func channel(for level: InterruptionLevel) -> String? { channels[level] ?? channels[.active] }
}

/// The applications of the service. A value that is read once, and again after SIGHUP.
package struct FCMApplications: Sendable {
    /// By the name in keys of notifications.
    let byName: [ExactText: FCMApplication]

    init(_ byName: [ExactText: FCMApplication] = [:]) { self.byName = byName }

    package var count: Int { byName.count }

    /// - Parameter name: as in keys of notifications.
    package subscript(name: String) -> FCMApplication? { byName[ExactText(name)] }
}
