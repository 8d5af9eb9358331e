import ArgumentParser
import Foundation
import NotificationChannels
import NotificationModel
import OutboundHTTP

/// Who sends a push: a key, a certificate, or an application of the service's file.
struct PushCredentialOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The key of Apple, a .p8 file.", valueName: "file"),
        completion: .file(extensions: ["p8"])
    )
    var key: String?

    @Option(
        help: ArgumentHelp("The key's id. Default: the one in the name AuthKey_ID.p8.", valueName: "id")
    )
    var keyID: String?

    @Option(help: ArgumentHelp("The id of the developer's team.", valueName: "id"))
    var teamID: String?

    @Option(
        help: ArgumentHelp("In the place of a key: a certificate, in PEM.", valueName: "file"),
        completion: .file(extensions: ["pem"])
    )
    var certificate: String?

    @Option(
        help: ArgumentHelp("The certificate's key, in PEM, when it is in a file of its own.", valueName: "file"),
        completion: .file(extensions: ["pem"])
    )
    var certificateKey: String?

    @Option(
        help: ArgumentHelp("In the place of both: the file of apns.applications.file.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"])
    )
    var applications: String?

    @Option(help: ArgumentHelp("The application in that file.", valueName: "name"))
    var application: String?

    /// Who sends, and what the file says of the application.
    struct Provider {
        var credentials: APNsCredentials
        /// Nil without a file.
        var application: APNsApplication?
    }

    /// Whether there are any.
    var isGiven: Bool { key != nil || certificate != nil || applications != nil }

    func validate() throws {
        guard !Validation.isLater else { return }
        let ways = [("--key", key), ("--certificate", certificate), ("--applications", applications)].filter {
            $0.1 != nil
        }
        guard ways.count <= 1 else {
            throw ValidationError("\(ways.map(\.0).joined(separator: " and ")) exclude each other")
        }
        guard key != nil || (keyID == nil && teamID == nil) else {
            throw ValidationError("--key-id and --team-id are for --key")
        }
        guard certificate != nil || certificateKey == nil else {
            throw ValidationError("--certificate-key is for --certificate")
        }
        guard (applications != nil) == (application != nil) else {
            throw ValidationError("--applications needs --application, and the other way round")
        }
        if key != nil { _ = try keyIDs() }
    }

    /// - Parameter environment: Of the device.
    /// - Returns: Nil without options.
    /// - Throws: ``CommandFailure`` for files that cannot be used.
    func provider(_ environment: DeviceRegistration.Environment) throws -> Provider? {
        if let key {
            let ids = try keyIDs()
            do throws(SigningKeyError) {
                let tokens = ProviderTokens(teamID: ids.team, keyID: ids.key, key: try ES256Key.load(path: key))
                return Provider(credentials: .tokens(tokens))
            } catch {
                throw CommandFailure("--key: \(error.message)", status: ExitStatus.noInput)
            }
        }
        if let certificate {
            do throws(OutboundTLS.AuthoritiesError) {
                let identity = try OutboundTLS.Identity(certificates: certificate, key: certificateKey ?? certificate)
                return Provider(credentials: .certificate(identity))
            } catch {
                throw CommandFailure("--certificate: \(error)", status: ExitStatus.noInput)
            }
        }
        guard let applications, let application else { return nil }
        return try provider(of: application, in: applications, environment)
    }

    private func provider(
        of name: String,
        in file: String,
        _ environment: DeviceRegistration.Environment
    ) throws -> Provider {
        let all: APNsApplications
        do throws(PushSettingsError) {
            all = try APNsApplicationsFile.load(path: file)
        } catch {
            throw CommandFailure(error.message, status: ExitStatus.settings)
        }
        guard let found = all[name] else {
            throw CommandFailure("\(file) has no application \(RecordText.safe(name))", status: ExitStatus.usage)
        }
        guard let credentials = found.credentials[environment] else {
            throw CommandFailure(
                "\(RecordText.safe(name)) has no credentials for \(environment.rawValue)",
                status: ExitStatus.usage
            )
        }
        return Provider(credentials: credentials, application: found)
    }

    private func keyIDs() throws -> (team: String, key: String) {
        guard let teamID else { throw ValidationError("--key needs --team-id") }
        guard let id = keyID ?? key.flatMap(Self.id(ofFile:)) else {
            throw ValidationError("--key needs --key-id, unless the file is called AuthKey_ID.p8")
        }
        for (option, id) in [("--team-id", teamID), ("--key-id", id)] where !ProviderTokens.isID(id) {
            throw ValidationError("\(option) takes \(ProviderTokens.idCharacters) capital letters and digits")
        }
        return (teamID, id)
    }

    /// Apple's name of a key's file has its id.
    static func id(ofFile path: String) -> String? {
        let name = URL(fileURLWithPath: path).lastPathComponent
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
        let id = String(name.dropFirst(8).dropLast(3))
        return ProviderTokens.isID(id) ? id : nil
    }
}
