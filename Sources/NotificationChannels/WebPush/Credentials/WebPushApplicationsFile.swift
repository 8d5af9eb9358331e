import NotificationModel
import OutboundHTTP
import ServiceHTTP
import ServiceSupport
import Yams

/// The file of `webpush.applications.file`: the key of each application, and the page that its notifications open.
///
///     shop:
///       key-file: /etc/carillon/shop-vapid.pem
///       subject: mailto:push@shop.example
///       navigate: https://shop.example/open?target={target}
///       too-large: [drop-media, shorten]
///
/// Messages name the place in the file and the files that it names, and never quote keys.
package enum WebPushApplicationsFile {
    package static let setting = "webpush.applications.file"

    private enum Member: String, CaseIterable {
        case subject, navigate
        case keyFile = "key-file"
        case tooLarge = "too-large"
    }

    /// Reads the file and those that it names. Blocks.
    package static func load(path: String) throws(PushSettingsError) -> WebPushApplications { try read(.path(path)) }

    static func parse(_ text: String, of path: String) throws(PushSettingsError) -> WebPushApplications {
        try read(.text(text, of: path))
    }

    private static func read(_ source: ApplicationsFile.Source) throws(PushSettingsError) -> WebPushApplications {
        try ApplicationsFile.read(source, of: setting) { file throws(YAMLFile.Problem) in try applications(file) }
    }

    private static func applications(_ file: YAMLFile) throws(YAMLFile.Problem) -> WebPushApplications {
        var applications: [ExactText: WebPushApplication] = [:]
        // Several applications may have one key.
        var keys: [String: ES256Key] = [:]
        for (name, node) in try ApplicationsFile.applications(of: file) {
            applications[ExactText(name)] = try application(ApplicationMembers(name, node, file), &keys)
        }
        return WebPushApplications(applications)
    }

    private static func application(
        _ found: ApplicationMembers<Member>,
        _ keys: inout [String: ES256Key]
    ) throws(YAMLFile.Problem) -> WebPushApplication {
        let file = found.file
        func required(_ member: Member, _ example: String) throws(YAMLFile.Problem) -> (Node, String) {
            let value = try found.required(member, example)
            return (value, try file.text(value, member.rawValue))
        }
        let (keyNode, path) = try required(.keyFile, "a key that `carillon webpush keys` has made")
        let (subjectNode, subject) = try required(.subject, "mailto:push@shop.example")
        let (pageNode, address) = try required(.navigate, "the page that a notification opens")
        guard VAPIDKey.isSubject(subject) else {
            throw file.problem(
                subjectNode,
                "`subject` must be an address of yours, mailto:push@shop.example or https://shop.example/contact: push "
                    + "services refuse others"
            )
        }
        guard let page = PageAddress(address) else {
            throw file.problem(
                pageNode,
                "`navigate` must be an https URL; after its host it may have {target}"
            )
        }
        let key: VAPIDKey
        do throws(SigningKeyError) {
            let signing: ES256Key
            if let known = keys[path] { signing = known } else { signing = try ES256Key.load(path: path) }
            keys[path] = signing
            key = try VAPIDKey(signing, subject: subject)
        } catch {
            throw file.problem(keyNode, "`key-file`: \(error.message)")
        }
        var application = WebPushApplication(key: key, page: page)
        application.oversize = try found.oversize(.tooLarge)
        return application
    }
}
