import FCMSimulator
import Foundation
import NotificationDelivery
import NotificationModel
import Testing
import TestSupport

@testable import NotificationChannels
@testable import NotificationConsumer

/// The channel `fcm`, and the simulator at the other end.
@Suite("The channel fcm", .timeLimit(.minutes(10)))
struct FCMChannelTests {
    private static let content = #"{"title":"On its way","body":"Order 1001"}"#

    private static func send(
        _ name: String,
        _ content: String = content,
        token: String = FCMSample.token,
        application: String = "shop",
        package: String? = nil,
        kind: ChannelSend.Kind? = nil,
        sequence: Int64 = 41
    ) throws -> ChannelSend {
        let kind = kind ?? .deliver(content: Array(content.utf8)[...])
        var send = try NotificationChannelsTests.send(name, kind: kind, channel: .fcm)
        send.key = try NotificationKey(application: application, recipient: "ana", identifier: name)
        send.sequence = OperationSequence(life: 0, offset: sequence, time: ManualTime.start)
        var registration = try DeviceRegistration(platform: "fcm", token: token)
        registration.bundleIdentifier = package
        send.registration = registration
        let list =
            #"[{"device":"phone","outcome":"accepted","presentation":["banner","list","sound","badge"],"badge":3}]"#
        send.devices = Array(list.utf8)[...]
        return send
    }

    // MARK: - Deliver, replace, remove

