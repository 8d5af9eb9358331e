import NotificationModel
import OutboundHTTP
import ServiceHTTP
import ServiceSupport
import Yams

/// The file of `apns.applications.file`: the apps of each application, and the keys or certificates for their pushes.
///
///     shop:
///       bundles: com.example.shop
///       team: DEF123GHIJ
///       key: ABC123DEFG
///       key-file: /etc/carillon/AuthKey_ABC123DEFG.p8
///       too-large: [drop-media, shorten]
///     bank:
///       bundles: [com.example.bank, com.example.bank.clip]
///       production: {certificate: /etc/carillon/bank.pem, certificate-key: /etc/carillon/bank-key.pem}
///       development: {team: GHI456JKLM, key: NOP789QRST, key-file: /etc/carillon/AuthKey_NOP789QRST.p8}
///       removal: overwrite
///       removal-text: This message was withdrawn.
///
/// Credentials of an application itself are for both environments. Messages name the place in the file and the files that it
/// names, and never quote keys.
package enum APNsApplicationsFile {
    package static let setting = "apns.applications.file"

    private enum Member: String, CaseIterable {
        case bundles, production, development, removal
        case tooLarge = "too-large"
        case removalText = "removal-text"
    }

    /// Reads the file and those that it names. Blocks.
    ///
    /// - Parameter former: what was read before: keys that are the same keep their tokens, which may not change too often.
    package static func load(
        path: String,
        keeping former: APNsApplications? = nil
    ) throws(PushSettingsError) -> APNsApplications {
        try read(.path(path), former)
    }

    static func parse(
        _ text: String,
        of path: String,
        keeping former: APNsApplications? = nil
    ) throws(PushSettingsError) -> APNsApplications {
        try read(.text(text, of: path), former)
    }

    private static func read(
        _ source: ApplicationsFile.Source,
        _ former: APNsApplications?
    ) throws(PushSettingsError) -> APNsApplications {
        try ApplicationsFile.read(source, of: setting) { file throws(YAMLFile.Problem) in
            try applications(file, former)
        }
    }

    private static func applications(
        _ file: YAMLFile,
        _ former: APNsApplications?
    ) throws(YAMLFile.Problem) -> APNsApplications {
        var credentials = APNsCredentialsReader(file, keeping: former)
        var applications: [ExactText: APNsApplication] = [:]
        for (name, node) in try ApplicationsFile.applications(of: file) {
            applications[ExactText(name)] = try application(name, node, file, &credentials)
        }
        return APNsApplications(applications)
    }

    private static func application(
        _ name: String,
        _ node: Node,
        _ file: YAMLFile,
        _ credentials: inout APNsCredentialsReader
    ) throws(YAMLFile.Problem) -> APNsApplication {
        var bundles: [String] = []
        var (oversize, removal, removalText): (OversizePolicy?, String?, String?)
        var (own, ofEnvironments): ([(String, Node)], [DeviceRegistration.Environment: APNsCredentials]) = ([], [:])
        for (member, value) in try file.members(node, name) {
            switch Member(rawValue: member) {
            case .bundles?: bundles = try self.bundles(value, file)
            case .production?:
                ofEnvironments[.production] = try credentials.read(file.members(value, member), value, member)
            case .development?:
                ofEnvironments[.development] = try credentials.read(file.members(value, member), value, member)
            case .tooLarge?: oversize = try ApplicationsFile.oversize(value, member, file)
            case .removal?: removal = try file.text(value, member)
            case .removalText?: removalText = try file.text(value, member)
            case nil:
                guard APNsCredentialsReader.Member(rawValue: member) != nil else {
                    let known = Member.allCases.map(\.rawValue) + APNsCredentialsReader.Member.allCases.map(\.rawValue)
                    throw file.unknown(member, value, among: known)
                }
                own.append((member, value))
            }
        }
        guard !bundles.isEmpty else {
            throw file.problem(node, "`\(PrintableText.escaped(name))` needs `bundles`: com.example.shop")
        }
        if !own.isEmpty || ofEnvironments.isEmpty {
            guard ofEnvironments.isEmpty else {
                throw file.problem(node, "has credentials of its own and of an environment: give one or the other")
            }
            let found = try credentials.read(own, node, name)
            ofEnvironments = [.production: found, .development: found]
        }
        return APNsApplication(
            bundles: bundles,
            credentials: ofEnvironments,
            oversize: oversize ?? .standard,
            removal: try removalPolicy(removal, removalText, node, file)
        )
    }

    private static func bundles(_ node: Node, _ file: YAMLFile) throws(YAMLFile.Problem) -> [String] {
        try ApplicationsFile.identifiers(node, "bundles", "bundle identifier", file)
    }

    private static func removalPolicy(
        _ name: String?,
        _ text: String?,
        _ node: Node,
        _ file: YAMLFile
    ) throws(YAMLFile.Problem) -> APNsRemovalPolicy {
        switch name {
        case nil where text == nil, "ask" where text == nil: return .ask
        case "overwrite":
            guard let text, (1...ModelLimits.shortTextBytes).contains(text.utf8.count) else {
                throw file.problem(
                    node,
                    "`removal: overwrite` needs a `removal-text` of 1 to \(ModelLimits.shortTextBytes) bytes"
                )
            }
            return .overwrite(text: text)
        case nil, "ask": throw file.problem(node, "`removal-text` is for `removal: overwrite`")
        default: throw file.problem(node, "`removal` must be ask or overwrite")
        }
    }
}

