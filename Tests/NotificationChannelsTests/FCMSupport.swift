import FCMSimulator
import Foundation
import HTTPTesting
import Logging
import NotificationDelivery
import NotificationModel
import ServiceSupport
import Synchronization
import Testing
import TestSupport

@testable import NotificationChannels
@testable import NotificationConsumer

enum FCMSample {
    static let token = "phone-1:APA91b\(String(repeating: "x", count: 120))"
    static let package = "com.example.shop"
    static let now = Timestamp(rawValue: 1_795_251_600_000)

    /// A key file; the key is made once.
    static let accountJSON: String = {
        do {
            let files = try TestFiles()
            defer { files.remove() }
            let path = files.path("key.pem")
            _ = try files.run(
                "openssl",
                ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", path]
            )
            return json(key: try String(contentsOfFile: path, encoding: .utf8))
        } catch {
            return "\(error)"
        }
    }()

    static func json(key: String, type: String = "service_account", project: String = "shop-1") -> String {
        let value = JSONValue.object([
            .init("type", .string(type)), .init("project_id", .string(project)), .init("private_key_id", .string("k1")),
            .init("private_key", .string(key)),
            .init("client_email", .string("carillon@shop-1.iam.gserviceaccount.com")),
            .init("token_uri", .string("https://oauth2.googleapis.com/token")),
        ])
        return String(decoding: value.json, as: UTF8.self)
    }

    static func application(_ change: (inout FCMApplication) -> Void = { _ in }) throws -> FCMApplication {
        let account = try ServiceAccount(json: accountJSON, of: "account.json")
        var application = FCMApplication(packages: [package], account: account)
        change(&application)
        return application
    }

    /// A message, which is as Google's document says.
    static func message(
        _ delivery: DeviceDelivery,
        to target: FCMTarget = FCMTarget(token),
        actions: String? = nil,
        _ change: (inout FCMApplication) -> Void = { _ in }
    ) throws -> FCMMessage {
        let message = try FCMMessage(
            delivery,
            to: target,
            package: package,
            of: application(change),
            actions: actions.map { Array($0.utf8)[...] },
            at: now
        )
        #expect(try FCMDiscovery.problems(message.body) == [])
        return message
    }
}

extension FCMMessage {
    /// A value by its path in `message`.
    func at(_ path: String) throws -> JSONValue? {
        try JSONValue.parse(body).value(at: "message.\(path)")
    }

    /// `data.carillon`.
    func own() throws -> JSONValue {
        try JSONValue.parse(Array(#require(try at("data.carillon")?.stringValue).utf8))
    }
}

/// A channel over a simulator, with what it reports to.
final class FCMBench {
    let simulator: FCMSimulator
    let channel: FCMChannel
    let desk: Desk
    let log = CollectedLog()
    let file: String
    let wall = WallClock()
    private let state = Health()
    private let folder: TestFolder

    /// The wall clock, which a test may put wrong.
    final class WallClock: Sendable {
        private let offset = Mutex<Int64>(0)
        var now: Timestamp { SystemClock.now().adding(milliseconds: offset.withLock { $0 }) }

        func set(aheadBy milliseconds: Int64) { offset.withLock { $0 = milliseconds } }
    }

    init(
        more: String = "",
        rate: Int = 10_000,
        ahead: Int64 = 0,
        rates: DeviceRates = DeviceRates(),
        _ change: (inout FCMSimulatorConfiguration) -> Void = { _ in }
    ) async throws {
        folder = try TestFolder()
        var simulated = FCMSimulatorConfiguration(directory: "\(folder.path)/fcm")
        change(&simulated)
        simulator = try await FCMSimulator.start(simulated)
        file = try folder.write(
            """
            shop:
              packages: [\(FCMSample.package), com.example.beta]
              service-account: \(simulator.accountFile)
            \(more)
            """
        )
        var (configuration, egress) = (FCMConfiguration(), EgressConfiguration())
        configuration.applicationsFile = file
        configuration.isInternal = true
        configuration.url = "https://127.0.0.1:\(simulator.port)"
        configuration.rate = rate
        // A test that fails must not wait for long; no test depends on it.
        configuration.timeout = .seconds(300)
        egress.authoritiesFile = simulator.authorityFile
        wall.set(aheadBy: ahead)
        var world = FCMChannel.World()
        (world.rates, world.wall) = (rates, { [wall] in wall.now })
        channel = try FCMChannel(
            configuration,
            egress: egress,
            health: state,
            registry: PrometheusRegistry(),
            logger: log.logger,
            world: world
        )
        desk = Desk(channel)
    }

    static func with(
        more: String = "",
        rate: Int = 10_000,
        ahead: Int64 = 0,
        _ change: (inout FCMSimulatorConfiguration) -> Void = { _ in },
        _ body: (FCMBench) async throws -> Void
    ) async throws {
        let bench = try await FCMBench(more: more, rate: rate, ahead: ahead, change)
        do { try await body(bench) } catch { Issue.record(error) }
        for body in bench.simulator.device("phone")?.received.map(\.message) ?? [] {
            let request = JSONValue.object([.init("message", try JSONValue.parse(body))])
            #expect(try FCMDiscovery.problems(request.json) == [])
        }
        await bench.end()
    }

    func register(token: String = FCMSample.token, device: String = "phone", project: String? = nil) throws {
        try simulator.register(token, device: device, package: FCMSample.package, project: project)
    }

    func end() async {
        await channel.close()
        await simulator.stop()
    }

    /// The titles that the phone shows.
    var titles: [String?] { (simulator.device("phone")?.shown(by: FCMSample.package) ?? []).map(\.title) }

    /// What the service says of itself.
    var health: String { "\(state.remarks)" }
}

/// Of the tests that every channel passes.
final class FCMSubject: ChannelSubject {
    private let bench: FCMBench
    private var isOver = false

    init() async throws {
        bench = try await FCMBench(rates: DeviceRates(inMinute: 10_000, inHour: 10_000)) {
            $0.messagesPerDeviceAndMinute = 100_000
        }
        // The token of the sends that all channels get.
        try bench.register(token: APNsBench.token)
    }

    var channel: any DeliveryChannel & Sendable { bench.channel }
    // The number of a message is new each time.
    var arrivals: [String]? { nil }
    var mostHeld: Int { 0 }

    func behave(_ behavior: ChannelBehavior) async throws {
        bench.simulator.clearFault()
        switch behavior {
        case .accept: break
        case .reject: try bench.simulator.setFault("reject", FCMFault(.refuse("INVALID_ARGUMENT")))
        case .fail(let pause):
            try bench.simulator.setFault("fail", FCMFault(.refuse("UNAVAILABLE", retryAfter: pause)))
        case .hold: throw NotApplicable()
        }
    }

    func holds(_ count: Int) async {}

    func release() async {}

    func end() async throws {
        guard !isOver else { return }
        isOver = true
        await bench.end()
    }
}
