import APNsSimulator
import Foundation
import Logging
import NotificationDelivery
import NotificationModel
import ServiceSupport
import Synchronization
import Testing
import TestSupport

@testable import NotificationChannels
@testable import NotificationConsumer

/// The channel `apns`, and the simulator at the other end.
@Suite("The channel apns", .timeLimit(.minutes(10)))
struct APNsChannelTests {
    private static let content = #"{"title":"On its way","body":"Order 1001"}"#

    private static func send(
        _ name: String,
        _ content: String = content,
        token: String = APNsBench.token,
        environment: DeviceRegistration.Environment? = nil,
        bundle: String? = nil,
        kind: ChannelSend.Kind? = nil
    ) throws -> ChannelSend {
        let kind = kind ?? .deliver(content: Array(content.utf8)[...])
        var send = try NotificationChannelsTests.send(name, kind: kind, channel: .apns)
        var registration = try DeviceRegistration(platform: "apns", token: token)
        (registration.environment, registration.bundleIdentifier) = (environment, bundle)
        send.registration = registration
        let list =
            #"[{"device":"phone","outcome":"accepted","presentation":["banner","list","sound","badge"],"badge":3}]"#
        send.devices = Array(list.utf8)[...]
        return send
    }

    // MARK: - Deliver, replace, remove

    @Test func `a device shows the notification with its badge, and the next one of its key takes its place`()
        async throws
    {
        try await APNsBench.with { bench in
            try bench.register()
            #expect(await bench.desk.result(of: try Self.send("order")) == .accepted)
            #expect(await bench.desk.result(of: try Self.send("order", #"{"title":"Delivered"}"#)) == .accepted)
            #expect(bench.titles == ["Delivered"])
            #expect(bench.simulator.device("phone")?.badge(of: APNsBench.bundle) == 3)
        }
    }

    @Test func `removals of a device share a push, which the app obeys`() async throws {
        try await APNsBench.with { bench in
            try bench.register()
            bench.desk.begin(try ["a", "b", "c"].map { try Self.send($0) })
            _ = await bench.desk.outcomes(3)
            #expect(bench.titles.count == 3)
            bench.desk.begin(try ["a", "b"].map { try Self.send($0, kind: .remove) })
            let outcomes = await bench.desk.outcomes(2)
            #expect(outcomes.allSatisfy { $0.result == .removed(.requested) } && outcomes.count == 2)
            #expect(bench.titles.count == 1)
            let background = bench.simulator.device("phone")?.pushes.filter { $0.pushType == .background }
            #expect(background?.count == 1)
        }
    }

    private final class Counter: Sendable {
        let count = Atomic(0)
    }

    /// A reply as a lane makes it, which this does not keep.
    private final class Held {
        weak var reply: ChannelReply?

        init(_ reply: ChannelReply) { self.reply = reply }
    }

    @Test func `a push that was cancelled leaves its stream, and nothing of it stays; others of its push go on`()
        async throws
    {
        try await APNsBench.with { bench in
            try bench.register()
            let outcomes = AsyncStream<Void>.makeStream()
            let late = Counter()
            var work = SideWork<Issued<ChannelSend>, ChannelResult>(
                concurrency: 10,
                bound: 10,
                mailbox: .init(
                    wake: { outcomes.continuation.yield() },
                    onLate: { late.count.add(1, ordering: .relaxed) }
                )
            )
            func begin(_ sends: ChannelSend...) -> [Held] {
                var held: [Held] = []
                for send in sends { work.add(Issued(send, of: 0, in: 1), within: .seconds(3600)) }
                work.begin(at: .now) {
                    bench.channel.begin($0, $1)
                    held.append(Held($1))
                }
                bench.channel.flush()
                return held
            }
            func cancel(_ name: String) throws {
                let key = try Self.send(name).key
                for reply in work.cancel(where: { $0.work.key == key }) { bench.channel.cancel(reply) }
            }
            let first = begin(try Self.send("first"))
            for await _ in outcomes.stream { break }
            #expect(work.take(at: .now).count == 1)
            try await eventually { first.allSatisfy { $0.reply == nil } }

            let connection = try #require(await bench.simulator.connections.first?.number)
            await bench.simulator.setFrozen(true, connection)
            let pushes = begin(try Self.send("a"), try Self.send("b"))
            try cancel("a")
            try cancel("b")
            // The pool has ended it: no answer comes, and its deadline is far.
            try await eventually { pushes.allSatisfy { $0.reply == nil } }
            #expect(late.count.load(ordering: .relaxed) == 0)

            let removals = begin(try Self.send("c", kind: .remove), try Self.send("d", kind: .remove))
            try await eventually { removals.allSatisfy { $0.reply?.task != nil } }
            try cancel("c")
            await bench.simulator.setFrozen(false, connection)
            for await _ in outcomes.stream { break }
            let ended = work.take(at: .now)
            #expect(try ended.map(\.item.work.key) == [Self.send("d").key])
            try await eventually { removals.allSatisfy { $0.reply == nil } }
        }
    }

