import COpenSSL
import Foundation
import HTTPTesting
import Logging
import NIOSSL
import NotificationDelivery
import NotificationModel
import OutboundHTTP
import ServiceHTTP
import ServiceSupport
import Synchronization
import Testing
import TestSupport

@testable import NotificationChannels
@testable import NotificationConsumer

/// A browser that has subscribed: it has the private key, and can read what is sent to it.
struct TestBrowser: Sendable {
    let privateKey: [UInt8]
    let authentication: [UInt8]
    let subscription: PushSubscription

    init(_ endpoint: String, privateKey: [UInt8]? = nil, authentication: [UInt8]? = nil) throws {
        let key = try #require(privateKey == nil ? P256Agreement.makePrivateKey() : privateKey)
        let secret = authentication ?? (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        (self.privateKey, self.authentication) = (key, secret)
        subscription = try PushSubscription(
            token: Self.token(endpoint, #require(P256Agreement.publicKey(of: key)), secret)
        )
    }

    static func token(_ endpoint: String, _ publicKey: [UInt8], _ secret: [UInt8]) -> String {
        """
        {"endpoint":"\(endpoint)","expirationTime":null,"keys":{"p256dh":"\(Base64URL.encode(publicKey))",\
        "auth":"\(Base64URL.encode(secret))"}}
        """
    }

    /// What a body says to this browser; nil when it cannot be read.
    func read(_ body: [UInt8]) throws -> [UInt8]? {
        guard body.count > 86 + 16, body[20] == 65 else { return nil }
        let (salt, sender, record) = (Array(body[..<16]), Array(body[21..<86]), Array(body[86...]))
        let shared = try #require(P256Agreement.secret(of: privateKey, with: sender))
        let keys = try #require(
            WebPushKeys(
                shared: shared,
                receiver: subscription.publicKey,
                sender: sender,
                authentication: authentication,
                salt: salt
            )
        )
        let context = try #require(EVP_CIPHER_CTX_new())
        defer { EVP_CIPHER_CTX_free(context) }
        var (sealed, tag) = (Array(record.dropLast(16)), Array(record.suffix(16)))
        var (plain, count) = ([UInt8](repeating: 0, count: sealed.count), Int32(0))
        guard EVP_DecryptInit_ex(context, EVP_aes_128_gcm(), nil, keys.contentKey, keys.nonce) == 1,
            EVP_DecryptUpdate(context, &plain, &count, sealed, Int32(sealed.count)) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, &tag) == 1,
            EVP_DecryptFinal_ex(context, &sealed, &count) == 1, plain.last == 2
        else { return nil }
        return Array(plain.dropLast())
    }
}

enum WebPushSample {
    static let now = Timestamp(rawValue: 1_795_251_600_000)
    static let subject = "mailto:push@shop.example"

    static func key(_ folder: TestFiles, _ name: String = "vapid.pem") throws -> String {
        let path = folder.path(name)
        _ = try folder.run(
            "openssl",
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-out", path]
        )
        return path
    }

    /// A key; made once.
    static let signing: Result<ES256Key, any Error> = Result {
        let files = try TestFiles()
        defer { files.remove() }
        return try ES256Key.load(path: key(files))
    }

    static func application(_ change: (inout WebPushApplication) -> Void = { _ in }) throws -> WebPushApplication {
        var application = WebPushApplication(
            key: try VAPIDKey(signing.get(), subject: subject),
            page: try #require(PageAddress("https://shop.example/open?target={target}"))
        )
        change(&application)
        return application
    }

    static func message(
        _ delivery: DeviceDelivery,
        actions: String? = nil,
        _ change: (inout WebPushApplication) -> Void = { _ in }
    ) throws -> WebPushMessage {
        try WebPushMessage(
            delivery,
            of: application(change),
            actions: actions.map { Array($0.utf8)[...] },
            at: now
        )
    }
}

extension WebPushMessage {
    /// A value by its path.
    func at(_ path: String) throws -> JSONValue? { try JSONValue.parse(body).value(at: path) }
}

/// A channel and a push service of its own over TLS, with what it reports to.
final class WebPushBench {
    let service: ScriptedEndpoint
    let channel: WebPushChannel
    let desk: Desk
    let log = CollectedLog()
    let registry = PrometheusRegistry()
    let wall = Wall()
    let file: String
    let keyFile: String
    let files: TestFiles
    private let state = Health()

    /// A wall clock that a test moves.
    final class Wall: Sendable {
        private let value = Mutex(WebPushSample.now)
        var now: Timestamp { value.withLock { $0 } }

        func advance(milliseconds: Int64) { value.withLock { $0 = $0.adding(milliseconds: milliseconds) } }
    }

