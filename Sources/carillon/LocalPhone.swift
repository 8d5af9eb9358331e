import APNsSimulator
import Foundation
import Kafka
import LocalBroker
import Logging
import NotificationModel
import NotificationPublisher
import ServiceLifecycle

/// The simulator of APNs that `carillon local --apns` runs, and an iPhone whose screen it tells of.
struct LocalPhone: Service {
    /// The device, its recipient and its app.
    static let (device, recipient, bundle) = ("iphone", "ana", "com.example.app")
    /// How often the screen is looked at.
    private static let glance = Duration.milliseconds(50)

    let simulator: APNsSimulator
    /// Deleted at the end.
    private let folder: URL
    private let token: String

    /// Starts the simulator, on free ports, with an iPhone that has the app.
    static func start() async throws -> LocalPhone {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "carillon-local-\(UUID().uuidString)"
        )
        do {
            let simulator = try await APNsSimulator.start(APNsSimulatorConfiguration(directory: folder.path))
            let words = (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }
            let token = words.map { String(repeating: "0", count: 16 - $0.count) + $0 }.joined()
            try simulator.register(token, device: device, topic: bundle)
            return LocalPhone(simulator: simulator, folder: folder, token: token)
        } catch let error as APNsSimulatorError {
            try? FileManager.default.removeItem(at: folder)
            throw CommandFailure("\(error)", status: ExitStatus.failed)
        }
    }

    // MARK: - Settings

    private var applicationsFile: URL { folder.appendingPathComponent("applications.yaml") }

    /// What the consumer service needs to reach the phone. The channel stays as it is if it is set.
    func set(_ variables: inout [String: String]) {
        let further = variables["CARILLON_CHANNELS"].map { $0.isEmpty ? "" : "\($0)," } ?? ""
        variables["CARILLON_CHANNELS"] = "\(further)devices"
        variables["CARILLON_APNS_APPLICATIONS_FILE"] = applicationsFile.path
        variables["CARILLON_APNS_INTERNAL"] = "true"
        variables["CARILLON_APNS_PRODUCTION_URL"] = "https://127.0.0.1:\(simulator.productionPort)"
        variables["CARILLON_APNS_DEVELOPMENT_URL"] = "https://127.0.0.1:\(simulator.developmentPort)"
        variables["CARILLON_EGRESS_CA_FILE"] = simulator.authorityFile
    }

    /// Writes the file of applications.
    ///
    /// - Parameter application: The default one of the services.
    func writeApplications(_ application: String) throws {
        let yaml = JSONValue.object([
            .init(
                application,
                .object([
                    .init("bundles", .string(Self.bundle)), .init("team", .string(APNsSimulator.ownTeam)),
                    .init("key", .string(APNsSimulator.ownKeyID)), .init("key-file", .string(simulator.keyFile ?? "")),
                ])
            )
        ])
        // JSON is YAML.
        try Data(yaml.json).write(to: applicationsFile)
    }

    /// The app registers with the recipient.
    ///
    /// - Parameters:
    ///   - application: The default one of the services.
    ///   - topic: The topic of devices.
    func register(_ application: String, on broker: LocalBroker, topic: String, logger: Logger) async throws {
        var registration = try DeviceRegistration(platform: "apns", token: token)
        registration.bundleIdentifier = Self.bundle
        let key = try NotificationKey(application: application, recipient: Self.recipient, identifier: Self.device)
        let record = DeviceRecord(registration, key: key)
        let producer = try KafkaProducer(
            configuration: .init(client: broker.clientConfiguration(clientID: "carillon-local")),
            logger: logger
        )
        let result: Result<KafkaAcknowledgement, any Error>
        do {
            let partitions = try await producer.partitionCount(of: topic)
            result = .success(
                try await producer.send(
                    KafkaProducerRecord(
                        topic: topic,
                        partition: KafkaPartitioner.partition(forKey: key.recipientBytes, count: partitions),
                        key: key.encoded,
                        value: record.value,
                        headers: record.headers
                    )
                )
            )
        } catch {
            result = .failure(error)
        }
        await producer.shutDown(within: .seconds(2))
        _ = try result.get()
    }

    // MARK: - The screen

    /// Tells of what the phone shows, until the end.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            var screen = PhoneScreen()
            while !Task.isCancelled {
                let shown = simulator.device(Self.device)?.shown(by: Self.bundle) ?? []
                for line in screen.changes(to: shown) { Terminal.write("[\(Self.device)] \(line)\n") }
                guard (try? await Task.sleep(for: Self.glance)) != nil else { return }
            }
        }
        await simulator.stop()
        try? FileManager.default.removeItem(at: folder)
    }
}

/// What a phone showed when it was looked at last.
struct PhoneScreen {
    private var shown: [ShownNotification] = []

    /// Lines for people about what has changed.
    mutating func changes(to now: [ShownNotification]) -> [String] {
        defer { shown = now }
        var lines: [String] = []
        for old in shown where !now.contains(where: { $0.identifier == old.identifier }) {
            lines.append("removes  \(Self.text(of: old))")
        }
        for new in now {
            let old = shown.first { $0.identifier == new.identifier }
            if old == nil {
                lines.append("shows    \(Self.text(of: new))")
            } else if old?.id != new.id {
                lines.append("updates  \(Self.text(of: new))")
            }
        }
        return lines
    }

    private static func text(of shown: ShownNotification) -> String {
        let alert = (try? JSONValue.parse(shown.payload))?["aps"]?["alert"]
        let texts = ["title", "subtitle", "body"].compactMap { alert?[$0]?.stringValue }
        return texts.isEmpty ? "a notification without a text" : texts.joined(separator: " · ")
    }
}