    @Test func `where an application overwrites, a silent text takes the place of what is removed`() async throws {
        try await APNsBench.with(more: "  removal: overwrite\n  removal-text: Withdrawn.\n") { bench in
            try bench.register()
            #expect(await bench.desk.result(of: try Self.send("order")) == .accepted)
            #expect(await bench.desk.result(of: try Self.send("order", kind: .remove)) == .removed(.overwritten))
            let shown = bench.simulator.device("phone")?.shown(by: APNsBench.bundle) ?? []
            #expect(shown.count == 1 && String(decoding: shown[0].payload, as: UTF8.self).contains("Withdrawn."))
        }
    }

    @Test func `what is too large is shortened, and what cannot be is rejected`() async throws {
        try await APNsBench.with { bench in
            try bench.register()
            let long = #"{"title":"T","body":"\#(String(repeating: "é🙂", count: 2000))"}"#
            #expect(await bench.desk.result(of: try Self.send("long", long)) == .reduced([.body]))
            let title = #"{"title":"\#(String(repeating: "x", count: 5000))"}"#
            #expect(await bench.desk.result(of: try Self.send("title", title)) == .rejected(.payloadTooLarge))
        }
    }

    @Test func `the parts that are left out or cut off are told in the order of the contract`() async throws {
        try await APNsBench.with(more: "  too-large: [shorten, drop-media]\n") { bench in
            try bench.register()
            let url = "https://cdn.example.com/\(String(repeating: "a", count: 1900))"
            let media = (0..<3).map { #"{"identifier":"m\#($0)","url":"\#(url)"}"# }.joined(separator: ",")
            let content = #"{"title":"T","body":"\#(String(repeating: "b", count: 300))","attachments":[\#(media)]}"#
            #expect(await bench.desk.result(of: try Self.send("media", content)) == .reduced([.attachments]))
        }
    }

    // MARK: - Tokens of devices

    @Test func `a token that is gone is told with the time since when`() async throws {
        try await APNsBench.with { bench in
            try bench.register()
            #expect(await bench.desk.result(of: try Self.send("a")) == .accepted)
            bench.simulator.uninstall(APNsBench.bundle, from: "phone")
            guard case .gone(let since)? = await bench.desk.result(of: try Self.send("b")) else {
                Issue.record("it is not gone")
                return
            }
            #expect(since > .earliest)
        }
    }

    @Test func `a token of the other environment gets the push there`() async throws {
        try await APNsBench.with { bench in
            try bench.register(environment: .development)
            #expect(await bench.desk.result(of: try Self.send("a", environment: .production)) == .accepted)
            #expect(bench.titles == ["On its way"])
        }
    }

    @Test func `a device of an app or an environment that nobody configured is rejected, and stops no other`()
        async throws
    {
        try await APNsBench.with { bench in
            try bench.register()
            let foreign = try Self.send("a", bundle: "com.example.other")
            #expect(await bench.desk.result(of: foreign) == .rejected(.unsupportedForm))
            #expect(await bench.desk.result(of: try Self.send("b")) == .accepted)
        }
        try await APNsBench.with(onlyProduction: true) { bench in
            try bench.register()
            let development = try Self.send("a", environment: .development)
            #expect(await bench.desk.result(of: development) == .rejected(.unsupportedForm))
            #expect(await bench.desk.result(of: try Self.send("b")) == .accepted)
        }
    }

    @Test func `a token that neither environment knows is gone`() async throws {
        try await APNsBench.with { bench in
            guard case .gone? = await bench.desk.result(of: try Self.send("a")) else {
                Issue.record("it is not gone")
                return
            }
        }
    }

    @Test func `a device that gets too many pushes is left alone for a minute, and the others are not`() async throws {
        try await APNsBench.with { bench in
            try bench.register()
            try bench.register(token: APNsBench.otherToken, device: "tablet")
            try bench.simulator.setFault(
                "busy",
                Fault(.answer(.init(.tooManyRequests)), device: "phone")
            )
            #expect(
                await bench.desk.result(of: try Self.send("a")) == .failed(retryAfter: APNsAction.pauseOfDevice)
            )
            #expect(await bench.desk.result(of: try Self.send("a", token: APNsBench.otherToken)) == .accepted)
        }
    }

