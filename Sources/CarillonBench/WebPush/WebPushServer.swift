import Foundation
import NotificationChannels
import NotificationDelivery
import NotificationModel
import OutboundHTTP
import PushSimulation
import ServiceSupport

/// nginx in the place of a push service, which takes every message.
final class WebPushServer: PushTarget {
    static let subject = "mailto:bench@example.com"
    /// Browsers: each has a key, which nobody has the other half of.
    private static let browsers = 100

    let name = "nginx in the place of a push service"
    /// The PEM file of the key that signs.
    let key: URL
    /// The JSON of each browser's `PushSubscription`.
    let subscriptions: [String]
    private let registrations: [DeviceRegistration]
    private let messages: MessageServer
    private let applications: URL
    private let workbench: Workbench

    init(on workbench: Workbench) throws {
        self.workbench = workbench
        messages = try MessageServer(on: workbench) { origin in
            "add_header location \(origin)/message/0 always; add_header ttl 86400 always; return 201 '';"
        }
        let origin = messages.origin
        key = workbench.place("vapid.pem")
        try Data(P256PrivateKey.generate().pem()).write(to: key)
        subscriptions = try (0..<Self.browsers).map { number in
            // What comes last in a SubjectPublicKeyInfo is the point.
            let point = Base64URL.encode(Array(try P256PrivateKey.generate().publicKeyDER().suffix(65)))
            let secret = Base64URL.encode((0..<16).map { UInt8(truncatingIfNeeded: number &+ $0) })
            return #"{"endpoint":"\#(origin)/push/\#(number)","keys":{"p256dh":"\#(point)","auth":"\#(secret)"}}"#
        }
        registrations = try subscriptions.map { try DeviceRegistration(platform: "webpush", token: $0) }
        applications = workbench.place("applications.yaml")
        let text = """
            shop:
              key-file: \(key.path)
              subject: \(Self.subject)
              navigate: https://shop.example/open

            """
        try text.write(to: applications, atomically: true, encoding: .utf8)
    }

    private var origin: String { messages.origin }
    /// The PEM file of the server's certificate.
    var authority: String { messages.certificate.certificate }

    func accepted() throws -> Int { try messages.accepted() }

    func channel(connections: Int) throws -> any DeliveryChannel & Sendable {
        var (webPush, egress) = (WebPushConfiguration(), EgressConfiguration())
        webPush.applicationsFile = applications.path
        webPush.internalOrigins = [origin]
        // A single push service has a share of them.
        webPush.connections = 2 * connections
        // On a busy machine an answer may be late, which is not what is measured.
        webPush.timeout = PushDesk.patience
        egress.authoritiesFile = authority
        return try WebPushChannel(
            webPush,
            egress: egress,
            health: Health(),
            registry: PrometheusRegistry(),
            logger: workbench.logger
        )
    }

    func send(_ number: Int) throws -> Issued<ChannelSend> {
        try PushWorkload.send(number, to: registrations[number % registrations.count], by: .webpush)
    }

    /// A message of the channel before its encryption, for other clients.
    func message() throws -> WebPushMessage {
        try WebPushMessage(
            DeviceDelivery(send(0).work, content: PushWorkload.content(0)[...], to: PushWorkload.device()),
            of: application(),
            at: SystemClock.now()
        )
    }

    /// The same as the channel sends it.
    func request() throws -> H2Load.Request {
        let message = try message()
        let now = SystemClock.now()
        let until = now.rawValue / 1_000 + 3_600
        guard let secrets = WebPushSecrets.random(),
            let body = WebPushEncryption.body(
                message.body,
                for: try PushSubscription(token: subscriptions[0]),
                with: secrets
            ),
            let authorization = try application().key.authorization(for: origin, until: until)
        else { throw BenchmarkError("OpenSSL cannot encrypt or sign a message") }
        return H2Load.Request(
            url: "\(origin)/push/0",
            fields: [
                ("authorization", authorization), ("content-type", "application/octet-stream"),
                ("content-encoding", "aes128gcm"), ("ttl", "\(message.timeToLive)"),
                ("urgency", message.urgency.rawValue), ("topic", message.topic ?? ""),
            ],
            body: body,
            isHTTP1: true
        )
    }

    private func application() throws -> WebPushApplication {
        guard let application = try WebPushApplicationsFile.load(path: applications.path)["shop"] else {
            throw BenchmarkError("\(applications.path) has no shop")
        }
        return application
    }

    func stop() { messages.stop() }
}
