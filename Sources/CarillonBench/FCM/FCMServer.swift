import Foundation
import NotificationChannels
import NotificationDelivery
import NotificationModel
import ServiceSupport

/// nginx in the place of FCM, which takes every message over both versions of HTTP, and in that of Google's token service.
final class FCMServer: PushTarget {
    static let project = "carillon-bench"
    private static let package = "com.example.shop"
    private static let token = "ya29.of-the-benchmark"

    let name = "nginx in the place of FCM"
    /// The key file of the service account.
    let account: URL
    /// The most messages of the channel in a second.
    var rate = 1_000_000
    private let messages: MessageServer
    private let tokens: Nginx
    private let applications: URL
    private let workbench: Workbench

    init(on workbench: Workbench) throws {
        self.workbench = workbench
        messages = try MessageServer(on: workbench) { _ in
            #"default_type application/json; return 200 '{"name":"projects/\#(Self.project)/messages/0"}';"#
        }
        let token = #"{"access_token":"\#(Self.token)","expires_in":3599,"token_type":"Bearer"}"#
        tokens = try Nginx(.json(token), on: workbench)
        account = workbench.place("account")
        try Self.account(tokens.port, on: workbench).write(to: account)
        applications = workbench.place("applications.yaml")
        let text = "shop:\n  packages: \(Self.package)\n  service-account: \(account.path)\n"
        try text.write(to: applications, atomically: true, encoding: .utf8)
    }

    private struct Account: Encodable {
        var type = "service_account"
        var project_id = FCMServer.project
        var private_key_id = "key-of-the-benchmark"
        var private_key: String
        var client_email = "bench@carillon-bench.iam.gserviceaccount.com"
        var token_uri: String
    }

    private static func account(_ port: Int, on workbench: Workbench) throws -> Data {
        let key = workbench.place("account-key").path
        try TestCertificate.openssl(
            ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-quiet", "-out", key],
            on: workbench
        )
        let pem = try String(contentsOfFile: key, encoding: .utf8)
        return try JSONEncoder().encode(Account(private_key: pem, token_uri: "http://127.0.0.1:\(port)/token"))
    }

    var url: String { messages.origin }
    /// The PEM file of the server's certificate.
    var authority: String { messages.certificate.certificate }

    func accepted() throws -> Int { try messages.accepted() }

    func channel(connections: Int) throws -> any DeliveryChannel & Sendable {
        var (fcm, egress) = (FCMConfiguration(), EgressConfiguration())
        fcm.applicationsFile = applications.path
        (fcm.url, fcm.isInternal) = (url, true)
        (fcm.connections, fcm.rate) = (connections, rate)
        // On a busy machine an answer may be late, which is not what is measured.
        fcm.timeout = PushDesk.patience
        egress.authoritiesFile = authority
        return try FCMChannel(
            fcm,
            egress: egress,
            health: Health(),
            registry: PrometheusRegistry(),
            logger: workbench.logger
        )
    }

    func send(_ number: Int) throws -> Issued<ChannelSend> {
        let registration = try DeviceRegistration(platform: "fcm", token: "token-\(number)")
        return try PushWorkload.send(number, to: registration, by: .fcm)
    }

    /// A message of the channel, for other clients.
    func request() throws -> H2Load.Request {
        let send = try send(0).work
        guard let application = try FCMApplicationsFile.load(path: applications.path)["shop"] else {
            throw BenchmarkError("\(applications.path) has no shop")
        }
        let message = try FCMMessage(
            DeviceDelivery(send, content: PushWorkload.content(0)[...], to: PushWorkload.device()),
            to: FCMTarget(send.registration?.token ?? ""),
            of: application,
            at: SystemClock.now()
        )
        return H2Load.Request(
            url: "\(url)/v1/projects/\(Self.project)/messages:send",
            fields: [("authorization", "Bearer \(Self.token)"), ("content-type", "application/json")],
            body: message.body
        )
    }

    func stop() {
        messages.stop()
        tokens.stop()
    }
}
