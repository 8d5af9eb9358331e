import APNsSimulator
import Foundation
import Kafka
import LocalBroker
import Logging
import NotificationModel
import NotificationPublisher
import ServiceLifecycle

/// The iPhone of `carillon local --apns`: each change of its screen is printed.
struct LocalPhone: Service {
    /// The device, and its recipient.
    static let (device, recipient) = ("iphone", "ana")
    /// How often the screen is looked at.
    private static let glance = Duration.milliseconds(50)

    private let simulator: APNsSimulator
    private let token: String

    /// Gives the simulator an iPhone that has the app.
    init(of simulator: APNsSimulator) throws(CommandFailure) {
        let words = (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }
        token = words.map { String(repeating: "0", count: 16 - $0.count) + $0 }.joined()
        self.simulator = simulator
        do throws(APNsSimulatorError) {
            try simulator.register(token, device: Self.device, topic: LocalPushServices.app)
        } catch {
            throw CommandFailure("\(error)", status: ExitStatus.failed)
        }
    }

    /// The app registers with the recipient.
    ///
    /// - Parameters:
    ///   - application: The default one of the services.
    ///   - topic: The topic of devices.
    func register(_ application: String, on broker: LocalBroker, topic: String, logger: Logger) async throws {
        var registration = try DeviceRegistration(platform: "apns", token: token)
        registration.bundleIdentifier = LocalPushServices.app
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
                let shown = simulator.device(Self.device)?.shown(by: LocalPushServices.app) ?? []
                for line in screen.changes(to: shown) { Terminal.write("[\(Self.device)] \(line)\n") }
                guard (try? await Task.sleep(for: Self.glance)) != nil else { return }
            }
        }
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