    // MARK: - Credentials

    @Test func `an expired provider token is renewed, and the push sent over another connection`() async throws {
        try await APNsBench.with { bench in
            try bench.register()
            #expect(await bench.desk.result(of: try Self.send("a")) == .accepted)
            try bench.simulator.setFault(
                "expired",
                Fault(.answer(.init(.expiredProviderToken)), remaining: 1)
            )
            #expect(await bench.desk.result(of: try Self.send("b")) == .accepted)
            #expect(bench.titles.count == 2)
        }
    }

    @Test func `a revoked key stops the application until it is good again`() async throws {
        try await APNsBench.with { bench in
            try bench.register()
            let pem = try bench.ownKey
            bench.simulator.revokeKey(APNsSimulator.ownKeyID)
            #expect(await bench.desk.result(of: try Self.send("a")) == .deferred(retryAfter: 60_000))
            let before = bench.simulator.statistics
            guard case .deferred(let pause?)? = await bench.desk.result(of: try Self.send("b")) else {
                Issue.record("it is sent")
                return
            }
            #expect(pause <= 60_000 && bench.simulator.statistics == before)
            #expect(bench.health.contains("InvalidProviderToken"))
            let stopped = bench.channel.changes?.take() ?? []
            #expect(stopped.map(\.name) == [.stopped] && stopped[0].application == "shop")
            #expect(
                stopped[0].environment == .production && stopped[0].reason?.hasPrefix("InvalidProviderToken") == true
            )
            try bench.simulator.add(
                ProviderKey(id: APNsSimulator.ownKeyID, team: APNsSimulator.ownTeam, pem: Array(pem.utf8))
            )
            await bench.channel.reload()
            #expect(await bench.desk.result(of: try Self.send("c")) == .accepted)
            #expect(!bench.health.contains("InvalidProviderToken"))
            #expect(bench.channel.changes?.take().map(\.name) == [.resumed])
        }
    }

    @Test func `an application that the file does not have waits, and is named`() async throws {
        try await APNsBench.with { bench in
            var send = try Self.send("a")
            send.key = try NotificationKey(application: "bank", recipient: "ana", identifier: "a")
            guard case .deferred? = await bench.desk.result(of: send) else {
                Issue.record("it is not deferred")
                return
            }
            #expect(bench.health.contains("bank"))
            #expect(bench.channel.changes?.take().map(\.application) == ["bank"])
        }
    }

    @Test func `a file that is wrong changes nothing`() async throws {
        try await APNsBench.with { bench in
            try bench.register()
            try "shop: {".write(toFile: bench.file, atomically: true, encoding: .utf8)
            await bench.channel.reload()
            #expect(await bench.desk.result(of: try Self.send("a")) == .accepted)
            #expect(bench.log.text.contains("not read again"))
        }
    }

    // MARK: - Connections

    @Test func `streams that the server refuses are sent again, and do not count`() async throws {
        try await APNsBench.with { bench in
            try bench.register()
            try bench.simulator.setFault("refusing", Fault(.refuseStream, share: 0.3))
            bench.desk.begin(try (0..<200).map { try Self.send("\($0)") })
            let outcomes = await bench.desk.outcomes(200)
            #expect(outcomes.allSatisfy { $0.result == .accepted } && outcomes.count == 200)
        }
    }

    @Test func `a connection that is lost leaves each push accepted, or in doubt, or to be sent again`() async throws {
        try await APNsBench.with { bench in
            try bench.register()
            #expect(await bench.desk.result(of: try Self.send("first")) == .accepted)
            var behaviour = bench.simulator.behaviour
            behaviour.roundTrip = .milliseconds(200)
            try bench.simulator.setBehaviour(behaviour)
            bench.desk.begin(try (0..<400).map { try Self.send("\($0)") })
            for connection in await bench.simulator.connections { await bench.simulator.cut(connection.number) }
            let outcomes = await bench.desk.outcomes(400)
            #expect(outcomes.count == 400)
            for (_, result) in outcomes {
                switch result {
                case .accepted, .reduced, .removed, .unanswered, .failed, .deferred: break
                case .rejected, .gone: Issue.record("\(result)")
                }
            }
        }
    }
}