    init(
        more: String = "",
        isInternal: Bool = true,
        resolver: (any HostResolver)? = nil,
        _ respond: @escaping @Sendable (ScriptedEndpoint.Request) -> ScriptedEndpoint.Action
    ) async throws {
        files = try TestFiles()
        let certificate = try files.certificate("server", names: "DNS:localhost,IP:127.0.0.1,DNS:push.shop.com")
        let server = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificate.certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: certificate.key, format: .pem))
        )
        service = try await ScriptedEndpoint(tls: NIOSSLContext(configuration: server), respond: respond)
        keyFile = try WebPushSample.key(files)
        file = try files.write(Self.applications(keyFile) + more, "webpush.yaml")
        var (configuration, egress) = (WebPushConfiguration(), EgressConfiguration())
        configuration.applicationsFile = file
        if isInternal { configuration.internalOrigins = ["https://127.0.0.1:\(service.port)"] }
        // A test that fails must not wait for long; no test depends on it.
        configuration.timeout = .seconds(300)
        egress.authoritiesFile = certificate.certificate
        egress.origins = ["https://push.shop.com:\(service.port)"]
        var world = WebPushChannel.World()
        world.wall = { [wall] in wall.now }
        if let resolver { world.resolver = resolver }
        channel = try WebPushChannel(
            configuration,
            egress: egress,
            health: state,
            registry: registry,
            logger: log.logger,
            world: world
        )
        desk = Desk(channel)
    }

    static func applications(_ keyFile: String, subject: String = WebPushSample.subject) -> String {
        """
        shop:
          key-file: \(keyFile)
          subject: \(subject)
          navigate: https://shop.example/open?target={target}

        """
    }

    static func with(
        more: String = "",
        isInternal: Bool = true,
        resolver: (any HostResolver)? = nil,
        _ respond: @escaping @Sendable (ScriptedEndpoint.Request) -> ScriptedEndpoint.Action = { _ in .answer(201) },
        _ body: (WebPushBench) async throws -> Void
    ) async throws {
        let bench = try await WebPushBench(more: more, isInternal: isInternal, resolver: resolver, respond)
        do { try await body(bench) } catch { Issue.record(error) }
        try await bench.end()
    }

    func browser(_ name: String = "phone") throws -> TestBrowser {
        try TestBrowser("https://127.0.0.1:\(service.port)/push/\(name)")
    }

    /// The value of a metric with its labels.
    func metric(_ name: String) -> String? {
        registry.exposition().split(separator: "\n").first { $0.hasPrefix("\(name) ") }
            .map { String($0.dropFirst(name.count + 1)) }
    }

    /// What the service says of itself.
    var health: String { "\(state.remarks)" }

    func end() async throws {
        await channel.close()
        try await service.stop()
        files.remove()
    }
}

/// Sends everything to one browser, whatever the device.
final class Readdressed: DeliveryChannel, Sendable {
    private let channel: WebPushChannel
    private let token: String

    init(_ channel: WebPushChannel, to browser: TestBrowser) {
        (self.channel, token) = (channel, browser.subscription.token)
    }

    var name: ChannelName { .webpush }

    func begin(_ send: Issued<ChannelSend>, _ reply: ChannelReply) {
        var work = send.work
        work.registration = try? DeviceRegistration(platform: "webpush", token: token)
        channel.begin(Issued(work, of: 0, in: 1), reply)
    }

    func flush() { channel.flush() }

    func cancel(_ reply: ChannelReply) { channel.cancel(reply) }

    func close() async { await channel.close() }
}

/// Of the tests that every channel passes.
final class WebPushSubject: ChannelSubject {
    private let bench: WebPushBench
    private let behavior: SharedBehavior
    let channel: any DeliveryChannel & Sendable
    private var isOver = false

    private final class SharedBehavior: Sendable {
        let value = Mutex(ChannelBehavior.accept)
    }

    init() async throws {
        let behavior = SharedBehavior()
        self.behavior = behavior
        bench = try await WebPushBench { _ in
            switch behavior.value.withLock({ $0 }) {
            case .accept: .answer(201)
            case .reject: .answer(400)
            case .hold: .hang
            case .fail(let pause): .answer(503, headers: ["Retry-After": "\(pause)"])
            }
        }
        channel = Readdressed(bench.channel, to: try bench.browser())
    }

    // Each message is encrypted by another key.
    var arrivals: [String]? { nil }
    var mostHeld: Int { bench.service.mostActive }

    func behave(_ behavior: ChannelBehavior) async throws { self.behavior.value.withLock { $0 = behavior } }

    func holds(_ count: Int) async { await bench.service.wait { $0.hanging == count } }

    func release() async { bench.service.release(201) }

    func end() async throws {
        guard !isOver else { return }
        isOver = true
        try await bench.end()
    }
}