/// Reads the credentials of applications; those of several that name the same files are read once.
struct APNsCredentialsReader {
    enum Member: String, CaseIterable {
        case team, key, certificate
        case keyFile = "key-file"
        case certificateKey = "certificate-key"
    }

    private let file: YAMLFile
    /// Of the file as it was before.
    private let former: [APNsCredentials]
    private var read: [[String]: APNsCredentials] = [:]

    init(_ file: YAMLFile, keeping former: APNsApplications?) {
        (self.file, self.former) = (file, former?.credentials ?? [])
    }

    /// - Parameters:
    ///   - node: where a member is missing.
    ///   - name: of the application or environment.
    mutating func read(
        _ members: [(String, Node)],
        _ node: Node,
        _ name: String
    ) throws(YAMLFile.Problem) -> APNsCredentials {
        var found: [Member: (text: String, node: Node)] = [:]
        for (member, value) in members {
            guard let known = Member(rawValue: member) else {
                throw file.unknown(member, value, among: Member.allCases.map(\.rawValue))
            }
            found[known] = (try file.text(value, member), value)
        }
        let isCertificate = found[.certificate] != nil
        for (member, given) in found where isCertificate != [.certificate, .certificateKey].contains(member) {
            throw file.problem(
                given.node,
                "`\(member.rawValue)` is not for \(isCertificate ? "a certificate" : "a key")"
            )
        }
        let identity = Member.allCases.map { found[$0]?.text ?? "" }
        if let known = read[identity] { return known }
        let new = isCertificate ? try certificate(found) : try tokens(found, node, name)
        let result = former.first { $0.isSame(as: new) } ?? read.values.first { $0.isSame(as: new) } ?? new
        read[identity] = result
        return result
    }

    private func certificate(
        _ found: [Member: (text: String, node: Node)]
    ) throws(YAMLFile.Problem) -> APNsCredentials {
        guard let certificate = found[.certificate] else {
            throw file.problem(nil, "`certificate` is missing")
        }
        do throws(OutboundTLS.AuthoritiesError) {
            let key = found[.certificateKey]?.text ?? certificate.text
            return .certificate(try OutboundTLS.Identity(certificates: certificate.text, key: key))
        } catch {
            throw file.problem(certificate.node, "`certificate`: \(error)")
        }
    }

    private func tokens(
        _ found: [Member: (text: String, node: Node)],
        _ node: Node,
        _ name: String
    ) throws(YAMLFile.Problem) -> APNsCredentials {
        guard let team = found[.team], let key = found[.key], let keyFile = found[.keyFile] else {
            let missing = [Member.team, .key, .keyFile].first { found[$0] == nil }?.rawValue ?? ""
            throw file.problem(
                node,
                "`\(PrintableText.escaped(name))` has no `\(missing)`: it needs team, key and key-file, or a certificate"
            )
        }
        for (member, id) in [(Member.team, team), (Member.key, key)] where !ProviderTokens.isID(id.text) {
            throw file.problem(
                id.node,
                "`\(member.rawValue)` must be the id of a \(member.rawValue): "
                    + "\(ProviderTokens.idCharacters) capital letters and digits"
            )
        }
        do throws(SigningKeyError) {
            let signing = try ES256Key.load(path: keyFile.text)
            return .tokens(ProviderTokens(teamID: team.text, keyID: key.text, key: signing))
        } catch {
            throw file.problem(keyFile.node, "`key-file`: \(error.message)")
        }
    }
}