/// A channel over a simulator, with what it reports to.
final class APNsBench {
    static let token = String(repeating: "a1", count: 32)
    static let otherToken = String(repeating: "b2", count: 32)
    static let bundle = "com.example.shop"

    let simulator: APNsSimulator
    let channel: APNsChannel
    let desk: Desk
    let log = CollectedLog()
    let file: String
    private let state = Health()
    private let folder: TestFolder

    /// - Parameter streams: of a connection at one time.
    init(more: String = "", onlyProduction: Bool = false, connections: Int = 4, streams: Int = 500) async throws {
        folder = try TestFolder()
        var settings = APNsSimulatorConfiguration(directory: "\(folder.path)/apns")
        settings.behaviour.maximumStreams = streams
        simulator = try await APNsSimulator.start(settings)
        let key = try #require(simulator.keyFile)
        let credentials = "team: \(APNsSimulator.ownTeam), key: \(APNsSimulator.ownKeyID), key-file: \(key)"
        let both = "production: {\(credentials)}" + (onlyProduction ? "" : "\n  development: {\(credentials)}")
        file = try folder.write("shop:\n  bundles: \(Self.bundle)\n  \(both)\n\(more)\n")
        var (configuration, egress) = (APNsConfiguration(), EgressConfiguration())
        configuration.applicationsFile = file
        configuration.isInternal = true
        configuration.connections = connections
        configuration.productionURL = "https://127.0.0.1:\(simulator.productionPort)"
        configuration.developmentURL = "https://127.0.0.1:\(simulator.developmentPort)"
        // A test that fails must not wait for long; no test depends on it.
        configuration.timeout = .seconds(300)
        egress.authoritiesFile = simulator.authorityFile
        channel = try APNsChannel(
            configuration,
            egress: egress,
            health: state,
            registry: PrometheusRegistry(),
            logger: log.logger
        )
        desk = Desk(channel)
    }

    static func with(
        more: String = "",
        onlyProduction: Bool = false,
        _ body: (APNsBench) async throws -> Void
    ) async throws {
        let bench = try await APNsBench(more: more, onlyProduction: onlyProduction)
        do { try await body(bench) } catch { Issue.record(error) }
        await bench.end()
    }

    func register(
        token: String = token,
        device: String = "phone",
        environment: DeviceRegistration.Environment = .production
    ) throws {
        try simulator.register(token, device: device, topic: Self.bundle, environment: environment)
    }

    func end() async {
        await channel.close()
        await simulator.stop()
    }

    /// The titles that the phone shows.
    var titles: [String] {
        (simulator.device("phone")?.shown(by: Self.bundle) ?? []).compactMap { shown in
            (try? JSONValue.parse(shown.payload))?["aps"]?["alert"]?["title"]?.stringValue
        }
    }

    var ownKey: String {
        get throws { try String(contentsOfFile: #require(simulator.keyFile), encoding: .utf8) }
    }

    /// What the service says of itself.
    var health: String { "\(state.remarks)" }
}

/// Of the tests that every channel passes.
final class APNsSubject: ChannelSubject {
    private let bench: APNsBench
    private var isOver = false

    init() async throws {
        bench = try await APNsBench()
        try bench.register()
    }

    var channel: any DeliveryChannel & Sendable { bench.channel }
    // Removals share a push.
    var arrivals: [String]? { nil }
    var mostHeld: Int { 0 }

    func behave(_ behavior: ChannelBehavior) async throws {
        bench.simulator.clearFault()
        switch behavior {
        case .accept: break
        case .reject: try bench.simulator.setFault("reject", Fault(.answer(.init(.badTopic))))
        case .fail(let pause):
            try bench.simulator.setFault("fail", Fault(.answer(.init(.serviceUnavailable, retryAfter: pause))))
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