    @Test(arguments: FCMApplication.Display.allCases)
    func `a device shows the notification, the next one of its key in its place, and nothing when it is removed`(
        _ display: FCMApplication.Display
    ) async throws {
        try await FCMBench.with(more: "  display: \(display.rawValue)\n") { bench in
            try bench.register()
            #expect(await bench.desk.result(of: try Self.send("order")) == .accepted)
            #expect(bench.titles == ["On its way"])
            #expect(await bench.desk.result(of: try Self.send("order", #"{"title":"Delivered"}"#)) == .accepted)
            #expect(await bench.desk.result(of: try Self.send("other")) == .accepted)
            #expect(bench.titles == ["Delivered", "On its way"])
            #expect(
                await bench.desk.result(of: try Self.send("order", kind: .remove, sequence: 42)) == .removed(.requested)
            )
            #expect(bench.titles == ["On its way"])
        }
    }

    @Test func `a removal that comes late leaves what was delivered after it`() async throws {
        try await FCMBench.with { bench in
            try bench.register()
            #expect(await bench.desk.result(of: try Self.send("order", sequence: 50)) == .accepted)
            #expect(
                await bench.desk.result(of: try Self.send("order", kind: .remove, sequence: 49)) == .removed(.requested)
            )
            #expect(bench.titles == ["On its way"])
        }
    }

    @Test func `an installation is reached as a token is, and only the app that registered`() async throws {
        let installation = "dQw4w9WgXcQ_-012345678"
        try await FCMBench.with { bench in
            try bench.register(token: installation)
            let send = try Self.send("order", token: installation, package: FCMSample.package)
            #expect(await bench.desk.result(of: send) == .accepted)
            let other = try Self.send("order", token: installation, package: "com.example.beta")
            #expect(await bench.desk.result(of: other) == .rejected(.rejected))
        }
    }

    @Test func `what is too large is shortened, and what cannot be is rejected`() async throws {
        try await FCMBench.with { bench in
            try bench.register()
            let long = #"{"title":"T","body":"\#(String(repeating: "é🙂", count: 2000))"}"#
            #expect(await bench.desk.result(of: try Self.send("long", long)) == .reduced([.body]))
            let title = #"{"title":"\#(String(repeating: "x", count: 5000))"}"#
            #expect(await bench.desk.result(of: try Self.send("title", title)) == .rejected(.payloadTooLarge))
        }
    }

    // MARK: - Devices

    @Test func `a token that is gone or malformed is told`() async throws {
        try await FCMBench.with { bench in
            try bench.register()
            #expect(await bench.desk.result(of: try Self.send("a")) == .accepted)
            bench.simulator.uninstall(FCMSample.package, from: "phone")
            for token in [FCMSample.token, "unknown:token"] {
                guard case .gone? = await bench.desk.result(of: try Self.send("b", token: token)) else {
                    Issue.record("it is not gone")
                    continue
                }
            }
        }
    }

    @Test func `a token of another project is gone only when this one has reached a device`() async throws {
        try await FCMBench.with { bench in
            try bench.register(token: "other:1", device: "tablet", project: "other")
            try bench.register()
            #expect(await bench.desk.result(of: try Self.send("a", token: "other:1")) == .rejected(.rejected))
            #expect(await bench.desk.result(of: try Self.send("b")) == .accepted)
            guard case .gone? = await bench.desk.result(of: try Self.send("c", token: "other:1")) else {
                Issue.record("it is not gone")
                return
            }
        }
    }

    @Test func `a device that gets too many messages is left alone, and the others are not`() async throws {
        try await FCMBench.with {
            $0.messagesPerDeviceAndMinute = 1
        } _: { bench in
            try bench.register()
            try bench.register(token: "tablet:1", device: "tablet")
            #expect(await bench.desk.result(of: try Self.send("a")) == .accepted)
            // The minute may end in between.
            let results = [
                await bench.desk.result(of: try Self.send("b")), await bench.desk.result(of: try Self.send("c")),
            ]
            #expect(results.contains(.failed(retryAfter: FCMAction.pauseOfQuota)), "\(results)")
            #expect(await bench.desk.result(of: try Self.send("a", token: "tablet:1")) == .accepted)
        }
    }

    // MARK: - Quota

    @Test func `when the project's quota is exceeded all of its messages wait, without being sent`() async throws {
        try await FCMBench.with { bench in
            try bench.register()
            try bench.simulator.setFault("quota", FCMFault(.refuse("QUOTA_EXCEEDED"), remaining: 1))
            #expect(await bench.desk.result(of: try Self.send("a")) == .deferred(retryAfter: 60_000))
            let before = bench.simulator.statistics.requests
            guard case .deferred(let pause?)? = await bench.desk.result(of: try Self.send("b")) else {
                Issue.record("it is sent")
                return
            }
            #expect((1...60_000).contains(pause) && bench.simulator.statistics.requests == before)
            bench.wall.set(aheadBy: 61_000)
            #expect(await bench.desk.result(of: try Self.send("c")) == .accepted)
        }
    }

    @Test func `more messages than the quota has in a second go out in their turn`() async throws {
        try await FCMBench.with(rate: 50) { bench in
            try bench.register()
            bench.desk.begin(try (0..<80).map { try Self.send("\($0)") })
            let outcomes = await bench.desk.outcomes(80)
            #expect(outcomes.allSatisfy { $0.result == .accepted } && outcomes.count == 80)
        }
    }

    // MARK: - Credentials

    @Test func `one access token serves all messages, and another one follows when it is refused`() async throws {
        try await FCMBench.with {
            $0.messagesPerDeviceAndMinute = 10_000
        } _: { bench in
            try bench.register()
            bench.desk.begin(try (0..<200).map { try Self.send("\($0)") })
            #expect(await bench.desk.outcomes(200).allSatisfy { $0.result == .accepted })
            #expect(bench.simulator.statistics.accessTokens == 1)
            bench.simulator.endAccessTokens()
            #expect(await bench.desk.result(of: try Self.send("after")) == .accepted)
            #expect(bench.simulator.statistics.accessTokens == 2)
        }
    }

    @Test func `a disabled account stops the application until it is good again`() async throws {
        try await FCMBench.with { bench in
            try bench.register()
            bench.simulator.setDisabled(true, project: "carillon-simulated")
            guard case .deferred? = await bench.desk.result(of: try Self.send("a")) else {
                Issue.record("it is sent")
                return
            }
            #expect(bench.health.contains("unknown-account"))
            bench.simulator.setDisabled(false, project: "carillon-simulated")
            await bench.channel.reload()
            #expect(await bench.desk.result(of: try Self.send("b")) == .accepted)
            #expect(!bench.health.contains("unknown-account"))
            #expect(!bench.log.text.contains("PRIVATE KEY") && !bench.log.text.contains("ya29"))
        }
    }

    @Test func `a clock that is wrong is named`() async throws {
        try await FCMBench.with(ahead: 3_600_000) { bench in
            try bench.register()
            guard case .deferred? = await bench.desk.result(of: try Self.send("a")) else {
                Issue.record("it is sent")
                return
            }
            #expect(bench.health.contains("clock-skew"), "\(bench.health)")
        }
    }

    @Test func `an account without rights in the project is named, and other applications are not concerned`()
        async throws
    {
        try await FCMBench.with { bench in
            try bench.register()
            let other = try await bench.simulator.makeAccount(project: "other")
            let text = """
                shop: {packages: \(FCMSample.package), service-account: \(bench.simulator.accountFile)}
                bank: {packages: com.example.bank, service-account: \(other), project: carillon-simulated}
                """
            try text.write(toFile: bench.file, atomically: true, encoding: .utf8)
            await bench.channel.reload()
            let bank = try Self.send("a", application: "bank")
            #expect(await bench.desk.result(of: bank) == .deferred(retryAfter: ApplicationStops.pause))
            #expect(bench.health.contains("PERMISSION_DENIED") && bench.health.contains("carillon-simulated"))
            #expect(await bench.desk.result(of: try Self.send("a")) == .accepted)
        }
    }

    @Test func `an application that the file does not have waits, and is named`() async throws {
        try await FCMBench.with { bench in
            guard case .deferred? = await bench.desk.result(of: try Self.send("a", application: "bank")) else {
                Issue.record("it is not deferred")
                return
            }
            #expect(bench.health.contains("bank"))
        }
    }

    @Test func `a device of a package that the file does not have is rejected, and the others are not concerned`()
        async throws
    {
        try await FCMBench.with { bench in
            try bench.register()
            let send = try Self.send("a", package: "com.example.bank")
            #expect(await bench.desk.result(of: send) == .rejected(.unsupportedForm))
            #expect(await bench.desk.result(of: try Self.send("a")) == .accepted)
        }
    }

    @Test func `a file that is wrong changes nothing`() async throws {
        try await FCMBench.with { bench in
            try bench.register()
            try "shop: {".write(toFile: bench.file, atomically: true, encoding: .utf8)
            await bench.channel.reload()
            #expect(await bench.desk.result(of: try Self.send("a")) == .accepted)
            #expect(bench.log.text.contains("not read again"))
        }
    }

    // MARK: - Connections

    @Test func `a connection has no more than 100 messages at one time`() async throws {
        try await FCMBench.with {
            $0.acceptsUnknownTokens = true
        } _: { bench in
            try bench.register()
            bench.simulator.setRoundTrip(.milliseconds(20))
            bench.desk.begin(try (0..<2_000).map { try Self.send("\($0)", token: "phone:\($0)") })
            let outcomes = await bench.desk.outcomes(2_000)
            #expect(outcomes.allSatisfy { $0.result == .accepted } && outcomes.count == 2_000)
            #expect(bench.simulator.statistics.goAways == 0 && bench.simulator.statistics.requests == 2_000)
        }
    }

    @Test func `streams that the server refuses are sent again, and do not count`() async throws {
        try await FCMBench.with {
            $0.messagesPerDeviceAndMinute = 10_000
        } _: { bench in
            try bench.register()
            try bench.simulator.setFault("refusing", FCMFault(.refuseStream, share: 0.3))
            bench.desk.begin(try (0..<200).map { try Self.send("\($0)") })
            let outcomes = await bench.desk.outcomes(200)
            #expect(outcomes.allSatisfy { $0.result == .accepted } && outcomes.count == 200)
        }
    }

    @Test func `a connection that is lost leaves each message accepted, or in doubt, or to be sent again`() async throws
    {
        try await FCMBench.with {
            $0.messagesPerDeviceAndMinute = 10_000
        } _: { bench in
            try bench.register()
            #expect(await bench.desk.result(of: try Self.send("first")) == .accepted)
            bench.simulator.setRoundTrip(.milliseconds(200))
            bench.desk.begin(try (0..<200).map { try Self.send("\($0)") })
            for connection in bench.simulator.connections { await bench.simulator.cut(connection) }
            let outcomes = await bench.desk.outcomes(200)
            #expect(outcomes.count == 200)
            for (_, result) in outcomes {
                switch result {
                case .accepted, .reduced, .removed, .unanswered, .failed, .deferred: break
                case .rejected, .gone: Issue.record("\(result)")
                }
            }
        }
    }

    @Test func `an answer that is none of FCM stops the application, and retires nobody`() async throws {
        try await FCMBench.with { bench in
            try bench.register()
            try bench.simulator.setFault("page", FCMFault(.answer(status: 404, body: "<html>"), remaining: 1))
            #expect(await bench.desk.result(of: try Self.send("a")) == .deferred(retryAfter: ApplicationStops.pause))
            #expect(bench.health.contains("not from FCM"))
            let stopped = bench.channel.changes?.take() ?? []
            #expect(stopped.map(\.name) == [.stopped] && stopped[0].reason?.contains("404") == true)
        }
    }
}
