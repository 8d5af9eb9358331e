import APNsSimulator
import FCMSimulator
import Foundation
import NotificationChannels
import NotificationModel
import OutboundHTTP
import PushSimulation
import ServiceLifecycle

/// The push services of `carillon local`: simulators of APNs and FCM, and a key for browsers.
struct LocalPushServices: Service {
    /// The app on all phones.
    static let app = "com.example.app"

    enum Platform: CaseIterable {
        case apns, fcm, webpush

        /// Who sets it has set the platform up.
        fileprivate var variable: String {
            switch self {
            case .apns: "CARILLON_APNS_APPLICATIONS_FILE"
            case .fcm: "CARILLON_FCM_APPLICATIONS_FILE"
            case .webpush: "CARILLON_WEBPUSH_APPLICATIONS_FILE"
            }
        }
    }

    let platforms: Set<Platform>
    let apns: APNsSimulator
    let fcm: FCMSimulator
    /// The public key of Web Push.
    let browserKey: String
    /// See ``clear()``.
    private let folder: URL

    /// The platforms that are simulated: those that the operator has not set up.
    ///
    /// - Parameters:
    ///   - variables: the process environment.
    ///   - hasFile: whether there is a file of settings, which then says everything.
    ///   - isAsked: whether an option asks for the simulator of APNs, whatever is set.
    static func wanted(_ variables: [String: String], hasFile: Bool, isAsked: Bool) -> Set<Platform> {
        var platforms = Set(Platform.allCases.filter { !hasFile && variables[$0.variable] == nil })
        if isAsked { platforms.insert(.apns) }
        return platforms
    }

    /// Starts the simulators, on free ports.
    static func start(_ platforms: Set<Platform>) async throws -> LocalPushServices {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "carillon-local-\(UUID().uuidString)"
        )
        do {
            // One folder, and so one authority that the services trust.
            let apns = try await APNsSimulator.start(APNsSimulatorConfiguration(directory: folder.path))
            let fcm = try await FCMSimulator.start(FCMSimulatorConfiguration(directory: folder.path))
            let keyFile = folder.appendingPathComponent("browsers.pem").path
            try SimulatorFiles.write(try P256PrivateKey.generate().pem(), to: keyFile, isSecret: true)
            let browserKey = try VAPIDKey.publicKey(of: ES256Key.load(path: keyFile))
            return LocalPushServices(
                platforms: platforms,
                apns: apns,
                fcm: fcm,
                browserKey: browserKey,
                folder: folder
            )
        } catch {
            try? FileManager.default.removeItem(at: folder)
            throw CommandFailure("\(error)", status: ExitStatus.failed)
        }
    }

    // MARK: - Settings

    private func file(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// What the consumer service needs to reach the phones. The channel of requests that name none stays as it is.
    func set(_ variables: inout [String: String]) throws {
        let channels = (variables["CARILLON_CHANNELS"] ?? "").split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        if !channels.contains("devices") {
            variables["CARILLON_CHANNELS"] = (channels + ["devices"]).joined(separator: ",")
        }
        if platforms.contains(.apns) {
            variables["CARILLON_APNS_APPLICATIONS_FILE"] = file("iphones.yaml")
            variables["CARILLON_APNS_INTERNAL"] = "true"
            variables["CARILLON_APNS_PRODUCTION_URL"] = "https://127.0.0.1:\(apns.productionPort)"
            variables["CARILLON_APNS_DEVELOPMENT_URL"] = "https://127.0.0.1:\(apns.developmentPort)"
        }
        if platforms.contains(.fcm) {
            variables["CARILLON_FCM_APPLICATIONS_FILE"] = file("android.yaml")
            variables["CARILLON_FCM_INTERNAL"] = "true"
            variables["CARILLON_FCM_URL"] = "https://127.0.0.1:\(fcm.port)"
        }
        if platforms.contains(.webpush) { variables["CARILLON_WEBPUSH_APPLICATIONS_FILE"] = file("browsers.yaml") }
        var authorities = try Data(contentsOf: URL(fileURLWithPath: apns.authorityFile))
        if let own = variables["CARILLON_EGRESS_CA_FILE"] {
            guard let more = FileManager.default.contents(atPath: own) else {
                throw CommandFailure("\(own) of CARILLON_EGRESS_CA_FILE cannot be read", status: ExitStatus.settings)
            }
            authorities += Data("\n".utf8) + more
        }
        try authorities.write(to: URL(fileURLWithPath: file("authorities.pem")))
        variables["CARILLON_EGRESS_CA_FILE"] = file("authorities.pem")
    }

    /// Writes the files of applications.
    ///
    /// - Parameter application: The default one of the services.
    func writeApplications(_ application: String) throws {
        try write(
            "iphones.yaml",
            application,
            [
                "bundles": Self.app, "team": APNsSimulator.ownTeam, "key": APNsSimulator.ownKeyID,
                "key-file": apns.keyFile ?? "",
            ]
        )
        // The app shows notifications itself, with the actions of their category.
        try write(
            "android.yaml",
            application,
            ["packages": Self.app, "service-account": fcm.accountFile, "display": "app"]
        )
        try write(
            "browsers.yaml",
            application,
            [
                "key-file": file("browsers.pem"), "subject": "mailto:nobody@example.com",
                "navigate": "https://example.com/?target={target}",
            ]
        )
    }

    private func write(_ name: String, _ application: String, _ members: [String: String]) throws {
        let own = members.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .string($0.value)) }
        // JSON is YAML.
        try Data(JSONValue.object([.init(application, .object(own))]).json).write(to: URL(fileURLWithPath: file(name)))
    }

    // MARK: - Phones

    /// The simulators whose phones the page shows.
    func phones(owner: String?) -> [PhoneSimulator] {
        var phones: [PhoneSimulator] = []
        if platforms.contains(.apns), let port = apns.controlPort {
            phones.append(PhoneSimulator(platform: .apns, client: Self.client(port), app: Self.app, owner: owner))
        }
        if platforms.contains(.fcm) {
            phones.append(PhoneSimulator(platform: .fcm, client: Self.client(fcm.controlPort), app: Self.app))
        }
        return phones
    }

    private static func client(_ port: Int) -> ServiceClient {
        ServiceClient(on: HostPort(host: "127.0.0.1", port: port))
    }

    func run() async throws {
        try? await gracefulShutdown()
        await apns.stop()
        await fcm.stop()
    }

    /// Deletes the files.
    func clear() { try? FileManager.default.removeItem(at: folder) }
}
