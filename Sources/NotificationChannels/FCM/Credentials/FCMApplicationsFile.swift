import NotificationModel
import OutboundHTTP
import ServiceHTTP
import ServiceSupport
import Yams

/// The file of `fcm.applications.file`: the Android apps of each application, and the service account of its Firebase project.
///
///     shop:
///       packages: com.example.shop
///       service-account: /etc/carillon/shop-firebase.json
///       channels: {passive: quiet, active: orders, timeSensitive: urgent}
///     bank:
///       packages: [com.example.bank, com.example.bank.beta]
///       service-account: /etc/carillon/bank-firebase.json
///       project: bank-1234
///       display: app
///       too-large: [drop-media, shorten]
///
/// Messages name the place in the file and the files that it names, and never quote keys.
package enum FCMApplicationsFile {
    package static let setting = "fcm.applications.file"

    private enum Member: String, CaseIterable {
        case packages, project, display, channels, collapse
        case serviceAccount = "service-account"
        case clickAction = "click-action"
        case tooLarge = "too-large"
    }

    /// Reads the file and those that it names. Blocks.
    package static func load(path: String) throws(PushSettingsError) -> FCMApplications { try read(.path(path)) }

    static func parse(_ text: String, of path: String) throws(PushSettingsError) -> FCMApplications {
        try read(.text(text, of: path))
    }

    private static func read(_ source: ApplicationsFile.Source) throws(PushSettingsError) -> FCMApplications {
        try ApplicationsFile.read(source, of: setting) { file throws(YAMLFile.Problem) in try applications(file) }
    }

    private static func applications(_ file: YAMLFile) throws(YAMLFile.Problem) -> FCMApplications {
        var applications: [ExactText: FCMApplication] = [:]
        // Several applications may have one project.
        var accounts: [String: ServiceAccount] = [:]
        for (name, node) in try ApplicationsFile.applications(of: file) {
            applications[ExactText(name)] = try application(ApplicationMembers(name, node, file), &accounts)
        }
        return FCMApplications(applications)
    }

    private static func application(
        _ found: ApplicationMembers<Member>,
        _ accounts: inout [String: ServiceAccount]
    ) throws(YAMLFile.Problem) -> FCMApplication {
        let file = found.file
        let packages = try found.required(.packages, "com.example.shop")
        let accountFile = try found.required(.serviceAccount, "the key file of a service account")
        let path = try file.text(accountFile, Member.serviceAccount.rawValue)
        let account: ServiceAccount
        if let known = accounts[path] {
            account = known
        } else {
            do throws(SigningKeyError) {
                account = try ServiceAccount.load(path: path)
            } catch {
                throw file.problem(accountFile, "`service-account`: \(error.message)")
            }
            accounts[path] = account
        }
        var application = FCMApplication(
            packages: try ApplicationsFile.identifiers(packages, Member.packages.rawValue, "package name", file),
            account: account
        )
        guard !application.packages.isEmpty else { throw file.problem(packages, "`packages` has none") }
        if let node = found[.project] {
            application.project = try file.text(node, Member.project.rawValue)
            guard ApplicationsFile.isIdentifier(application.project) else {
                throw file.problem(node, "`project` must be the id of a project: letters, digits and '-'")
            }
        }
        if let node = found[.display] { application.display = try choice(node, .display, file) }
        if let node = found[.channels] { application.channels = try channels(node, file) }
        if let node = found[.clickAction] { application.clickAction = try shortText(node, .clickAction, file) }
        if let node = found[.collapse] {
            let _: Collapse = try choice(node, .collapse, file)
            application.collapsesThreads = true
        }
        application.oversize = try found.oversize(.tooLarge)
        return application
    }

    /// What messages that wait are merged by.
    private enum Collapse: String, CaseIterable {
        case thread
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ node: Node,
        _ member: Member,
        _ file: YAMLFile
    ) throws(YAMLFile.Problem) -> Choice {
        guard let choice = Choice(rawValue: try file.text(node, member.rawValue)) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw file.problem(node, "`\(member.rawValue)` must be one of: \(known)")
        }
        return choice
    }

    /// One channel for all levels, or one for each.
    private static func channels(
        _ node: Node,
        _ file: YAMLFile
    ) throws(YAMLFile.Problem) -> [InterruptionLevel: String] {
        if case .scalar = node { return [.active: try shortText(node, .channels, file)] }
        var channels: [InterruptionLevel: String] = [:]
        for (name, value) in try file.members(node, Member.channels.rawValue) {
            guard let level = InterruptionLevel(rawValue: name) else {
                throw file.unknown(name, value, among: InterruptionLevel.allCases.map(\.rawValue))
            }
            channels[level] = try shortText(value, .channels, file)
        }
        return channels
    }

    private static func shortText(
        _ node: Node,
        _ member: Member,
        _ file: YAMLFile
    ) throws(YAMLFile.Problem) -> String {
        let text = try file.text(node, member.rawValue)
        guard (1...ModelLimits.bundleIdentifierBytes).contains(text.utf8.count) else {
            throw file.problem(
                node,
                "`\(member.rawValue)` must have 1 to \(ModelLimits.bundleIdentifierBytes) bytes"
            )
        }
        return text
    }
}
